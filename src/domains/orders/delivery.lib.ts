/** Compares a delivery with the order. We trust the files, not the vendor's description of them. */
import { sampledPercent } from '#core/area.ts'
import { Problem } from '#core/problem.ts'
import { coverageOf, footprintsOf } from '#model/orders/delivered.ts'
import type { Group } from '#model/orders/order-group.ts'
import { shareOf } from '#model/orders/pricing.ts'
import type { DeliveredFile, VendorOrder } from '#ports/vendors.ts'
import type { TaskContext } from '#task.ts'
import type { DeliveredItem } from '#services/ingest/delivery.ts'

/** A delivery that covers less of the area is partial. The margin allows for pixel edges and reprojection. */
const COMPLETE_PERCENT = 90

/** The delivery is not what was ordered; a retry would not change that. */
export class WrongDelivery extends Error {}

type Ordered = Pick<Group, 'hostName' | 'organizationId' | 'captures' | 'area' | 'reservedCredits'>
type DeliveryContext = Pick<TaskContext, 'overlays'>

/** Rejects files of scenes that were not ordered, before any byte is downloaded. */
export function requireOrdered({ hostName, captures }: Ordered, files: readonly DeliveredFile[]): void {
  if (new Set(files.map(({ id }) => id)).size < files.length)
    throw new WrongDelivery(`'${hostName}' delivered the same file more than once`)
  const stray = captures && files.find(({ sceneId }) => !captures.some(({ id }) => id === sceneId))
  if (stray) throw new WrongDelivery(`'${hostName}' delivered ${stray.sceneId}, which was not ordered`)
}

/** Rejects a file that does not show the ordered area. */
export async function requireShown(context: DeliveryContext, run: Ordered, { item }: DeliveredItem): Promise<void> {
  const { hostName } = run
  if ((await shownPercent(context, run, [item])) === 0)
    throw new WrongDelivery(`'${hostName}' delivered ${item.stacId}, which does not cover the ordered area`)
}

/** Returns why a delivery is partial, or null if it is complete, and the credits to capture for it. */
export async function assessDelivery(
  context: DeliveryContext,
  run: Ordered,
  { files, captures, reason }: VendorOrder,
  items: readonly { geometry: unknown }[],
): Promise<{ reason: string | null; credits: number }> {
  const { captures: ordered, reservedCredits } = run
  const delivered = new Set(files.map(({ sceneId }) => sceneId))
  const missing = (ordered ?? []).flatMap(({ id }) => (delivered.has(id) ? [] : [nameOf(id, captures)]))
  const percent = await shownPercent(context, run, items)
  if (missing.length === 0 && percent >= COMPLETE_PERCENT) return { reason: null, credits: reservedCredits }
  const shortfall = missing.length > 0 ? `Not delivered: ${[...new Set(missing)].join(', ')}` : `Only ${percent}% of the area was delivered`
  return { reason: reason ? `${shortfall}. ${reason}` : shortfall, credits: shareOf(reservedCredits, percent) }
}

/** Falls back to an estimate if the outlines are too complex to combine, so that a paid delivery is not lost. */
async function shownPercent(
  context: DeliveryContext,
  { organizationId, area }: Ordered,
  items: readonly { geometry: unknown }[],
): Promise<number> {
  try {
    return (await coverageOf(context, organizationId, area, items)).covered.percentage
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== 'invalid-input') throw error
    return sampledPercent(area, footprintsOf(items))
  }
}

function nameOf(id: string, captures: VendorOrder['captures']): string {
  const reason = captures.find(({ sceneId }) => sceneId === id)?.reason
  return reason ? `${id} (${reason})` : id
}
