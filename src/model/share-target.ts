/** What a share link shows. Whether it may be shown has been decided: these look at the target alone. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import * as collection from './collection.ts'
import * as item from './item.ts'
import type { ShareLink } from './share-link.ts'

/** As many items of a collection are described; the total says whether there are more. */
export const MAX_SHARED_ITEMS = 100

export type SharedTarget =
  | { type: 'item'; item: item.Item }
  | { type: 'collection'; collection: collection.Collection; items: item.Item[]; total: number }

/** Null when it went away since the link was opened. */
export async function find(db: Db, link: ShareLink): Promise<SharedTarget | null> {
  if (link.itemSeq !== null) {
    const row = await shown(db).where('seq', '=', link.itemSeq).executeTakeFirst()
    return row ? { type: 'item', item: item.fromRow(row) } : null
  }
  const found = await collection.find(db, link.collectionId!)
  if (!found) return null
  const inside = shown(db).where('collection_id', '=', found.id)
  const rows = await inside.orderBy(sql`datetime desc nulls last`).orderBy('seq', 'desc').limit(MAX_SHARED_ITEMS).execute()
  const { total } = await inside.clearSelect().select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { type: 'collection', collection: found, items: rows.map(item.fromRow), total }
}

/** Whether an item can still be seen through the link: it may have left the collection, been deleted or gone past its retention. */
export async function shows(db: Db, link: ShareLink, itemSeq: number): Promise<boolean> {
  const row = await shown(db).where('seq', '=', itemSeq).$if(link.itemSeq !== null, (query) => query.where('seq', '=', link.itemSeq!)).$if(link.collectionId !== null, (query) => query.where('collection_id', '=', link.collectionId)).executeTakeFirst()
  return row !== undefined
}

const shown = (db: Db) => db.selectFrom('item').select(item.COLUMNS).where('deleted_at', 'is', null).where('lifecycle_state', 'not in', ['expired', 'deleted'])
