/** What orders have brought into projects. */
import { sql } from 'kysely'
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Overlays } from '#ports/overlays.ts'
import { COLUMNS, type Item } from '#model/imagery/item-read.ts'

/** Items of an organization by their ids, without those that were deleted. */
export async function itemsOf(db: Db, organizationId: string, ids: readonly string[]): Promise<Item[]> {
  return await db
    .selectFrom('item')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .execute()
}

/** Items of a project that came some other way are taken as an order's delivery. All of them, or 400. */
export async function bind(
  tx: Tx,
  { organizationId, projectId, id }: { organizationId: string; projectId: string; id: string },
  itemIds: readonly string[],
  now: Date,
): Promise<void> {
  const done = await tx
    .updateTable('item')
    .set({ order_id: id, updated_at: now })
    .where('org_id', '=', organizationId)
    .where('project_id', '=', projectId)
    .where(sql<boolean>`id = any(${itemIds}::text[])`)
    .where('deleted_at', 'is', null)
    .where('order_id', 'is', null)
    .executeTakeFirst()
  if (done.numUpdatedRows !== BigInt(itemIds.length))
    throw problem('bad-request', "Each of item_ids must be an item of the order's project that no other order delivered")
}

interface Share {
  sqKmArea: number
  percentage: number
  geometry: AreaGeometry | null
}

/** Areas that items show. */
export const footprintsOf = (items: readonly { geometry: unknown }[]): AreaGeometry[] =>
  items.flatMap(({ geometry }) => {
    const { type } = (geometry ?? {}) as { type?: string }
    return type === 'Polygon' || type === 'MultiPolygon' ? [geometry as AreaGeometry] : []
  })

/** How much of an area items show, and how much is left. */
export async function coverageOf(
  { overlays }: { overlays: Overlays },
  organizationId: string,
  area: AreaGeometry,
  items: readonly { geometry: unknown }[],
): Promise<{ covered: Share; remainder: Share }> {
  const { covered, rest } = await overlays.coverage(area, footprintsOf(items), { organizationId, field: 'geometry' })
  const whole = sqKmOf(area)
  const share = (part: AreaGeometry | null): Share => {
    const km2 = part ? sqKmOf(part) : 0
    return { sqKmArea: Math.round(km2 * 1e6) / 1e6, percentage: Math.round((km2 / whole) * 1e4) / 100, geometry: part }
  }
  return { covered: share(covered), remainder: share(rest) }
}
