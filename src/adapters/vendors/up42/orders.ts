/** Orders at UP42, whatever they are for. UP42 recognizes no repeated order: our reference is a tag, which is looked for first. */
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { schemas, type Failure, type Order } from './wire.ts'

const PREFIX = 'gt-'
/** The clocks of UP42 and ours can differ. */
const LOOK_BACK_MS = 60 * 60_000
const LOOK_PAGE_SIZE = 50
/** Beyond so many newer orders we cannot know whether ours is among them, and do not place it. */
const MAX_LOOK_PAGES = 50
const MAX_NAME_LENGTH = 200

const tagOf = (reference: string): string => `${PREFIX}${reference}`
export const referenceOf = ({ tags }: Order): string => tags?.find((tag) => tag.startsWith(PREFIX))?.slice(PREFIX.length) ?? ''

export interface OrderForm {
  readonly productId: string
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: Position }
}

/** The body of an order and of its estimate: one feature, because UP42 makes an order of each. */
export const bodyOf = ({ productId, name, params, area }: OrderForm): Record<string, unknown> => ({
  dataProduct: productId,
  displayName: name.slice(0, MAX_NAME_LENGTH),
  params,
  featureCollection: { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: area }] },
})

export async function getOrder(host: Host, id: string, options: CallOptions): Promise<Order> {
  const order = await requireAnswer(host, schemas.order, { path: `/v2/orders/${encodeURIComponent(id)}`, ...options }, 'order')
  if (order.id === id) return order
  throw new VendorError('invalid-response', host.name, `${host.name} returned another object than requested`)
}

/** The order with our reference; null if UP42 does not have it. `createdAt` is when it was made here. */
export async function findTagged(
  host: Host,
  { reference, createdAt }: { readonly reference: string; readonly createdAt: Date | null },
  options: CallOptions,
): Promise<Order | null> {
  const tag = tagOf(reference)
  const oldest = createdAt === null ? null : createdAt.getTime() - LOOK_BACK_MS
  for (let page = 0; page < MAX_LOOK_PAGES; page++) {
    const path = `/v2/orders?tags=${encodeURIComponent(tag)}&sort=createdAt%2Cdesc&size=${LOOK_PAGE_SIZE}&page=${page}`
    const { content, totalPages } = await requireAnswer(host, schemas.orders, { path, ...options }, 'list of orders')
    const ours = content.find(({ tags }) => tags?.includes(tag))
    if (ours) return ours
    const last = content.at(-1)
    const isOlder = oldest !== null && last?.createdAt != null && Date.parse(last.createdAt) < oldest
    if (!last || page + 1 >= totalPages || isOlder) return null
  }
  throw new VendorError(
    'unavailable',
    host.name,
    `${host.name} has more than ${MAX_LOOK_PAGES * LOOK_PAGE_SIZE} newer orders, so ours cannot be looked for`,
  )
}

/** Sends a new order, once. */
export async function sendOrder(host: Host, reference: string, form: OrderForm, options: CallOptions): Promise<Order> {
  const { sub } = await requireAnswer(host, schemas.user, { service: 'auth', path: '/userinfo', ...options }, 'account')
  const path = `/v2/orders?workspaceId=${encodeURIComponent(sub)}`
  const body = { ...bodyOf(form), tags: [tagOf(reference)] }
  const { results, errors } = await requireAnswer(host, schemas.placed, { method: 'POST', path, body, ...options }, 'confirmation')
  const [failure] = errors
  if (failure) throw new VendorError('refused', host.name, `${host.name} rejected the order: ${reasonOf(failure)}`)
  const [placed, second] = results
  const order = placed && !second ? await getOrder(host, placed.id, options) : null
  if (order?.tags?.includes(tagOf(reference))) return order
  throw new VendorError('invalid-response', host.name, `${host.name} confirmed another order than requested`)
}

const MAX_REASON = 300

export function reasonOf({ message, details }: Failure): string {
  const more = details == null ? '' : typeof details === 'string' ? details : JSON.stringify(details)
  return [message, more].filter(Boolean).join(': ').slice(0, MAX_REASON) || 'no reason is given'
}
