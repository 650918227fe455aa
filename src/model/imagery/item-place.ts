/** The position of items: geometry, bounding box, footprint, and the cells that search reads. */
import { sql } from 'kysely'
import { requireGeometry, requireUnsplit, type Geometry } from '#core/geometry.ts'
import type { Tx } from '#db/tables.ts'
import {
  boxesOf,
  cellsOf,
  followed,
  footprintOf,
  polygonsText,
  rectangle,
  requireBbox,
  stepsOf,
  type Bbox,
  type Part,
} from './footprint.ts'
import type { Item } from './item-read.ts'

/** An item's geometry, its bounding box, and the parts that search compares. */
export interface Place {
  geometry: Geometry | null
  bbox: Bbox | null
  parts: Part[]
}

/** From a request. Without a geometry, the box is the footprint. */
export function placeOf(geometry: unknown, bbox: readonly number[] | null): Place {
  const stated = bbox ? requireBbox(bbox, 'bbox') : null
  if (geometry === null || geometry === undefined)
    return { geometry: null, bbox: stated, parts: stated ? boxesOf(stated).map(rectangle) : [] }
  const crosses = stated !== null && stated[0] > stated[2]
  const checked = crosses ? requireUnsplit(geometry, 'geometry', followed) : requireGeometry(geometry, 'geometry')
  return { geometry: checked, ...footprintOf(checked, stated) }
}

/** After a change: undefined means unchanged, null clears. The box of a new geometry is computed if it is not given. */
export function placeAfter(before: Pick<Item, 'geometry'>, change: { geometry?: unknown; bbox?: readonly number[] | null }): Place {
  const geometry = change.geometry === undefined ? before.geometry : change.geometry
  if (geometry !== null && change.bbox === null) return { ...placeOf(geometry, null), bbox: null }
  return placeOf(geometry, change.bbox ?? null)
}

/** The item columns that search reads, and the positions for its rows in `item_cell`. */
export function placed(parts: readonly Part[]) {
  const steps = cellsOf(parts).map(({ cell, box }) => {
    const [x0, y0, x1, y1] = stepsOf(box)
    return { cell, x0, y0, x1, y1 }
  })
  return { footprint: parts.length > 0 ? polygonsText(parts) : null, cells: steps.map(({ cell }) => cell), steps }
}

/** The item's rows in `item_cell`. */
export const cellRows = ({ id, parts }: { id: string; parts: readonly Part[] }) => placed(parts).steps.map((each) => ({ id, ...each }))

/** Cells contain the datetime and the box, so a change of either replaces them. Null parts mean that the footprint is unchanged. */
export async function replaceCells(tx: Tx, before: Item, after: { datetime: Date | null; parts: readonly Part[] | null }): Promise<void> {
  if (!after.parts) {
    await sql`
      update item_cell c set datetime = coalesce(${after.datetime}::timestamptz, '-infinity')
      from item i where i.seq = ${before.seq} and c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime,
        '-infinity') and c.seq = i.seq
    `.execute(tx)
    return
  }
  await sql`
    delete from item_cell c using item i
    where i.seq = ${before.seq} and c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime, '-infinity')
      and c.seq = i.seq
  `.execute(tx)
  const { footprint, cells } = placed(after.parts)
  await sql`update item set footprint = ${footprint}::polygon[], cells = ${cells}::integer[] where seq = ${before.seq}`.execute(tx)
  await sql`
    insert into item_cell (org_id, cell, datetime, seq, x0, y0, x1, y1)
    select ${before.organizationId}, c.cell, coalesce(${after.datetime}::timestamptz, '-infinity'), ${before.seq}, c.x0, c.y0, c.x1, c.y1
    from json_to_recordset(${JSON.stringify(cellRows({ id: before.id, parts: after.parts }))}::json) as c (cell integer, x0 smallint,
      y0 smallint, x1 smallint, y1 smallint)
  `.execute(tx)
}
