/** The common stages of `orders.archive.place`, `orders.tasking.place` and `orders.place`. */
import { problem } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { requireLicences } from '#model/licensing/licence.ts'
import { billingModeOf } from '#model/money/billing-account.ts'
import * as spending from '#model/money/spending.ts'
import type { Funding } from '#model/orders/tasking-decisions.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { linesOf, priceCaptures, priceTasking, type PricedGroup, type CaptureRequest } from '#model/orders/pricing.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask, placeAtVendorTask, pollTask } from '#model/orders/tasks.ts'
import type { Context, WriteContext } from '#operation.ts'
import { requireNoRealMoney } from '#model/orders/simulated.ts'
import type { Product } from '#ports/vendors/source.ts'
import { requirePriced, type TaskingGroupRequest } from './input.lib.ts'

/** Queued tasks start a moment later; the first poll waits until they have. */
const FIRST_POLL_SECONDS = 2

/** API keys cannot buy archive imagery: a signed-in user must authorize the purchase. */
export function requirePerson({ kind, userId }: Principal): void {
  if (kind === 'api_key' || userId === null)
    throw problem('user-authorization-required', 'An API key cannot order archive imagery; a signed-in user must place the order')
}

/** Returns the project if the caller can order for it. */
export async function requireOrderProject({ db, principal }: Context, projectId: string): Promise<projects.Project> {
  requireOrganization(principal)
  return await projects.requireBuyer(db, principal, projectId)
}

interface Common {
  project: projects.Project
  displayName: string | null
  tags: readonly string[]
  licenseType: string
  maxCredits: number | null
  /** ID of the operation that places the order. */
  operation: string
}

export interface ArchiveOrder extends Common {
  kind: 'archive'
  captures: readonly CaptureRequest[]
  splitByDate: boolean
}

export interface TaskingOrder extends Common {
  kind: 'tasking'
  taskings: readonly TaskingGroupRequest[]
}

export interface PreparedArchive {
  groups: readonly PricedGroup[]
  funding: Funding
}

export function pricingOf({ db, vendors, overlays, clock, signal }: Context, organizationId: string) {
  return { db, vendors, overlays, organizationId, now: clock.now(), signal }
}

/** Stage 6a: prices the captures and, if a card pays, authorizes it. */
export async function prepareArchive(context: Context, order: ArchiveOrder): Promise<PreparedArchive> {
  const { organizationId } = order.project
  const { groups, errors } = await priceCaptures(pricingOf(context, organizationId), order.captures, {
    splitByDate: order.splitByDate,
    separately: false,
  })
  requirePriced(errors, 'captures')
  const credits = groups.reduce((sum, group) => sum + group.credits, 0)
  const mode = await requireOrderable(
    context,
    order,
    groups.map(({ product }) => product),
    credits,
  )
  const funding = await spending.authorize(context, {
    spender: spending.spenderOf(context.principal, organizationId),
    credits,
    countsForCaps: true,
    operation: order.operation,
    idempotencyKey: context.idempotencyKey,
    mode,
  })
  return { groups, funding }
}

/** Stage 6b: writes the order and its reservation, and enqueues the tasks that send it, in one transaction. */
export async function executeArchive(context: WriteContext, order: ArchiveOrder, { groups, funding }: PreparedArchive): Promise<Order> {
  const { tx, tasks, events, vendors, principal } = context
  const id = orders.newOrderId()
  const { mode } = await spending.reserve(context, funding, {
    reference: orders.referenceOf({ id }),
    lines: linesOf(groups.map(({ product, areaKm2, credits }) => ({ productName: product.name, areaKm2, reservedCredits: credits }))),
    description: order.displayName ?? groups[0]!.captures![0]!.id,
  })
  const placed = await orders.insert(context, {
    id,
    ...ownerOf(principal, order),
    orderType: 'archive',
    billingMode: mode,
    displayName: order.displayName ?? groups[0]!.captures![0]!.id,
    simulated: groups.some(({ product }) => vendors.source(product.hostName)?.simulated),
    groups: groups.map(({ product, captures, area, areaKm2, credits, charge }) => ({
      ...soldAs(product),
      status: 'waiting',
      subStatus: null,
      steps: [],
      captures,
      featureCollection: null,
      params: {},
      area,
      areaKm2,
      credits,
      reservedCredits: credits,
      charge,
    })),
  })
  events.emit('order.placed', id, orders.summary(placed, null))
  for (const group of placed.groups) await tasks.enqueue(placeAtVendorTask, { group_id: group.id })
  await tasks.enqueue(pollTask, { order_id: id }, { afterSeconds: FIRST_POLL_SECONDS })
  return await orders.get(tx, id)
}

