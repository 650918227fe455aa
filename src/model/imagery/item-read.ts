/** Items: access checks, single reads and lists. */
import { sql } from 'kysely'
import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { ItemType, LifecycleState } from '#core/vocabulary.ts'
import { partsFor } from '#db/prepared.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { requirePage } from './item-metadata.ts'
import * as projects from '#model/identity/project.ts'

export const MAX_ID_LENGTH = 256

/** Without footprint and cells, which only the database needs. */
export const COLUMNS = [
  'seq',
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'collection_id as collectionId',
  'stac_id as stacId',
  'type',
  'name',
  'description',
  'geometry',
  'bbox',
  'datetime',
  'start_datetime as startDatetime',
  'end_datetime as endDatetime',
  'cloud_cover as cloudCover',
  'gsd',
  'properties',
  'stac_extensions as stacExtensions',
  'stated_title as statedTitle',
  'stated_name as statedName',
  'stated_created as statedCreated',
  'stated_updated as statedUpdated',
  'lifecycle_state as lifecycleState',
  'expires_at as expiresAt',
  'archived_at as archivedAt',
  'previous_version_id as previousVersionId',
  'duplicated_from_id as duplicatedFromId',
  'order_id as orderId',
  'upload_id as uploadId',
  'job_id as jobId',
  'created_by as createdBy',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'deleted_at as deletedAt',
] as const

export type Item = Row<'item', typeof COLUMNS>

/**
 * IDs are unique within an organization, so one ID can name several items: the caller's own organization comes first, then projects
 * that the user joined as a guest. Deleted items are not found.
 */
async function find(db: Db, principal: Principal, id: string, options: { evenDeleted?: true; by?: 'stac_id' } = {}): Promise<Item | null> {
  const rows = await db
    .selectFrom('item')
    .select(COLUMNS)
    .where(options.by ?? 'id', '=', id)
    .$if(options.by === 'stac_id', (query) => query.where(sql<boolean>`stac_id <> id`).limit(MAX_NAMESAKES))
    .$if(!options.evenDeleted, (query) => query.where('deleted_at', 'is', null))
    .$if(principal.kind !== 'service' || principal.organizationId !== null, (query) =>
      query.where((where) =>
        where.or([
          where('org_id', '=', principal.organizationId),
          ...(principal.kind === 'user'
            ? [where('project_id', 'in', where.selectFrom('project_member').select('project_id').where('user_id', '=', principal.userId))]
            : []),
        ]),
      ),
    )
    .orderBy('seq')
    .execute()
  const own = rows.find((row) => row.organizationId === principal.organizationId)
  return own ?? rows[0] ?? null
}

/** Copies keep their STAC ID, so it can name several items. */
const MAX_NAMESAKES = 100

export interface ItemWithProject {
  item: Item
  project: projects.Project
}

/** 404 for an item the caller cannot see, 403 for one of a private project of the organization. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<ItemWithProject> {
  const item = await find(db, principal, id)
  if (!item) throw notFound('item')
  return { item, project: await projects.requireReader(db, principal, item.projectId) }
}

/** By ID, or by STAC ID if no item has that ID, because STAC clients only know the latter. */
export async function requireReaderOfStac(db: Db, principal: Principal, id: string): Promise<ItemWithProject> {
  const item = (await find(db, principal, id)) ?? (await find(db, principal, id, { by: 'stac_id' }))
  if (!item) throw notFound('item')
  return { item, project: await projects.requireReader(db, principal, item.projectId) }
}

/** The same, including deleted items. */
export async function requireReaderEvenDeleted(db: Db, principal: Principal, id: string): Promise<ItemWithProject> {
  const item = await find(db, principal, id, { evenDeleted: true })
  if (!item) throw notFound('item')
  return { item, project: await projects.requireReader(db, principal, item.projectId, { evenDeleted: true }) }
}

/** For changes: requires an editor or admin, and a project that is not archived. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<ItemWithProject> {
  const item = await find(db, principal, id)
  if (!item) throw notFound('item')
  return { item, project: projects.requireActive(await projects.requireRole(db, principal, item.projectId, 'editor')) }
}

/** For callers who have checked access. */
export async function get(db: Db, organizationId: string, id: string): Promise<Item> {
  return await db.selectFrom('item').select(COLUMNS).where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirstOrThrow()
}

/** Locks the row and returns its current state. */
export async function lock(tx: Tx, seq: number): Promise<Item> {
  const row = await tx
    .selectFrom('item')
    .select(COLUMNS)
    .where('seq', '=', seq)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('item')
  return row
}

