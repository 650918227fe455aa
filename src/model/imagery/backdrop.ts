/** What a member sees behind the imagery of every map: a base map, an item or a collection. */
import type { Principal } from '#core/principal.ts'
import { Problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as collections from './collection.ts'
import * as items from './item-read.ts'

export const BACKDROP_KINDS = ['map', 'item', 'collection'] as const

export interface Backdrop {
  kind: (typeof BACKDROP_KINDS)[number]
  /** The name of a base map, or the ID of an item or a collection. */
  target: string
}

export interface Member {
  organizationId: string
  userId: string
}

export async function find(db: Db, { organizationId, userId }: Member): Promise<Backdrop | null> {
  const row = await db
    .selectFrom('map_backdrop')
    .select(['kind', 'target'])
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ?? null
}

export async function put(tx: Tx, { organizationId, userId }: Member, { kind, target }: Backdrop, now: Date): Promise<void> {
  await tx
    .insertInto('map_backdrop')
    .values({ org_id: organizationId, user_id: userId, kind, target, updated_at: now })
    .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doUpdateSet({ kind, target, updated_at: now }))
    .execute()
}

export async function remove(tx: Tx, { organizationId, userId }: Member): Promise<void> {
  await tx.deleteFrom('map_backdrop').where('org_id', '=', organizationId).where('user_id', '=', userId).execute()
}

/** The name of the imagery; null for a base map. 404 if the caller cannot read it. */
export async function nameOf(db: Db, principal: Principal, { kind, target }: Backdrop): Promise<string | null> {
  if (kind === 'item') {
    const { item } = await items.requireReader(db, principal, target)
    return item.name ?? item.stacId
  }
  return kind === 'collection' ? (await collections.requireReader(db, principal, target)).name : null
}

/** Null if the imagery was deleted, or if the caller can no longer read it. */
export async function named(db: Db, principal: Principal, backdrop: Backdrop): Promise<(Backdrop & { name: string | null }) | null> {
  try {
    return { ...backdrop, name: await nameOf(db, principal, backdrop) }
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  }
}
