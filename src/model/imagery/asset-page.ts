/** The assets of a page of items, as far as STAC shows them and as many as fit into an answer. */
import { sql } from 'kysely'
import { listed, type Row } from '#db/row.ts'
import type { Db } from '#db/tables.ts'

/** As JSON in the database. With the items themselves it stays below what an answer may have. */
const MAX_BYTES = 12 * 1024 * 1024

const COLUMNS = [
  'item_seq as itemSeq',
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

interface AssetPage {
  /** By item, the primary one first. */
  assets: ReadonlyMap<number, readonly ShownAsset[]>
  /** So many items, from the first on, have all of theirs. */
  fitting: number
}

/** In the order of the page. What goes beyond an answer is not read. */
export async function listFitting(db: Db, itemSeqs: readonly number[]): Promise<AssetPage> {
  const assets = new Map<number, ShownAsset[]>(itemSeqs.map((seq) => [seq, []]))
  if (itemSeqs.length === 0) return { assets, fitting: 0 }
  const { rows } = await sql<ShownAsset & { isBeyond: boolean }>`
    select ${listed(COLUMNS, 'a')}, a.so_far > ${sql.lit(MAX_BYTES)} as "isBeyond"
    from (
      select asset.*, wanted.place, weight.bytes, sum(weight.bytes) over
        (order by wanted.place, asset.key <> 'data', asset.key rows unbounded preceding) as so_far
      from unnest(${itemSeqs}::bigint[]) with ordinality as wanted (seq, place)
        join asset on asset.item_seq = wanted.seq,
        lateral (select coalesce(octet_length(asset.raster::text), 0) + coalesce(octet_length(asset.href), 0) as bytes) as weight
    ) as a
    where a.so_far - a.bytes <= ${sql.lit(MAX_BYTES)}
    order by a.place, a.key <> 'data', a.key
  `.execute(db)
  for (const { isBeyond: _isBeyond, ...row } of rows) assets.get(row.itemSeq)!.push(row)
  const last = rows.at(-1)
  return { assets, fitting: last?.isBeyond ? itemSeqs.indexOf(last.itemSeq) : itemSeqs.length }
}