/** Locks those of these items that still exist, in a fixed order. */
export async function lockAll(tx: Tx, seqs: readonly number[]): Promise<Item[]> {
  return await tx
    .selectFrom('item')
    .select(COLUMNS)
    .where(sql<boolean>`seq = any(${seqs}::bigint[])`)
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .forUpdate()
    .execute()
}

export interface ItemList {
  organizationId: string
  projectId: string
  /** Null for items without a collection; undefined for all. */
  collectionId?: string | null
  /** Part of a name or an ID. */
  text?: string | null
  type?: ItemType | null
  limit: number
  offset: number
  /** Instead of an offset: only items after this one, which can have been deleted since. */
  after?: string | null
}

/** No index covers the middle of a name, so such a search is limited. */
export const MAX_EXAMINED = 100_000

/** Everything that is not deleted, newest first. The total of a whole project comes from its counter. */
export async function list(
  db: Db,
  { organizationId, projectId, collectionId, text = null, type = null, limit, offset, after = null }: ItemList,
): Promise<{ items: Item[]; total: number; hasMore: boolean }> {
  const among = db
    .selectFrom('item')
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .$if(collectionId !== undefined, (query) =>
      collectionId === null ? query.where('collection_id', 'is', null) : query.where('collection_id', '=', collectionId!),
    )
    .$if(type !== null, (query) => query.where('type', '=', type!))
  const newest = among.select(['seq', 'id', 'name']).orderBy('seq', 'desc').limit(MAX_EXAMINED)
  const matching =
    text === null
      ? among
      : db.selectFrom('item').where(sql<boolean>`seq in (
    select seq from (${newest}) newest
    where strpos(lower(name), lower(${text}::text)) > 0 or strpos(lower(id), lower(${text}::text)) > 0
  )`)
  const count =
    collectionId === undefined && type === null && text === null
      ? db.selectFrom('project').select('item_count as total').where('id', '=', projectId)
      : matching.select((e) => e.fn.countAll<number>().as('total'))
  const rest = (limited: number) =>
    (after === null ? matching.offset(offset) : matching.where('seq', '<', seqOf(db, projectId, after)))
      .orderBy('seq', 'desc')
      .limit(limited)
  const page = rest(limit)
  await requirePage(db, organizationId, sql`${page.select('metadata_bytes')}`)
  const [items, counted] = [await page.select(COLUMNS).modifyEnd(partsFor(limit)).execute(), await count.executeTakeFirst()]
  const hasMore =
    items.length === limit &&
    (
      await rest(limit + 1)
        .select('seq')
        .execute()
    ).length > limit
  return { items, total: counted?.total ?? 0, hasMore }
}

const seqOf = (db: Db, projectId: string, id: string) =>
  db.selectFrom('item').select('seq').where('project_id', '=', projectId).where('id', '=', id)

/** Whether the project has or had such an item, after which a page can continue. */
export async function wasIn(db: Db, projectId: string, id: string): Promise<boolean> {
  return (await seqOf(db, projectId, id).executeTakeFirst()) !== undefined
}

interface MadeBy {
  readonly organizationId: string
  readonly outputItemIds: readonly string[]
}

/** Existing items that jobs created as outputs, without copies and items that name a job as their origin. */
export async function ofJobs(db: Db | Tx, jobs: readonly MadeBy[]): Promise<Item[]> {
  const outputs = jobs.flatMap(({ organizationId, outputItemIds }) => outputItemIds.map((id) => ({ organizationId, id })))
  if (outputs.length === 0) return []
  return await db
    .selectFrom('item')
    .select(COLUMNS)
    .where(
      sql<boolean>`(org_id, id) in (select * from unnest(${outputs.map(({ organizationId }) => organizationId)}::uuid[],
        ${outputs.map(({ id }) => id)}::text[]))`,
    )
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .execute()
}

/** Names of items in a lineage, including deleted ones. */
export async function names(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, { name: string; type: ItemType; projectId: string }>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string; type: ItemType; projectId: string }>`
    select id, name, type, project_id as "projectId" from item where org_id = ${organizationId} and id = any(${ids}::text[])
  `.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

export type Summarized = Pick<
  Item,
  'id' | 'projectId' | 'collectionId' | 'name' | 'type' | 'datetime' | 'bbox' | 'lifecycleState' | 'createdAt'
>

/** The data of an item's events. */
export function summary(item: Summarized, previousState: LifecycleState | null = null) {
  return {
    id: item.id,
    project_id: item.projectId,
    collection_id: item.collectionId,
    name: item.name,
    type: item.type,
    datetime: item.datetime?.toISOString() ?? null,
    bbox: item.bbox,
    lifecycle_state: item.lifecycleState,
    previous_lifecycle_state: previousState,
    created_at: item.createdAt.toISOString(),
  }
}
