import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { notFound, problem } from '#core/problem.ts'
import type { ProfileLayer, ProfileType } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const MAX_PROFILES_PER_ITEM = 100

const COLUMNS = [
  'id',
  'item_seq as itemSeq',
  'name',
  'layer',
  'type',
  'is_default as isDefault',
  'sort_order as sortOrder',
  'config',
  // The asset it shows; null for the primary one.
  'asset_key as assetKey',
  'version',
  'created_by as createdBy',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

/** A saved style of an item. */
export type Profile = Row<'visualization_profile', typeof COLUMNS>
export type ProfileConfig = Profile['config']

export async function list(db: Db, itemSeq: number): Promise<Profile[]> {
  return (await listOf(db, [itemSeq])).get(itemSeq)!
}

/** Profiles by item. */
export async function listOf(db: Db, itemSeqs: readonly number[]): Promise<Map<number, Profile[]>> {
  const byItem = new Map<number, Profile[]>(itemSeqs.map((seq) => [seq, []]))
  if (itemSeqs.length === 0) return byItem
  const rows = await db
    .selectFrom('visualization_profile')
    .select(COLUMNS)
    .where(sql<boolean>`item_seq = any(${itemSeqs}::bigint[])`)
    .orderBy('sort_order')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  for (const row of rows) byItem.get(row.itemSeq)!.push(row)
  return byItem
}

/** 404 for a profile of another item. */
export async function requireOf(db: Db, itemSeq: number, id: string): Promise<Profile> {
  const row = isUuid(id)
    ? await db.selectFrom('visualization_profile').select(COLUMNS).where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst()
    : undefined
  if (!row) throw notFound('visualization profile')
  return row
}

interface NewProfile {
  name: string
  layer: ProfileLayer
  type: ProfileType
  isDefault: boolean
  sortOrder: number
  config: ProfileConfig
  assetKey: string | null
}

interface Owner {
  organizationId: string
  itemSeq: number
  createdBy: string | null
  now: Date
}

/** The caller has locked the item's row, so that the later of two new defaults wins. */
export async function insert(tx: Tx, owner: Owner, profile: NewProfile): Promise<Profile> {
  const { count } = await tx
    .selectFrom('visualization_profile')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('item_seq', '=', owner.itemSeq)
    .executeTakeFirstOrThrow()
  if (count >= MAX_PROFILES_PER_ITEM)
    throw problem('bad-request', `An item can have at most ${MAX_PROFILES_PER_ITEM} visualization profiles; delete one first`)
  if (profile.isDefault) await clearDefault(tx, owner.itemSeq, owner.now)
  const row = await tx
    .insertInto('visualization_profile')
    .values({
      id: newId(),
      org_id: owner.organizationId,
      item_seq: owner.itemSeq,
      name: profile.name,
      layer: profile.layer,
      type: profile.type,
      is_default: profile.isDefault,
      sort_order: profile.sortOrder,
      config: JSON.stringify(profile.config),
      asset_key: profile.assetKey,
      created_by: owner.createdBy,
      created_at: owner.now,
      updated_at: owner.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return row
}

/**
 * The initial profile of a new item, in the transaction that creates the item. It follows from the raster: see `defaultProfile` in
 * `#raster/render/profile.ts`.
 */
export async function insertDefault(
  tx: Tx,
  owner: Owner,
  { name, type, config }: { name: string; type: ProfileType; config: ProfileConfig },
  assetKey: string | null = null,
): Promise<Profile> {
  return await insert(tx, owner, { name, type, config, layer: 'auto', isDefault: true, sortOrder: 0, assetKey })
}

/** Undefined means unchanged. */
type ProfileChange = { [F in keyof Omit<NewProfile, 'layer'>]?: NewProfile[F] | undefined }

/** The caller has locked the item's row. Each change increments the version. */
export async function update(tx: Tx, itemSeq: number, id: string, change: ProfileChange, now: Date): Promise<Profile> {
  if (change.isDefault) await clearDefault(tx, itemSeq, now, id)
  const row = await tx
    .updateTable('visualization_profile')
    .set({
      name: change.name,
      type: change.type,
      is_default: change.isDefault,
      sort_order: change.sortOrder,
      config: change.config === undefined ? undefined : JSON.stringify(change.config),
      asset_key: change.assetKey,
      version: sql<number>`version + 1`,
      updated_at: now,
    })
    .where('id', '=', id)
    .where('item_seq', '=', itemSeq)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('visualization profile')
  return row
}

/** The profile itself does not change, so its version stays. The caller has locked the item's row. */
export async function setDefault(tx: Tx, itemSeq: number, id: string, now: Date): Promise<Profile> {
  await clearDefault(tx, itemSeq, now, id)
  const row = await tx
    .updateTable('visualization_profile')
    .set({ is_default: true, updated_at: now })
    .where('id', '=', id)
    .where('item_seq', '=', itemSeq)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('visualization profile')
  return row
}

/** Deleting the default leaves none: then the style that follows from the raster applies. */
export async function remove(tx: Tx, itemSeq: number, id: string): Promise<void> {
  const result = await tx.deleteFrom('visualization_profile').where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst()
  if (result.numDeletedRows === 0n) throw notFound('visualization profile')
}

/** Copies the profiles of an item to its copy, which then owns them. */
export async function copyAll(tx: Tx, fromItemSeq: number, owner: Owner): Promise<void> {
  for (const { name, layer, type, isDefault, sortOrder, config, assetKey } of await list(tx, fromItemSeq)) {
    await insert(tx, owner, { name, layer, type, isDefault, sortOrder, config, assetKey })
  }
}

async function clearDefault(tx: Tx, itemSeq: number, now: Date, except?: string): Promise<void> {
  await tx
    .updateTable('visualization_profile')
    .set({ is_default: false, updated_at: now })
    .where('item_seq', '=', itemSeq)
    .where('is_default', '=', true)
    .$if(except !== undefined, (query) => query.where('id', '<>', except!))
    .execute()
}
