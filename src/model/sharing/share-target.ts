/** The target of a share link. Access was checked before: these functions only read the target. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import * as assets from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as maps from '#model/imagery/map.ts'
import type { ShareLink } from './share-link.ts'

/** Items of a collection that are described; the total shows whether there are more. */
const MAX_SHARED_ITEMS = 100

export type SharedTarget =
  | { type: 'item'; item: items.Item }
  | { type: 'collection'; collection: collections.Collection; items: items.Item[]; total: number }
  | { type: 'map'; map: maps.SavedMap; sources: maps.Sources }

/** Returns null if the target was deleted since the link was opened. */
export async function find(db: Db, link: ShareLink): Promise<SharedTarget | null> {
  if (link.itemSeq !== null) {
    const item = await shown(db).where('seq', '=', link.itemSeq).executeTakeFirst()
    return item ? { type: 'item', item } : null
  }
  if (link.mapId !== null) {
    const map = await maps.findIn(db, link.organizationId, link.mapId)
    return map && { type: 'map', map, sources: await maps.sourcesOf(db, map, map.content.layers) }
  }
  const collection = await collections.find(db, link.collectionId!)
  if (!collection) return null
  const inside = shown(db).where('collection_id', '=', collection.id)
  const listed = await inside
    .orderBy(sql`datetime desc nulls last`)
    .orderBy('seq', 'desc')
    .limit(MAX_SHARED_ITEMS)
    .execute()
  const { total } = await inside
    .clearSelect()
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { type: 'collection', collection, items: listed, total }
}

/** A layer of the link's map with what it shows; null if the layer was removed, or its imagery is no longer in the project of the map. */
export async function findLayer(
  db: Db,
  { organizationId, mapId }: ShareLink,
  layerId: string,
): Promise<{ layer: maps.MapLayer; item: items.Item | null; collection: collections.Collection | null } | null> {
  const map = mapId === null ? null : await maps.findIn(db, organizationId, mapId)
  const layer = map?.content.layers.find(({ id }) => id === layerId)
  if (!map || !layer) return null
  const sources = await maps.sourcesOf(db, map, [layer])
  const item = sources.items.get(layer.item_id ?? '') ?? null
  const collection = sources.collections.get(layer.collection_id ?? '') ?? null
  return item || collection ? { layer, item, collection } : null
}

/** A file of the link's target; null for any other file, and for every file of a map, which is only shown. */
export async function findAsset(
  db: Db,
  link: ShareLink,
  assetId: string,
): Promise<{ asset: assets.Asset; item: items.Item; itemId: string; itemName: string } | null> {
  const file = await assets.find(db, assetId)
  const row = file && (await within(db, link).where('seq', '=', file.itemSeq).executeTakeFirst())
  return row ? { asset: file, item: row, itemId: row.id, itemName: row.name } : null
}

/** Whether the link still shows an item, which can have left the collection, been deleted or passed its retention. */
export async function shows(db: Db, link: ShareLink, itemSeq: number): Promise<boolean> {
  return (await within(db, link).where('seq', '=', itemSeq).executeTakeFirst()) !== undefined
}

const shown = (db: Db) =>
  db.selectFrom('item').select(items.COLUMNS).where('deleted_at', 'is', null).where('lifecycle_state', 'not in', ['expired', 'deleted'])
const within = (db: Db, link: ShareLink) =>
  link.itemSeq !== null
    ? shown(db).where('seq', '=', link.itemSeq)
    : link.collectionId !== null
      ? shown(db).where('collection_id', '=', link.collectionId)
      : shown(db).where(sql<boolean>`false`)
