/** What a share link shows. Whether it may be shown has been decided: these look at the target alone. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import * as assets from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as item from '#model/imagery/item-read.ts'
import type { ShareLink } from './share-link.ts'

/** As many items of a collection are described; the total says whether there are more. */
const MAX_SHARED_ITEMS = 100

export type SharedTarget =
  | { type: 'item'; item: item.Item }
  | { type: 'collection'; collection: collections.Collection; items: item.Item[]; total: number }

/** Null when it went away since the link was opened. */
export async function find(db: Db, link: ShareLink): Promise<SharedTarget | null> {
  if (link.itemSeq !== null) {
    const found = await shown(db).where('seq', '=', link.itemSeq).executeTakeFirst()
    return found ? { type: 'item', item: found } : null
  }
  const found = await collections.find(db, link.collectionId!)
  if (!found) return null
  const inside = shown(db).where('collection_id', '=', found.id)
  const items = await inside
    .orderBy(sql`datetime desc nulls last`)
    .orderBy('seq', 'desc')
    .limit(MAX_SHARED_ITEMS)
    .execute()
  const { total } = await inside
    .clearSelect()
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { type: 'collection', collection: found, items, total }
}

/** A file of what the link shows; null for any other, whether it exists or not. */
export async function findAsset(
  db: Db,
  link: ShareLink,
  assetId: string,
): Promise<{ asset: assets.Asset; item: item.Item; itemId: string; itemName: string } | null> {
  const file = await assets.find(db, assetId)
  const row = file && (await within(db, link).where('seq', '=', file.itemSeq).executeTakeFirst())
  return row ? { asset: file, item: row, itemId: row.id, itemName: row.name } : null
}

/** Whether an item can still be seen through the link: it may have left the collection, been deleted or gone past its retention. */
export async function shows(db: Db, link: ShareLink, itemSeq: number): Promise<boolean> {
  return (await within(db, link).where('seq', '=', itemSeq).executeTakeFirst()) !== undefined
}

const shown = (db: Db) =>
  db.selectFrom('item').select(item.COLUMNS).where('deleted_at', 'is', null).where('lifecycle_state', 'not in', ['expired', 'deleted'])
const within = (db: Db, link: ShareLink) =>
  link.itemSeq === null ? shown(db).where('collection_id', '=', link.collectionId) : shown(db).where('seq', '=', link.itemSeq)
