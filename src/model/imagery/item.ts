import { sql } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import { requireGeometry, type Geometry } from '#core/geometry.ts'
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import type { Db, LifecycleState, Tx } from '#db/tables.ts'
import { storedBytes, type NewAsset } from './asset.ts'
import { boxesOf, cellsOf, footprintOf, polygonsText, rectangle, requireBbox, stepsOf, type Bbox, type Part } from './footprint.ts'
import * as project from '#model/identity/project.ts'
import { FIRST_MOVE_DAYS } from '#model/plans/retention-rules.ts'

export const ITEM_TYPES = [
  'satellite_capture',
  'derived_raster',
  'derived_vector',
  'clip',
  'user_raster',
  'user_vector',
  'external_reference',
  'mosaic',
] as const
export type ItemType = (typeof ITEM_TYPES)[number]
export const LIFECYCLE_STATES = ['active', 'expiring', 'archived', 'expired', 'deleted'] as const

export interface Item {
  seq: number
  id: string
  organizationId: string
  projectId: string
  collectionId: string | null
  stacId: string
  type: ItemType
  name: string
  description: string | null
  geometry: Record<string, unknown> | null
  bbox: number[] | null
  datetime: Date | null
  startDatetime: Date | null
  endDatetime: Date | null
  cloudCover: number | null
  gsd: number | null
  properties: Record<string, unknown>
  stacExtensions: string[]
  lifecycleState: LifecycleState
  expiresAt: Date | null
  archivedAt: Date | null
  previousVersionId: string | null
  duplicatedFromId: string | null
  orderId: string | null
  uploadId: string | null
  jobId: string | null
  createdBy: string | null
  createdAt: Date
  updatedAt: Date
  deletedAt: Date | null
}

/** In the order and under the names of `Item`; footprint and cells stay in the database. */
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

/** A row selected by `COLUMNS` is an item: the check constraints hold its type and state to what we know. */
export const fromRow = (row: unknown): Item => row as Item

/**
 * Ids are unique within an organization, so one id may name several items: the caller's own organization comes first,
 * then projects that invited the person. Deleted items do not exist here.
 */
async function find(db: Db, principal: Principal, id: string, options: { evenDeleted?: true } = {}): Promise<Item | null> {
  const rows = await db
    .selectFrom('item')
    .select(COLUMNS)
    .where('id', '=', id)
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
  return (own ?? rows[0]) ? fromRow(own ?? rows[0]) : null
}

export interface Found {
  item: Item
  project: project.Project
}

/** 404 for what the caller's organization does not hold, 403 for items of a private project that is not the caller's. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<Found> {
  const item = await find(db, principal, id)
  if (!item) throw notFound('item')
  return { item, project: await project.requireReader(db, principal, item.projectId) }
}

/** The same for questions that a deleted item still has an answer to. */
export async function requireReaderEvenDeleted(db: Db, principal: Principal, id: string): Promise<Found> {
  const item = await find(db, principal, id, { evenDeleted: true })
  if (!item) throw notFound('item')
  return { item, project: await project.requireReader(db, principal, item.projectId, { evenDeleted: true }) }
}

/** For changes: editors and admins, and only while the project is not archived. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<Found> {
  const item = await find(db, principal, id)
  if (!item) throw notFound('item')
  return { item, project: project.requireActive(await project.requireRole(db, principal, item.projectId, 'editor')) }
}

/** Inside the transaction: the row as it is now, held until the end. */
export async function lock(tx: Tx, seq: number): Promise<Item> {
  const row = await tx
    .selectFrom('item')
    .select(COLUMNS)
    .where('seq', '=', seq)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('item')
  return fromRow(row)
}

/** Those of these items that still exist, held until the end. In one order everywhere. */
export async function lockAll(tx: Tx, seqs: readonly number[]): Promise<Item[]> {
  const rows = await tx
    .selectFrom('item')
    .select(COLUMNS)
    .where(sql<boolean>`seq = any(${seqs}::bigint[])`)
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .forUpdate()
    .execute()
  return rows.map(fromRow)
}

