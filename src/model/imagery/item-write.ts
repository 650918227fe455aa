/** Creates, copies and updates items, with their cells, assets and the counters of their project. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { invalidField, problem } from '#core/problem.ts'
import type { ItemType, LifecycleState } from '#core/vocabulary.ts'
import { listed } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import { FIRST_TRANSITION_DAYS } from '#model/plans/retention-rules.ts'
import { storedBytes, type NewAsset } from './asset.ts'
import { requireTimeLeft } from './item-window.ts'
import { countedBytes } from './item-metadata.ts'
import { cellRows, placeAfter, placed, placeOf, replaceCells, type Place } from './item-place.ts'
import { COLUMNS, lock, type Item } from './item-read.ts'

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
 * Stores items with their cells and assets and counts them, in one statement. Items whose ID the organization already has are skipped:
 * they are not among those returned.
 */
export async function insert(tx: Tx, target: Target, items: readonly NewItem[]): Promise<Item[]> {
  const { organizationId, projectId, createdBy, now } = target
  const assets = items.flatMap(({ id, assets: list }) => list.map((asset, ordinal) => ({ ...assetRow(id, asset), ordinal })))
  const firstMove = sql`${now}::timestamptz + make_interval(days => (${FIRST_TRANSITION_DAYS}::jsonb ->> (select plan_id from organization
    where id = ${organizationId}))::integer)`
  const { rows } = await sql<Item & { counted: number }>`
    with made as (
      insert into item (id, org_id, project_id, collection_id, stac_id, type, name, description, geometry, bbox, footprint, cells,
        datetime, start_datetime, end_datetime,
        cloud_cover, gsd, properties, stac_extensions, duplicated_from_id, order_id, upload_id, job_id,
        created_by, created_at, updated_at, expires_at, due_at)
      select id, ${organizationId}, ${projectId}, collection_id, stac_id, type, name, description, geometry, bbox, footprint, cells,
        datetime, start_datetime, end_datetime,
        cloud_cover, gsd, properties, stac_extensions, duplicated_from_id, order_id, upload_id, job_id,
        ${createdBy}, ${now}, ${now}, ${firstMove}, ${firstMove}
      from rows from (json_to_recordset(${JSON.stringify(items.map(itemRow))}::json) as (
        id text, collection_id uuid, stac_id text, type text, name text, description text,
        geometry jsonb, bbox float8[], footprint polygon[], cells integer[],
        datetime timestamptz, start_datetime timestamptz, end_datetime timestamptz,
        cloud_cover float8, gsd float8, properties jsonb, stac_extensions text[],
        duplicated_from_id text, order_id text, upload_id text, job_id text)) with ordinality
      order by ordinality
      on conflict (id, org_id) do nothing
      returning ${listed(COLUMNS, 'item')}, ${countedBytes('item')} as counted
    ), placed as (
      insert into item_cell (org_id, cell, datetime, seq, x0, y0, x1, y1)
      select ${organizationId}, c.cell, coalesce(m.datetime, '-infinity'), m.seq, c.x0, c.y0, c.x1, c.y1
      from json_to_recordset(${JSON.stringify(items.flatMap(cellRows))}::json) as c (id text, cell integer, x0 smallint, y0 smallint,
        x1 smallint, y1 smallint)
      join made m using (id)
    ), filed as (
      insert into asset (id, org_id, item_seq, key, title, media_type, roles, bucket, object_key, href, file_size_bytes, sha256,
        band_names, raster, state, ordinal, created_at, updated_at)
      select a.asset_id, ${organizationId}, m.seq, a.key, a.title, a.media_type, a.roles, a.bucket, a.object_key, a.href,
        a.file_size_bytes, decode(a.sha256, 'hex'), a.band_names, a.raster, a.state, a.ordinal, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(assets)}::json) as a (id text, asset_id uuid, key text, title text, media_type text,
        roles text[], bucket text, object_key text,
        href text, file_size_bytes bigint, sha256 text, band_names text[], raster jsonb, state text, ordinal integer)
      join made m using (id)
    )
    select * from made order by seq
  `.execute(tx)
  const stored = new Set(rows.map(({ id }) => id))
  const metadata = rows.reduce((sum, row) => sum + row.counted, 0)
  const bytes = items.filter(({ id }) => stored.has(id)).reduce((sum, item) => sum + storedBytes(item.assets), metadata)
  if (metadata > 0) await storageAccounts.requireFreeBytes(tx, organizationId, metadata)
  if (rows.length > 0) await projects.account(tx, projectId, { items: rows.length, bytes }, now)
  return rows.map(({ counted: _counted, ...row }) => row)
}

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
 * IDs from outside can be the same in two calls and in another order. This lock serializes such calls per organization; take it before
 * any other lock to avoid deadlocks.
 */
