/** Placing orders: what `orders.archive.place`, `orders.tasking.place` and `orders.place` do alike, stage by stage. */
import { problem } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { requireLicences } from '#model/licensing/licence.ts'
import { billingModeOf } from '#model/money/billing-account.ts'
import * as spending from '#model/money/spending.ts'
import type { Funding } from '#model/orders/deciding.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { linesOf, priceCaptures, priceTasking, type PricedGroup, type CaptureRequest } from '#model/orders/pricing.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask, placeAtVendorTask, pollTask } from '#model/orders/tasks.ts'
import type { Context, WriteContext } from '#operation.ts'
import { requireNoRealMoney } from '#model/orders/simulated.ts'
import type { Product } from '#ports/vendors.ts'
import { requirePriced, type Wanted } from './input.lib.ts'

/** Tasks run a moment later by themselves; the first look need not come before they have. */
const FIRST_LOOK_SECONDS = 2

/** A key must not spend on archive imagery: somebody has to stand behind it. */
export function requirePerson({ kind, userId }: Principal): void {
  if (kind === 'api_key' || userId === null)
    throw problem('user-authorization-required', 'An API key cannot place an order of archive imagery; a person must, signed in')
}

/** The project, for those who may order for it. */
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
  /** Of the operation that places it. */
  operation: string
}

export interface ArchiveOrder extends Common {
  kind: 'archive'
  captures: readonly CaptureRequest[]
  splitByDate: boolean
}

export interface TaskingOrder extends Common {
  kind: 'tasking'
  wanted: readonly Wanted[]
}

export interface PreparedArchive {
  groups: readonly PricedGroup[]
  funding: Funding
}

export function pricingOf({ db, vendors, overlays, clock, signal }: Context, organizationId: string) {
  return { db, vendors, overlays, organizationId, now: clock.now(), signal }
}

/** Stage 6a: the price, and the card if one pays. */
export async function prepareArchive(context: Context, wanted: ArchiveOrder): Promise<PreparedArchive> {
  const { organizationId } = wanted.project
  const { groups, errors } = await priceCaptures(pricingOf(context, organizationId), wanted.captures, wanted.splitByDate)
  requirePriced(errors, 'captures')
  const credits = groups.reduce((sum, group) => sum + group.credits, 0)
  const mode = await requireOrderable(
    context,
    wanted,
    groups.map(({ product }) => product),
    credits,
  )
  const funding = await spending.authorize(context, {
    spender: spending.spenderOf(context.principal, organizationId),
    credits,
    countsForCaps: true,
    operation: wanted.operation,
    idempotencyKey: context.idempotencyKey,
    mode,
  })
  return { groups, funding }
}

/** Stage 6b: the order, its reservation and the work that sends it, or none of them. */
export async function executeArchive(context: WriteContext, wanted: ArchiveOrder, { groups, funding }: PreparedArchive): Promise<Order> {
  const { tx, tasks, events, vendors, principal } = context
  const id = orders.newOrderId()
  const { mode } = await spending.reserve(context, funding, {
    reference: orders.referenceOf({ id }),
    lines: linesOf(groups.map(({ product, areaKm2, credits }) => ({ productName: product.name, areaKm2, reservedCredits: credits }))),
    description: wanted.displayName ?? groups[0]!.captures![0]!.id,
  })
  const made = await orders.insert(context, {
    id,
    ...ownerOf(principal, wanted),
    orderType: 'archive',
    billingMode: mode,
    displayName: wanted.displayName ?? groups[0]!.captures![0]!.id,
    simulated: groups.some(({ product }) => vendors.source(product.hostName)?.simulated),
    groups: groups.map(({ product, captures, area, areaKm2, credits }) => ({
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
    })),
  })
  events.emit('order.placed', id, orders.summary(made, null))
  for (const group of made.groups) await tasks.enqueue(placeAtVendorTask, { group_id: group.id })
  await tasks.enqueue(pollTask, { order_id: id }, { afterSeconds: FIRST_LOOK_SECONDS })
  return await orders.get(tx, id)
}

/** Stage 6a of tasking: nothing is reserved before a price is accepted, but it must be one that could be. */
export async function prepareTasking(context: Context, wanted: TaskingOrder): Promise<readonly PricedGroup[]> {
  const { organizationId } = wanted.project
  const { groups, errors } = await priceTasking(pricingOf(context, organizationId), wanted.wanted)
  requirePriced(errors, 'groups')
  const credits = groups.reduce((sum, group) => sum + group.credits, 0)
  await requireOrderable(
    context,
    wanted,
    groups.map(({ product }) => product),
    credits,
  )
  await spending.requireWithinCaps(context, spending.spenderOf(context.principal, organizationId), credits)
  return groups
}

export async function executeTasking(context: WriteContext, wanted: TaskingOrder, groups: readonly PricedGroup[]): Promise<Order> {
  const { tx, tasks, vendors, principal } = context
  const made = await orders.insert(context, {
    id: orders.newOrderId(),
    ...ownerOf(principal, wanted),
    orderType: 'tasking',
    billingMode: await billingModeOf(tx, wanted.project.organizationId),
    displayName: wanted.displayName ?? groups[0]!.product.title,
    simulated: groups.some(({ product }) => vendors.source(product.hostName)?.simulated),
    groups: groups.map(({ product, area, areaKm2, credits }, index) => ({
      ...soldAs(product),
      status: 'deciding',
      subStatus: product.steps.includes('feasibility') ? 'awaiting_feasibility' : 'awaiting_quotation',
      steps: product.steps,
      captures: null,
      featureCollection: wanted.wanted[index]!.featureCollection,
      params: wanted.wanted[index]!.params,
      area,
      areaKm2,
      credits,
      reservedCredits: 0,
    })),
  })
  await studies.insertFor(context, made)
  for (const group of made.groups) await tasks.enqueue(requestFromVendorTask, { group_id: group.id })
  await tasks.enqueue(pollTask, { order_id: made.id }, { afterSeconds: FIRST_LOOK_SECONDS })
  return made
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

/** How it will be paid, if it can be ordered. */
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
    throw problem(
      'bad-request',
      `This costs ${credits} credits, which is above the ceiling of ${maxCredits} that came with it (maxCredits)`,
      {
        members: { required_credits: credits, max_credits: maxCredits },
      },
    )
}