export interface ItemList {
  projectId: string
  /** Null: items of no collection. Undefined: all. */
  collectionId?: string | null
  limit: number
  offset: number
}

/** Everything that is not deleted, newest first. The total of a whole project is its counter. */
export async function list(db: Db, { projectId, collectionId, limit, offset }: ItemList): Promise<{ items: Item[]; total: number }> {
  const wanted = db
    .selectFrom('item')
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .$if(collectionId !== undefined, (query) =>
      collectionId === null ? query.where('collection_id', 'is', null) : query.where('collection_id', '=', collectionId!),
    )
  const count =
    collectionId === undefined
      ? db.selectFrom('project').select('item_count as total').where('id', '=', projectId)
      : wanted.select((e) => e.fn.countAll<number>().as('total'))
  const [rows, counted] = [
    await wanted.select(COLUMNS).orderBy('seq', 'desc').limit(limit).offset(offset).execute(),
    await count.executeTakeFirst(),
  ]
  return { items: rows.map(fromRow), total: counted?.total ?? 0 }
}

/** Names of items in a lineage; deleted ones keep theirs. */
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

/** Where an item lies on the Earth: its geometry, its box, and the parts that search compares. */
export interface Place {
  geometry: Geometry | null
  bbox: Bbox | null
  parts: Part[]
}

/** From the wire. Without a geometry the box, if there is one, is the footprint. */
export function placeOf(geometry: unknown, bbox: readonly number[] | null): Place {
  const stated = bbox ? requireBbox(bbox, 'bbox') : null
  if (geometry === null || geometry === undefined)
    return { geometry: null, bbox: stated, parts: stated ? boxesOf(stated).map(rectangle) : [] }
  const checked = requireGeometry(geometry, 'geometry')
  return { geometry: checked, ...footprintOf(checked, stated) }
}

export interface NewItem extends Place {
  id: string
  collectionId: string | null
  stacId: string
  type: ItemType
  name: string
  description: string | null
  datetime: Date | null
  startDatetime: Date | null
  endDatetime: Date | null
  cloudCover: number | null
  gsd: number | null
  properties: Record<string, unknown>
  stacExtensions: readonly string[]
  duplicatedFromId?: string | null
  orderId: string | null
  uploadId: string | null
  jobId: string | null
  assets: readonly NewAsset[]
}

export interface Target {
  organizationId: string
  projectId: string
  createdBy: string | null
  now: Date
}

/**
 * Stores items with their cells and assets and counts them, in one statement for all of them. An id that the organization
 * has already is left alone: it is not among those returned.
 */