export async function lockForeignIds(tx: Tx, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`item ids ${organizationId}`}, 0))`.execute(tx)
}

/** The IDs among these that the organization already has, including deleted items: an ID is never reused. */
export async function known(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, { projectId: string; isDeleted: boolean }>> {
  const { rows } = await sql<{ id: string; projectId: string; isDeleted: boolean }>`
    select id, project_id as "projectId", deleted_at is not null as "isDeleted" from item where org_id = ${organizationId}
      and id = any(${ids}::text[])
  `.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Undefined means unchanged, null clears. */
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

interface Updated {
  item: Item
  /** Names as in the API. Empty if nothing changed. */
  changedFields: string[]
  previousState: LifecycleState
}

/** Applies a change to the current row. The box of a new geometry is computed if it is not given. */
export async function update(tx: Tx, seq: number, change: ItemChange, now: Date): Promise<Updated> {
  if (change.lifecycleState === 'deleted')
    throw problem('bad-request', "Delete an item with items.delete; lifecycle_state cannot be set to 'deleted'")
  const before = await lock(tx, seq)
  if (change.lifecycleState !== undefined && change.lifecycleState !== before.lifecycleState)
    await requireTimeLeft(tx, before, change.lifecycleState, now)
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
  const weighedBefore = await countedOf(tx, seq)
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
  const grown = (await countedOf(tx, seq)) - weighedBefore
  if (grown > 0) await storageAccounts.requireFreeBytes(tx, before.organizationId, grown)
  if (grown !== 0) await projects.account(tx, before.projectId, { bytes: grown }, now)
  return { item: row, changedFields, previousState: before.lifecycleState }
}

async function countedOf(tx: Tx, seq: number): Promise<number> {
  const { counted } = await tx
    .selectFrom('item')
    .select(countedBytes('item').as('counted'))
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow()
  return counted
}

/**
 * For a state set by hand: retention checks the item in its next run. Its date stays, so an overdue item changes again; activating an
 * item counts as an access.
 */
function handMoved(before: LifecycleState, after: LifecycleState, now: Date) {
  if (before === after) return {}
  return { due_at: now, ...(after === 'active' ? { last_accessed_at: now } : {}) }
}

/** Something that belongs to the item has changed. */
export async function markUpdated(tx: Tx, seq: number, now: Date): Promise<void> {
  await tx.updateTable('item').set({ updated_at: now }).where('seq', '=', seq).execute()
}

/** Where STAC stores what we have columns for, so that a filter on either name matches. */
export function cloudCoverIn(properties: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(properties, 'eo:cloud_cover') ? properties['eo:cloud_cover'] : null
  return typeof value === 'number' && value >= 0 && value <= 100 ? value : null
}

export function gsdIn(properties: Readonly<Record<string, unknown>>): number | null {
  const value = Object.hasOwn(properties, 'gsd') ? properties['gsd'] : null
  return typeof value === 'number' && value > 0 ? value : null
}

export function requireInterval(start: Date | null, end: Date | null): void {
  if (start && end && start > end) throw invalidField('start_datetime', 'must not be after end_datetime')
}

/** A copy in the same or another project of the organization; its assets share the files. */
export async function duplicate(
  tx: Tx,
  source: Item,
  target: Target & { collectionId: string | null; name: string },
  assets: readonly NewAsset[],
): Promise<Item> {
  const place = placeOf(source.geometry, source.bbox)
  const [copy] = await insert(tx, target, [
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
  return copy!
}
