/** Assets of a page of items, with the columns that STAC shows. */
import { sql } from 'kysely'
import type { Row } from '#db/row.ts'

/** Size of the assets' JSON in the database; together with the items it stays below the maximum response size. */
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

const VALUES = [...COLUMNS, 'ordinal'].map((column) => `asset.${column.split(' ')[0]}`).join(', ')

/** One JSON list per row of `weighed`: faster than rows, which were most of a page, and than objects with keys. */
export const ASSETS = sql.raw(
  `select coalesce(json_agg(json_build_array(${VALUES})), '[]')::text as list ` + 'from asset where asset.item_seq = weighed.seq',
)

type Listed = [
  key: string,
  title: string | null,
  mediaType: string | null,
  roles: string[],
  href: string | null,
  fileSizeBytes: number | null,
  bandNames: string[] | null,
  raster: ShownAsset['raster'],
  ordinal: number | null,
]

/** The asset with the key `data`, then the others in the order of the item. */
export function assetsIn(list: string | null): ShownAsset[] {
  if (list === null) return []
  return (JSON.parse(list) as Listed[])
    .toSorted((a, b) => placeOf(a) - placeOf(b) || (a[0] < b[0] ? -1 : 1))
    .map(([key, title, mediaType, roles, href, fileSizeBytes, bandNames, raster]) => ({
      key,
      title,
      mediaType,
      roles,
      href,
      fileSizeBytes,
      bandNames,
      raster,
    }))
}

const placeOf = (asset: Listed): number => (asset[0] === 'data' ? -1 : ((asset.at(-1) as number | null) ?? Number.MAX_SAFE_INTEGER))
