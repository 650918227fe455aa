import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'name',
  'description',
  'color',
  'show_on_map as showOnMap',
  'layer_order as layerOrder',
  'system_key as systemKey',
  'source_type as sourceType',
  'source_id as sourceId',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'deleted_at as deletedAt',
] as const

export type Collection = Row<'collection', typeof COLUMNS>

const live = (db: Db) => db.selectFrom('collection').select(COLUMNS).where('deleted_at', 'is', null)

/** 404 for a collection of another project. */
export async function requireIn(db: Db, projectId: string, id: string): Promise<Collection> {
  const row = isUuid(id) ? await live(db).where('id', '=', id).where('project_id', '=', projectId).executeTakeFirst() : undefined
  if (!row) throw notFound('collection')
  return row
}

/** By ID only: 404 if the caller cannot see its project, 403 if it is private. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<Collection> {
  const row = isUuid(id) ? await live(db).where('id', '=', id).executeTakeFirst() : undefined
  if (!row) throw notFound('collection')
  if (!(await projects.exists(db, principal, row.projectId))) throw notFound('collection')
  await projects.requireReader(db, principal, row.projectId)
  return row
}

/** For callers who have already checked access, such as a share link. */
export async function find(db: Db, id: string): Promise<Collection | null> {
  return (await live(db).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Locked until the end of the transaction, so that nothing is added to a deleted collection. */
export async function lock(tx: Tx, projectId: string, id: string): Promise<void> {
  const { rows } =
    await sql`select 1 from collection where id = ${id} and project_id = ${projectId} and deleted_at is null for share`.execute(tx)
  if (rows.length === 0) throw notFound('collection')
}

/** In drawing order. */
export async function list(db: Db, projectId: string): Promise<Collection[]> {
  return await live(db).where('project_id', '=', projectId).orderBy('layer_order').orderBy('created_at', 'desc').orderBy('id').execute()
}

const MAX_LISTED = 10_000

/** All collections of an organization, or those with these IDs; oldest first. */
export async function listOfOrganization(
  db: Db,
  filter: { organizationId: string; hiddenProjectIds: readonly string[]; ids: readonly string[] | null },
): Promise<Collection[]> {
  return await live(db)
    .where('org_id', '=', filter.organizationId)
    .where(sql<boolean>`project_id <> all(${filter.hiddenProjectIds}::uuid[])`)
    .$if(filter.ids !== null, (query) => query.where(sql<boolean>`id = any(${filter.ids}::uuid[])`))
    .orderBy('created_at')
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute()
}

export async function countItems(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; count: number }>`
    select collection_id as id, count(*) as count from item where collection_id = any(${ids}::uuid[])
      and deleted_at is null group by collection_id
  `.execute(db)
  return new Map(rows.map((row) => [row.id, row.count]))
}

export interface CollectionFields {
  name: string
  description: string | null
  color: string | null
  showOnMap: boolean
  layerOrder: number
}

export async function insert(
  tx: Tx,
  owner: { organizationId: string; projectId: string; createdBy: string | null; now: Date },
  fields: CollectionFields,
): Promise<Collection> {
  return await tx
    .insertInto('collection')
    .values({
      id: newId(),
      org_id: owner.organizationId,
      project_id: owner.projectId,
      name: fields.name,
      description: fields.description,
      color: fields.color,
      show_on_map: fields.showOnMap,
      layer_order: fields.layerOrder,
      created_by: owner.createdBy,
      created_at: owner.now,
      updated_at: owner.now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/**
 * A collection that the service creates itself, once per project. The caller has locked the project, so that concurrent calls create
 * only one.
 */
export async function openSystem(
  tx: Tx,
  owner: { organizationId: string; projectId: string; createdBy: string | null; now: Date },
  { systemKey, name }: { systemKey: string; name: string },
): Promise<{ collection: Collection; isNew: boolean }> {
  const existing = await live(tx).where('project_id', '=', owner.projectId).where('system_key', '=', systemKey).executeTakeFirst()
  if (existing) return { collection: existing, isNew: false }
  const fields = { name, description: null, color: null, showOnMap: true, layerOrder: 0 }
  const created = await insert(tx, owner, fields)
  await tx.updateTable('collection').set({ system_key: systemKey }).where('id', '=', created.id).execute()
  return { collection: { ...created, systemKey }, isNew: true }
}

/** Undefined means unchanged. */
export async function update(
  tx: Tx,
  id: string,
  change: { [F in keyof CollectionFields]?: CollectionFields[F] | undefined },
  now: Date,
): Promise<Collection> {
  const row = await tx
    .updateTable('collection')
    .set({
      name: change.name,
      description: change.description,
      color: change.color,
      show_on_map: change.showOnMap,
      layer_order: change.layerOrder,
      updated_at: now,
    })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('collection')
  return row
}

/** Its items stay in the project without a collection. */
export async function softDelete(tx: Tx, id: string, now: Date): Promise<Collection> {
  const row = await tx
    .updateTable('collection')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('collection')
  await tx
    .updateTable('item')
    .set({ collection_id: null, updated_at: now })
    .where('collection_id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
  return row
}

export async function softDeleteAll(tx: Tx, projectId: string, now: Date): Promise<void> {
  await tx
    .updateTable('collection')
    .set({ deleted_at: now, updated_at: now })
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .execute()
}

/** The data of a collection's events. */
export function summary(collection: Collection) {
  return {
    id: collection.id,
    project_id: collection.projectId,
    name: collection.name,
    created_at: collection.createdAt.toISOString(),
    deleted_at: collection.deletedAt?.toISOString() ?? null,
  }
}
