/** Inserts many items with `COPY`, for imports: the usual statement would spend most of its time parsing JSON. */
import { sql } from 'kysely'
import { copyInto } from '#db/copy.ts'
import type { Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'
import { FIRST_TRANSITION_DAYS } from '#model/plans/retention-rules.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import { storedBytes } from './asset.ts'
import { countedBytes } from './item-metadata.ts'
import { placed } from './item-place.ts'
import type { Summarized } from './item-read.ts'
import type { NewItem, Target } from './item-write.ts'

const ITEM_COLUMNS =
  'seq id org_id project_id collection_id stac_id type name description geometry bbox footprint cells datetime start_datetime ' +
  'end_datetime cloud_cover gsd properties stac_extensions order_id upload_id job_id created_by created_at updated_at expires_at due_at'
const CELL_COLUMNS = 'org_id cell datetime seq x0 y0 x1 y1'
const ASSET_COLUMNS =
  'id org_id item_seq key title media_type roles bucket object_key href file_size_bytes sha256 band_names raster state ' +
  'ordinal created_at updated_at'

/** The caller has locked the organization's IDs (`lockForeignIds`) and checked that these are new. */
export async function copy(tx: Tx, target: Target, items: readonly NewItem[]): Promise<Summarized[]> {
  const { organizationId, projectId, createdBy, now } = target
  const { seqs, firstMove } = await reserve(tx, target, items.length)
  const places = items.map(({ parts }) => placed(parts))
  const rows = items.map((item, index) => {
    const { footprint, cells } = places[index]!
    const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
    return [
      seqs[index]!,
      item.id,
      organizationId,
      projectId,
      item.collectionId,
      item.stacId,
      item.type,
      item.name,
      item.description,
      json(item.geometry),
      item.bbox,
      footprint,
      cells,
      item.datetime,
      item.startDatetime,
      item.endDatetime,
      item.cloudCover,
      item.gsd,
      JSON.stringify(item.properties),
      item.stacExtensions,
      item.orderId,
      item.uploadId,
      item.jobId,
      createdBy,
      now,
      now,
      firstMove,
      firstMove,
    ]
  })
  await copyInto(tx, 'item', ITEM_COLUMNS, rows)
  const cells = items.flatMap((item, index) =>
    places[index]!.steps.map(({ cell, x0, y0, x1, y1 }) => [
      organizationId,
      cell,
      item.datetime ?? '-infinity',
      seqs[index]!,
      x0,
      y0,
      x1,
      y1,
    ]),
  )
  await copyInto(tx, 'item_cell', CELL_COLUMNS, cells)
  await copyInto(
    tx,
    'asset',
    ASSET_COLUMNS,
    items.flatMap((item, index) => assetRows(item, seqs[index]!, target)),
  )
  const metadata = await countedOf(tx, seqs)
  if (metadata > 0) await storageAccounts.requireFreeBytes(tx, organizationId, metadata)
  const bytes = items.reduce((sum, { assets }) => sum + storedBytes(assets), metadata)
  if (items.length > 0) await projects.account(tx, projectId, { items: items.length, bytes }, now)
  return items.map((item) => ({ ...item, projectId, bbox: item.bbox, lifecycleState: 'active', createdAt: now }))
}

/** Storage that the new items count for, without their files. */
async function countedOf(tx: Tx, seqs: readonly number[]): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(${countedBytes('item')}), 0)::bigint as bytes from item where seq = any(${seqs}::bigint[])
  `.execute(tx)
  return rows[0]!.bytes
}

/** Returns sequence numbers, in order, and the time of the first retention check. */
async function reserve(tx: Tx, { organizationId, now }: Target, count: number): Promise<{ seqs: number[]; firstMove: Date | null }> {
  const { rows } = await sql<{ seqs: string[] | null; firstMove: Date | null }>`
    select (select array_agg(nextval(numbers.own)) from (select pg_get_serial_sequence('item', 'seq')::regclass as own offset 0) as numbers,
        generate_series(1, ${count}::integer)) as seqs,
      ${now}::timestamptz + make_interval(days => (${FIRST_TRANSITION_DAYS}::jsonb ->> (select plan_id from organization
        where id = ${organizationId}))::integer) as "firstMove"
  `.execute(tx)
  return { seqs: (rows[0]!.seqs ?? []).map(Number), firstMove: rows[0]!.firstMove }
}

function assetRows({ assets }: NewItem, seq: number, { organizationId, now }: Target) {
  return assets.map((asset, ordinal) => {
    const file = 'objectKey' in asset ? asset : null
    return [
      asset.id,
      organizationId,
      seq,
      asset.key,
      asset.title,
      asset.mediaType,
      asset.roles,
      file?.bucket ?? null,
      file?.objectKey ?? null,
      'href' in asset ? asset.href : null,
      asset.fileSizeBytes,
      file?.sha256 ? `\\x${file.sha256.toString('hex')}` : null,
      asset.bandNames,
      asset.raster ? JSON.stringify(asset.raster) : null,
      asset.state ?? 'ready',
      ordinal,
      now,
      now,
    ]
  })
}
