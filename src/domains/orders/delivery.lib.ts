/** What a vendor delivered, held against what was ordered: what counts is what the files show, not what the vendor says of them. */
import { sampledPercent } from '#core/area.ts'
import { Problem } from '#core/problem.ts'
import { coverageOf, footprintsOf } from '#model/orders/delivered.ts'
import type { Group } from '#model/orders/order-group.ts'
import { shareOf } from '#model/orders/pricing.ts'
import type { DeliveredFile, VendorOrder } from '#ports/vendors.ts'
import type { TaskContext } from '#task.ts'
import type { DeliveredItem } from '#services/ingest/delivery.ts'

/** Edges of pixels and of projections cost a little; what is smaller than this share of the area came in part only. */
const WHOLE_PERCENT = 90

/** What came is not what was ordered; trying again would bring the same. */
export class WrongDelivery extends Error {}

type Ordered = Pick<Group, 'hostName' | 'organizationId' | 'captures' | 'area' | 'reservedCredits'>
type Means = Pick<TaskContext, 'overlays'>

/** Throws for files of scenes that nobody ordered, before a byte of them is fetched. */
export function requireOrdered({ hostName, captures }: Ordered, files: readonly DeliveredFile[]): void {
  if (new Set(files.map(({ id }) => id)).size < files.length)
    throw new WrongDelivery(`'${hostName}' delivered the same file more than once`)
  const stray = captures && files.find(({ sceneId }) => !captures.some(({ id }) => id === sceneId))
  if (stray) throw new WrongDelivery(`'${hostName}' delivered ${stray.sceneId}, which was not ordered`)
}

/** Throws for a file that shows nothing of what was ordered. */
export async function requireShown(means: Means, run: Ordered, { item }: DeliveredItem): Promise<void> {
  const { hostName } = run
  if ((await shownPercent(means, run, [item])) === 0)
    throw new WrongDelivery(`'${hostName}' delivered ${item.stacId} of another place than was ordered`)
}

/** What of a group came: why it is not all, null where it is, and what is owed for it. */
export async function judge(
  means: Means,
  run: Ordered,
  { files, captures, reason }: VendorOrder,
  items: readonly { geometry: unknown }[],
): Promise<{ reason: string | null; credits: number }> {
  const { captures: ordered, reservedCredits } = run
  const came = new Set(files.map(({ sceneId }) => sceneId))
  const missing = (ordered ?? []).flatMap(({ id }) => (came.has(id) ? [] : [nameOf(id, captures)]))
  const percent = await shownPercent(means, run, items)
  if (missing.length === 0 && percent >= WHOLE_PERCENT) return { reason: null, credits: reservedCredits }
  const what = missing.length > 0 ? `Not delivered: ${[...new Set(missing)].join(', ')}` : `Only ${percent}% of the area was delivered`
  return { reason: reason ? `${what}. ${reason}` : what, credits: shareOf(reservedCredits, percent) }
}

/** Estimated where outlines cross too often to be combined: what was paid for is not given up for that. */
async function shownPercent(means: Means, { organizationId, area }: Ordered, items: readonly { geometry: unknown }[]): Promise<number> {
  try {
    return (await coverageOf(means, organizationId, area, items)).covered.percentage
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== 'invalid-input') throw error
    return sampledPercent(area, footprintsOf(items))
  }
}

function nameOf(id: string, captures: VendorOrder['captures']): string {
  const reason = captures.find(({ sceneId }) => sceneId === id)?.reason
  return reason ? `${id} (${reason})` : id
}
