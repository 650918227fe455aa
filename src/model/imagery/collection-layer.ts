/** A collection as one map layer: the items under a tile, newest first, and the extent of all items. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import type { Collection } from './collection.ts'
import type { Bbox } from './footprint.ts'
import { searchSeqs } from './item-search.ts'
import type { SearchMemory } from './search-memory.ts'

/** The newest items under a tile, at most this many. */
export const MAX_ITEMS_PER_TILE = 32
/** The zoom levels of a layer are derived from the newest items, at most this many. */
const MAX_BOXES = 10_000

export async function itemsUnder(db: Db, memory: SearchMemory, collection: Collection, bbox: Bbox): Promise<number[]> {
  return await searchSeqs(db, memory, {
    organizationId: collection.organizationId,
    projectId: collection.projectId,
    hiddenProjectIds: [],
    bbox,
    interval: null,
    collectionIds: [collection.id],
    type: null,
    query: [],
    orders: [],
    limit: MAX_ITEMS_PER_TILE,
    offset: 0,
  })
}

interface Spread {
  /** West is greater than east if a box crosses the date line. */
  boxes: Bbox[]
  newest: number[]
}

const NEWEST = 8

/** The boxes of its items, and the newest few items. */
export async function spreadOf(db: Db, collectionId: string): Promise<Spread> {
  const { rows } = await sql<{ seq: number; bbox: Bbox }>`
    select seq, bbox from item where collection_id = ${collectionId} and deleted_at is null and lifecycle_state <> 'expired'
      and bbox is not null
    order by datetime desc nulls last, seq limit ${MAX_BOXES}
  `.execute(db)
  return { boxes: rows.map(({ bbox }) => bbox), newest: rows.slice(0, NEWEST).map(({ seq }) => seq) }
}
