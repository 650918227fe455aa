/** Compares a delivery with the order. We trust the files, not the vendor's description of them. */
import { sampledPercent } from '#core/area.ts'
import { Problem } from '#core/problem.ts'
import { coverageOf, footprintsOf } from '#model/orders/delivered.ts'
import type { Group } from '#model/orders/order-group.ts'
import { shareOf } from '#model/orders/pricing.ts'
import type { DeliveredFile, VendorOrder } from '#ports/vendors/shop.ts'
import type { TaskContext } from '#task.ts'
import { requireOverlap } from '#raster/stack/info.ts'
import { RasterError } from '#raster/types.ts'
import type { DeliveredItem } from '#services/ingest/delivery.ts'

/** A delivery that covers less of the area is partial. The margin allows for pixel edges and reprojection. */
const COMPLETE_PERCENT = 90

/** The delivery is not what was ordered; a retry would not change that. */
export class WrongDelivery extends Error {}

type Ordered = Pick<Group, 'hostName' | 'organizationId' | 'captures' | 'area' | 'reservedCredits'>
/** Its STAC ID is that of the scene. */
interface ShownItem {
  geometry: unknown
  stacId?: string
}
type DeliveryContext = Pick<TaskContext, 'overlays'>

/** Maximum files of one order. */
const MAX_FILES = 2_000

/** Rejects files of scenes that were not ordered, and items without an image, before any byte is downloaded. */
export function requireOrdered({ hostName, captures }: Ordered, files: readonly DeliveredFile[]): void {
  if (new Set(files.map(({ id }) => id)).size < files.length)
    throw new WrongDelivery(`'${hostName}' delivered the same file more than once`)
  if (files.length > MAX_FILES) throw new WrongDelivery(`'${hostName}' delivered ${files.length} files; the maximum is ${MAX_FILES}`)
  const twice = files.find(
    ({ itemKey, assetKey }, index) => files.findIndex((other) => other.itemKey === itemKey && other.assetKey === assetKey) < index,
  )
  if (twice) throw new WrongDelivery(`'${hostName}' delivered two files as the asset '${twice.assetKey}' of ${twice.sceneId}`)
  for (const group of itemsOf(files)) {
    const { sceneId } = group[0]!
    if (group.some((file) => file.sceneId !== sceneId))
      throw new WrongDelivery(
        `'${hostName}' delivered files of several scenes as one item: ${[...new Set(group.map((file) => file.sceneId))].join(', ')}`,
      )
    if (!group.some(({ role }) => role === 'data')) throw new WrongDelivery(`'${hostName}' delivered no image of ${sceneId}`)
  }
  const stray = captures && files.find(({ sceneId }) => !captures.some(({ id }) => id === sceneId))
  if (stray) throw new WrongDelivery(`'${hostName}' delivered ${stray.sceneId}, which was not ordered`)
}

/** The files of each item, in the order of their first file. */
export function itemsOf(files: readonly DeliveredFile[]): DeliveredFile[][] {
  return [...Map.groupBy(files, ({ itemKey }) => itemKey).values()]
}

/** Rejects an item that does not show the ordered area, or whose bands show different areas. */
export async function requireShown(context: DeliveryContext, run: Ordered, { item, rasters }: DeliveredItem): Promise<void> {
  const { hostName } = run
  try {
    if (rasters.length > 1)
      requireOverlap(
        rasters.map(({ key }) => ({ name: key })),
        rasters.map(({ info }) => info),
      )
  } catch (error) {
    if (!(error instanceof RasterError)) throw error
    throw new WrongDelivery(`'${hostName}' delivered ${item.stacId} in files that do not fit together: ${error.message}`)
  }
  if ((await shownPercent(context, run, [item])) === 0)
    throw new WrongDelivery(`'${hostName}' delivered ${item.stacId}, which does not cover the ordered area`)
}

/** Returns why a delivery is partial, or null if it is complete, and the credits to capture for it. */
export async function assessDelivery(
  context: DeliveryContext,
  run: Ordered,
  { files, captures, reason }: VendorOrder,
  items: readonly ShownItem[],
): Promise<{ reason: string | null; credits: number }> {
  const { captures: ordered, reservedCredits } = run
  const delivered = new Set(files.map(({ sceneId }) => sceneId))
  const missing = (ordered ?? []).flatMap(({ id }) => (delivered.has(id) ? [] : [nameOf(id, captures)]))
  const percent = await shownPercent(context, run, items)
  if (missing.length === 0 && percent >= COMPLETE_PERCENT) return { reason: null, credits: reservedCredits }
  const shortfall = missing.length > 0 ? `Not delivered: ${[...new Set(missing)].join(', ')}` : `Only ${percent}% of the area was delivered`
  const chargedPercent = ordered?.every(isChargedAlone) ? await percentOfCharges(context, run, ordered, items) : percent
  return { reason: reason ? `${shortfall}. ${reason}` : shortfall, credits: shareOf(reservedCredits, chargedPercent) }
}

type OrderedCapture = NonNullable<Group['captures']>[number]
type Charged = OrderedCapture & { vendorCents: number }
const isChargedAlone = (capture: OrderedCapture): capture is Charged => capture.vendorCents !== undefined

/** Where each capture is charged, each counts with its price, however captures overlap. */
async function percentOfCharges(
  context: DeliveryContext,
  run: Ordered,
  ordered: readonly Charged[],
  items: readonly ShownItem[],
): Promise<number> {
  const total = ordered.reduce((sum, { vendorCents }) => sum + vendorCents, 0)
  let shown = 0
  for (const { id, geometry, vendorCents } of ordered) {
    const ofCapture = items.filter(({ stacId }) => stacId === id)
    if (ofCapture.length > 0) shown += vendorCents * (await shownPercent(context, { ...run, area: geometry }, ofCapture))
  }
  return total === 0 ? 0 : shown / total
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