export async function insert(tx: Tx, target: Target, items: readonly NewItem[]): Promise<Item[]> {
  const { organizationId, projectId, createdBy, now } = target
  const assets = items.flatMap(({ id, assets: list }) => list.map((asset) => assetRow(id, asset)))
  const firstMove = sql`${now}::timestamptz + make_interval(days => (${FIRST_MOVE_DAYS}::jsonb ->> (select plan_id from organization where id = ${organizationId}))::integer)`
  const { rows } = await sql<Item>`
    with made as (
      insert into item (id, org_id, project_id, collection_id, stac_id, type, name, description, geometry, bbox, footprint, cells, datetime, start_datetime, end_datetime,
        cloud_cover, gsd, properties, stac_extensions, duplicated_from_id, order_id, upload_id, job_id, created_by, created_at, updated_at, expires_at, due_at)
      select id, ${organizationId}, ${projectId}, collection_id, stac_id, type, name, description, geometry, bbox, footprint, cells, datetime, start_datetime, end_datetime,
        cloud_cover, gsd, properties, stac_extensions, duplicated_from_id, order_id, upload_id, job_id, ${createdBy}, ${now}, ${now}, ${firstMove}, ${firstMove}
      from rows from (json_to_recordset(${JSON.stringify(items.map(itemRow))}::json) as (
        id text, collection_id uuid, stac_id text, type text, name text, description text, geometry jsonb, bbox float8[], footprint polygon[], cells integer[],
        datetime timestamptz, start_datetime timestamptz, end_datetime timestamptz, cloud_cover float8, gsd float8, properties jsonb, stac_extensions text[],
        duplicated_from_id text, order_id text, upload_id text, job_id text)) with ordinality
      order by ordinality
      on conflict (id, org_id) do nothing
      returning ${sql.raw(SELECTED)}
    ), placed as (
      insert into item_cell (org_id, cell, datetime, seq, x0, y0, x1, y1)
      select ${organizationId}, c.cell, coalesce(m.datetime, '-infinity'), m.seq, c.x0, c.y0, c.x1, c.y1
      from json_to_recordset(${JSON.stringify(items.flatMap(cellRows))}::json) as c (id text, cell integer, x0 smallint, y0 smallint, x1 smallint, y1 smallint)
      join made m using (id)
    ), filed as (
      insert into asset (id, org_id, item_seq, key, title, media_type, roles, bucket, object_key, href, file_size_bytes, sha256, band_names, raster, state, created_at, updated_at)
      select a.asset_id, ${organizationId}, m.seq, a.key, a.title, a.media_type, a.roles, a.bucket, a.object_key, a.href, a.file_size_bytes, decode(a.sha256, 'hex'), a.band_names, a.raster, a.state, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(assets)}::json) as a (id text, asset_id uuid, key text, title text, media_type text, roles text[], bucket text, object_key text,
        href text, file_size_bytes bigint, sha256 text, band_names text[], raster jsonb, state text)
      join made m using (id)
    )
    select * from made order by seq
  `.execute(tx)
  const stored = new Set(rows.map(({ id }) => id))
  const bytes = items.filter(({ id }) => stored.has(id)).reduce((sum, item) => sum + storedBytes(item.assets), 0)
  if (rows.length > 0) await project.account(tx, projectId, { items: rows.length, bytes }, now)
  return rows.map(fromRow)
}

const SELECTED = COLUMNS.map((column) => column.replace(/^(\w+) as (\w+)$/, '$1 as "$2"')).join(', ')

function itemRow(item: NewItem) {
  return {
    id: item.id,
    collection_id: item.collectionId,
    stac_id: item.stacId,
    type: item.type,
    name: item.name,
    description: item.description,
    geometry: item.geometry,
    bbox: item.bbox,
    ...placed(item.parts),
    datetime: item.datetime,
    start_datetime: item.startDatetime,
    end_datetime: item.endDatetime,
    cloud_cover: item.cloudCover,
    gsd: item.gsd,
    properties: item.properties,
    stac_extensions: item.stacExtensions,
    duplicated_from_id: item.duplicatedFromId ?? null,
    order_id: item.orderId,
    upload_id: item.uploadId,
    job_id: item.jobId,
  }
}

function placed(parts: readonly Part[]) {
  return { footprint: parts.length > 0 ? polygonsText(parts) : null, cells: cellsOf(parts).map(({ cell }) => cell) }
}

function cellRows({ id, parts }: { id: string; parts: readonly Part[] }) {
  return cellsOf(parts).map(({ cell, box }) => {
    const [x0, y0, x1, y1] = stepsOf(box)
    return { id, cell, x0, y0, x1, y1 }
  })
}

function assetRow(id: string, asset: NewAsset) {
  const file = 'objectKey' in asset ? asset : null
  return {
    id,
    asset_id: asset.id,
    key: asset.key,
    title: asset.title,
    media_type: asset.mediaType,
    roles: asset.roles,
    href: 'href' in asset ? asset.href : null,
    bucket: file?.bucket ?? null,
    object_key: file?.objectKey ?? null,
    file_size_bytes: asset.fileSizeBytes,
    sha256: file?.sha256?.toString('hex') ?? null,
    band_names: asset.bandNames,
    raster: asset.raster,
    state: asset.state ?? 'ready',
  }
}

