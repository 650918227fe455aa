/** The assets of a page of items, as far as STAC shows them. */
import { sql } from 'kysely'
import type { Row } from '#db/row.ts'

/** As JSON in the database. With the items themselves it stays below what an answer may have. */
export const MAX_ASSET_BYTES = 12 * 1024 * 1024

const COLUMNS = [
  'key',
  'title',
  'media_type as mediaType',
  'roles',
  'href',
  'file_size_bytes as fileSizeBytes',
  'band_names as bandNames',
  'raster',
] as const

export type ShownAsset = Row<'asset', typeof COLUMNS>

const FIELDS = COLUMNS.map((column) => column.split(' as ')).map(([name, shown]) => `'${shown ?? name}', asset.${name}`)

/** A list for each row of `weighed`, the primary one first. One text instead of a row for each asset: those were most of a page. */
export const ASSETS =
  sql.raw(`select coalesce(json_agg(json_build_object(${FIELDS.join(', ')}) order by asset.key <> 'data', asset.key), '[]')::text
  as list from asset where asset.item_seq = weighed.seq`)
