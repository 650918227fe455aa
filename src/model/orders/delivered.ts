/** Items that orders delivered into projects. */
import { sql } from 'kysely'
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Overlays } from '#ports/overlays.ts'
import { COLUMNS, type Item } from '#model/imagery/item-read.ts'

/** Items of an organization by ID, except deleted ones. */
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

/** Marks existing items of the project as delivered by an order, all of them or none (400). */
export async function bind(
  tx: Tx,
  { organizationId, projectId, id }: { organizationId: string; projectId: string; id: string },
  itemIds: readonly string[],
  now: Date,
): Promise<void> {
  const result = await tx
    .updateTable('item')
    .set({ order_id: id, updated_at: now })
    .where('org_id', '=', organizationId)
    .where('project_id', '=', projectId)
    .where(sql<boolean>`id = any(${itemIds}::text[])`)
    .where('deleted_at', 'is', null)
    .where('order_id', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows !== BigInt(itemIds.length))
    throw problem('bad-request', "Every item in item_ids must be in the order's project and not delivered by another order")
}

interface Share {
  sqKmArea: number
  percentage: number
  geometry: AreaGeometry | null
}

/** The areas that items cover. */
export const footprintsOf = (items: readonly { geometry: unknown }[]): AreaGeometry[] =>
  items.flatMap(({ geometry }) => {
    const { type } = (geometry ?? {}) as { type?: string }
    return type === 'Polygon' || type === 'MultiPolygon' ? [geometry as AreaGeometry] : []
  })

/** How much of an area items cover, and what remains. */
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