/**
 * Ids from outside may be the same in two calls and in another order: whoever brings such ids does so one at a time in an
 * organization, and before holding anything else, so that no two wait for each other in a circle.
 */
export async function holdForeignIds(tx: Tx, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`item ids ${organizationId}`}, 0))`.execute(tx)
}

/** Which of these ids the organization has, deleted ones too: an id is never given to a second item. */
export async function known(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, { projectId: string; isDeleted: boolean }>> {
  const { rows } = await sql<{ id: string; projectId: string; isDeleted: boolean }>`
    select id, project_id as "projectId", deleted_at is not null as "isDeleted" from item where org_id = ${organizationId} and id = any(${ids}::text[])
  `.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Undefined keeps, null clears. */
export interface ItemChange {
  collectionId?: string | null
  name?: string
  description?: string | null
  geometry?: unknown
  bbox?: readonly number[] | null
  datetime?: Date | null
  cloudCover?: number | null
  gsd?: number | null
  properties?: Record<string, unknown>
  lifecycleState?: LifecycleState
}

export interface Updated {
  item: Item
  /** Names of the wire. Empty: everything was so already. */
  changedFields: string[]
  previousState: LifecycleState
}

/** Applies a change to the row as it is now. A geometry without a box has its box computed anew. */
export async function update(tx: Tx, seq: number, change: ItemChange, now: Date): Promise<Updated> {
  if (change.lifecycleState === 'deleted')
    throw problem('bad-request', "An item is deleted with items.delete, not by setting lifecycle_state to 'deleted'")
  const before = await lock(tx, seq)
  const moves = change.geometry !== undefined || change.bbox !== undefined
  const place = moves ? placeAfter(before, change) : null
  const state = change.lifecycleState ?? before.lifecycleState
  const next = {
    collection_id: change.collectionId === undefined ? before.collectionId : change.collectionId,
    name: change.name ?? before.name,
    description: change.description === undefined ? before.description : change.description,
    geometry: place ? (place.geometry as Record<string, unknown> | null) : before.geometry,
    bbox: place ? place.bbox : before.bbox,
    datetime: change.datetime === undefined ? before.datetime : change.datetime,
    cloud_cover: change.cloudCover === undefined ? before.cloudCover : change.cloudCover,
    gsd: change.gsd === undefined ? before.gsd : change.gsd,
    properties: change.properties ?? before.properties,
    lifecycle_state: state,
  }
  const current = {
    collection_id: before.collectionId,
    name: before.name,
    description: before.description,
    geometry: before.geometry,
    bbox: before.bbox,
    datetime: before.datetime,
    cloud_cover: before.cloudCover,
    gsd: before.gsd,
    properties: before.properties,
    lifecycle_state: before.lifecycleState,
  }
  const changedFields = (Object.keys(next) as (keyof typeof next)[]).filter((field) => !isDeepStrictEqual(next[field], current[field]))
  if (changedFields.length === 0) return { item: before, changedFields, previousState: before.lifecycleState }
  if (changedFields.includes('datetime') || place) await replaceCells(tx, before, { datetime: next.datetime, parts: place?.parts ?? null })
  const row = await tx
    .updateTable('item')
    .set({
      ...next,
      ...handMoved(before.lifecycleState, state, now),
      geometry: next.geometry ? JSON.stringify(next.geometry) : null,
      properties: JSON.stringify(next.properties),
      archived_at: state === 'archived' ? (before.archivedAt ?? now) : null,
      updated_at: now,
    })
    .where('seq', '=', seq)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { item: fromRow(row), changedFields, previousState: before.lifecycleState }
}

/**
 * A state that somebody set by hand: retention looks at the item in its next run. Its date stays, so an item that is overdue
 * moves on again; making one active counts as using it.
 */
function handMoved(before: LifecycleState, after: LifecycleState, now: Date) {
  if (before === after) return {}
  return { due_at: now, ...(after === 'active' ? { last_accessed_at: now } : {}) }
}

/** Something that belongs to the item has changed. */
export async function markUpdated(tx: Tx, seq: number, now: Date): Promise<void> {
  await tx.updateTable('item').set({ updated_at: now }).where('seq', '=', seq).execute()
}

function placeAfter(before: Item, change: ItemChange): Place {
  const geometry = change.geometry === undefined ? before.geometry : change.geometry
  if (geometry !== null && change.bbox === null) return { ...placeOf(geometry, null), bbox: null }
  return placeOf(geometry, change.bbox ?? null)
}

/** Cells carry the datetime and the box: a change of either replaces them. Parts of null: the footprint stays. */
async function replaceCells(tx: Tx, before: Item, after: { datetime: Date | null; parts: readonly Part[] | null }): Promise<void> {
  if (!after.parts) {
    await sql`
      update item_cell c set datetime = coalesce(${after.datetime}::timestamptz, '-infinity')
      from item i where i.seq = ${before.seq} and c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime, '-infinity') and c.seq = i.seq
    `.execute(tx)
    return
  }
  await sql`
    delete from item_cell c using item i
    where i.seq = ${before.seq} and c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime, '-infinity') and c.seq = i.seq
  `.execute(tx)
  const { footprint, cells } = placed(after.parts)
  await sql`update item set footprint = ${footprint}::polygon[], cells = ${cells}::integer[] where seq = ${before.seq}`.execute(tx)
  await sql`
    insert into item_cell (org_id, cell, datetime, seq, x0, y0, x1, y1)
    select ${before.organizationId}, c.cell, coalesce(${after.datetime}::timestamptz, '-infinity'), ${before.seq}, c.x0, c.y0, c.x1, c.y1
    from json_to_recordset(${JSON.stringify(cellRows({ id: before.id, parts: after.parts }))}::json) as c (cell integer, x0 smallint, y0 smallint, x1 smallint, y1 smallint)
  `.execute(tx)
}

export type Summarized = Pick<
  Item,
  'id' | 'projectId' | 'collectionId' | 'name' | 'type' | 'datetime' | 'bbox' | 'lifecycleState' | 'createdAt'
>

/** What events tell of an item. */
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

export const MAX_ID_LENGTH = 256

/** Where STAC keeps what we have columns for, so that a filter on either name finds it. */
export function cloudCoverIn(properties: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(properties, 'eo:cloud_cover') ? properties['eo:cloud_cover'] : null
  return typeof value === 'number' && value >= 0 && value <= 100 ? value : null
}

export function gsdIn(properties: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(properties, 'gsd') ? properties['gsd'] : null
  return typeof value === 'number' && value > 0 ? value : null
}

export function requireInterval(start: Date | null, end: Date | null): void {
  if (start && end && start > end) throw invalidField('start_datetime', 'is after end_datetime')
}

/** A copy in the same or another project of the same organization; its assets point at the same files. */
export async function duplicate(
  tx: Tx,
  source: Item,
  target: Target & { collectionId: string | null; name: string },
  assets: readonly NewAsset[],
): Promise<Item> {
  const place = placeOf(source.geometry, source.bbox)
  const [made] = await insert(tx, target, [
    {
      ...place,
      id: newId(),
      collectionId: target.collectionId,
      stacId: source.stacId,
      type: source.type,
      name: target.name,
      description: source.description,
      datetime: source.datetime,
      startDatetime: source.startDatetime,
      endDatetime: source.endDatetime,
      cloudCover: source.cloudCover,
      gsd: source.gsd,
      properties: source.properties,
      stacExtensions: source.stacExtensions,
      duplicatedFromId: source.id,
      orderId: source.orderId,
      uploadId: source.uploadId,
      jobId: source.jobId,
      assets,
    },
  ])
  return made!
}