/** Stage 6a of tasking: nothing is reserved until a price is accepted, but the estimate must be within the caps. */
export async function prepareTasking(context: Context, order: TaskingOrder): Promise<readonly PricedGroup[]> {
  const { organizationId } = order.project
  const { groups, errors } = await priceTasking(pricingOf(context, organizationId), order.taskings)
  requirePriced(errors, 'groups')
  const credits = groups.reduce((sum, group) => sum + group.credits, 0)
  await requireOrderable(
    context,
    order,
    groups.map(({ product }) => product),
    credits,
  )
  await spending.requireWithinCaps(context, spending.spenderOf(context.principal, organizationId), credits)
  return groups
}

export async function executeTasking(context: WriteContext, order: TaskingOrder, groups: readonly PricedGroup[]): Promise<Order> {
  const { tx, tasks, vendors, principal } = context
  const placed = await orders.insert(context, {
    id: orders.newOrderId(),
    ...ownerOf(principal, order),
    orderType: 'tasking',
    billingMode: await billingModeOf(tx, order.project.organizationId),
    displayName: order.displayName ?? groups[0]!.product.title,
    simulated: groups.some(({ product }) => vendors.source(product.hostName)?.simulated),
    groups: groups.map(({ product, area, areaKm2, credits, charge }, index) => ({
      ...soldAs(product),
      status: 'deciding',
      subStatus: product.steps.includes('feasibility') ? 'awaiting_feasibility' : 'awaiting_quotation',
      steps: product.steps,
      captures: null,
      featureCollection: order.taskings[index]!.featureCollection,
      params: order.taskings[index]!.params,
      area,
      areaKm2,
      credits,
      reservedCredits: 0,
      charge,
    })),
  })
  await studies.insertFor(context, placed)
  for (const group of placed.groups) await tasks.enqueue(requestFromVendorTask, { group_id: group.id })
  await tasks.enqueue(pollTask, { order_id: placed.id }, { afterSeconds: FIRST_POLL_SECONDS })
  return placed
}

const ownerOf = (principal: Principal, { project: { id, organizationId }, tags, licenseType }: Common) => ({
  organizationId,
  projectId: id,
  tags,
  licenseType,
  createdBy: principal.userId,
  apiKeyId: principal.apiKeyId,
})

const soldAs = ({ hostName, id, name }: Product) => ({ hostName, productId: id, productName: name })

/** Checks licences, price limit and licence type, and returns the billing mode. */
async function requireOrderable(
  context: Context,
  { licenseType, maxCredits, project: { organizationId } }: Common,
  products: readonly Product[],
  credits: number,
): ReturnType<typeof billingModeOf> {
  const { db, payments, vendors } = context
  for (const product of new Set(products)) await requireLicences(db, organizationId, product, vendors)
  requireBelow(maxCredits, credits)
  for (const { name, licenseTypes } of products)
    if (!licenseTypes.includes(licenseType))
      throw problem('bad-request', `'${name}' is not sold under '${licenseType}'; its licence types are ${licenseTypes.join(', ')}`)
  const mode = await billingModeOf(db, organizationId)
  requireNoRealMoney(payments, { isSimulated: products.some(({ hostName }) => vendors.source(hostName)?.simulated), mode })
  return mode
}

export function requireBelow(maxCredits: number | null, credits: number): void {
  if (maxCredits !== null && credits > maxCredits)
    throw problem('bad-request', `This costs ${credits} credits, which is more than maxCredits (${maxCredits})`, {
      members: { required_credits: credits, max_credits: maxCredits },
    })
}
