/**
 * Turns the outputs of a job into items, all or nothing. Files are stored first, at new keys; then one transaction registers
 * the items with their assets, styles and lineage, completes the job and captures its price. Files of a run that was
 * replaced, or whose registration failed, are removed again; the sweep removes what that misses.
 */
import { stat } from 'node:fs/promises'
import { displayName } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as itemPlaces from '#model/imagery/item-place.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import * as projects from '#model/identity/project.ts'
import * as spending from '#model/money/spending.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as jobs from '#model/processing/job.ts'
import * as runs from '#model/processing/run.ts'
import type { Context } from '#operation.ts'
import type { ObjectRef } from '#ports/storage.ts'
import { conversionWarning } from '#raster/crs/accuracy.ts'
import { bandNamesOf, initialProfile, groundSampleDistance, rasterFacts } from '#raster/ingest/facts.ts'
import { isCloudOptimized } from '#raster/ingest/inspect.ts'
import type { RasterInfo } from '#raster/types.ts'
import { discard, newKey, placeOf, PROJECTION_EXTENSION, projectionOf } from '#services/ingest/intake.ts'
import { clearParts } from './end-job.ts'
import type { OpenSource, ProducedAsset, ProducedItem } from './process.ts'

type OutputContext = Pick<Context, 'storage' | 'raster' | 'signal'>

/** A local file, or an object that an external worker has uploaded. */
export type OutputAsset = Omit<ProducedAsset, 'path'> & ({ readonly path: string } | { readonly object: ObjectRef })
export type OutputItem = Omit<ProducedItem, 'assets'> & { readonly assets: readonly OutputAsset[] }

const PROCESSING_EXTENSION = 'https://stac-extensions.github.io/processing/v1.2.0/schema.json'
const RASTER_TYPE = /^image\/tiff/
const ENDINGS: Readonly<Record<string, string>> = {
  'application/geo+json': '.geojson',
  'text/csv': '.csv',
  'application/vnd.apache.parquet': '.parquet',
  'application/json': '.json',
}

interface StoredAsset {
  file: NewFile
  /** Null unless the file is a raster. */
  info: RasterInfo | null
  place: itemPlaces.Place | null
  isCategorical: boolean
}

export interface StoredItem {
  id: string
  output: OutputItem
  assets: StoredAsset[]
}

/** Receives the stage and the overall progress from 0 to 1. */
type Report = (stage: 'storing' | 'inspecting', fraction: number) => void

/** Stores and inspects every file. A failure leaves nothing behind. */
export async function storeOutputs(
  context: OutputContext,
  bucket: string,
  outputs: readonly OutputItem[],
  report: Report = () => {},
): Promise<StoredItem[]> {
  const stored: StoredItem[] = []
  try {
    const total = await bytesOf(outputs)
    let before = 0
    for (const output of outputs) {
      const storedItem: StoredItem = { id: newId(), output, assets: [] }
      stored.push(storedItem)
      for (const asset of output.assets) {
        const at = (stage: Parameters<Report>[0], bytes: number) => report(stage, Math.min(1, (before + bytes) / total))
        const kept = await storeAsset(context, bucket, asset, at)
        storedItem.assets.push(kept)
        before += kept.file.fileSizeBytes
      }
    }
    return stored
  } catch (error) {
    await discardOutputs(context, stored)
    throw error
  }
}

export async function discardOutputs({ storage }: Pick<OutputContext, 'storage'>, stored: readonly StoredItem[]): Promise<void> {
  await discard(
    { storage },
    stored.flatMap(({ assets }) => assets.map(({ file }) => ({ bucket: file.bucket, key: file.objectKey }))),
  )
}

/** Total size of the local files, for the progress; copies within the store report none. At least 1, because it is a divisor. */
async function bytesOf(outputs: readonly OutputItem[]): Promise<number> {
  const paths = outputs.flatMap(({ assets }) => assets.flatMap((asset) => ('path' in asset ? [asset.path] : [])))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  )
}

async function storeAsset(
  context: OutputContext,
  bucket: string,
  asset: OutputAsset,
  at: (stage: Parameters<Report>[0], bytes: number) => void,
): Promise<StoredAsset> {
  const { storage, raster, signal } = context
  const isRaster = RASTER_TYPE.test(asset.mediaType)
  const place = { bucket, key: newKey(`${asset.key}${isRaster ? '.tif' : (ENDINGS[asset.mediaType] ?? '')}`) }
  try {
    at('storing', 0)
    const { size, sha256 } =
      'path' in asset
        ? await storage.put(
            place,
            { path: asset.path },
            { contentType: asset.mediaType, signal, onProgress: (bytes) => at('storing', bytes) },
          )
        : await storage.copy(asset.object, place, signal)
    const file = {
      id: newId(),
      key: asset.key,
      title: asset.title,
      mediaType: asset.mediaType,
      roles: asset.roles,
      bucket,
      objectKey: place.key,
      fileSizeBytes: size,
      sha256: sha256 === null ? null : Buffer.from(sha256, 'hex'),
      bandNames: null,
      raster: null,
    }
    const isCategorical = asset.isCategorical ?? false
    if (!isRaster) return { file, info: null, place: null, isCategorical }
    at('inspecting', size)
    const info = await raster.describe({ object: place }, signal)
    if (!isCloudOptimized(info)) throw problem('unreadable-raster', `The output '${asset.key}' is not a cloud-optimized GeoTIFF`)
    const { outline, statistics } = await raster.inspect({ object: place }, signal)
    const bandNames = asset.bandNames?.length === info.bandCount ? asset.bandNames : bandNamesOf(info)
    return {
      file: {
        ...file,
        bandNames,
        raster: { ...rasterFacts(info, statistics, isCategorical), ...(asset.stac ? { stac: asset.stac } : {}) },
      },
      info,
      place: placeOf(outline),
      isCategorical,
    }
  } catch (error) {
    await discard(context, [place])
    throw error
  }
}

/** Returns null if another run has ended the job; the caller then discards the files. */
export async function registerOutputs(
  change: Change,
  run: runs.Run,
  stored: readonly StoredItem[],
  about: {
    title: string
    summary?: Readonly<Record<string, unknown>> | undefined
    /** Source rasters of a local run. */
    sources?: readonly OpenSource[]
  },
): Promise<jobs.Job | null> {
  const { tx, clock, lineage, events } = change
  const { organizationId, projectId } = run
  const now = clock.now()
  await projects.lock(tx, projectId)
  if (run.targetCollectionId) await collections.lock(tx, projectId, run.targetCollectionId)
  const settled = await jobs.lock(tx, run.id)
  if (settled.status !== 'running' || settled.runId !== run.runId) return null
  await storageAccounts.settle(tx, organizationId, { reserved: settled.reservedBytes, stored: sizeOf(stored) })
  const collectionIds = await collectionsFor(change, run, stored)
  const warnings = stored.map((output) => positionWarning(output, about.sources ?? []))
  const inserted = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy: run.createdBy, now },
    stored.map((output, index) => ({
      ...toItem(output, run, about.title, warnings[index]!, now),
      collectionId: collectionIds[index]!,
    })),
  )
  for (const [index, { assets, output }] of stored.entries()) {
    const created = inserted[index]!
    await insertDefaultStyle(change, run, { seq: created.seq, assets, output })
    lineage.record('item', created.id, 'produced_by', { kind: 'processing_job', id: run.id }, projectId)
    for (const { file } of assets) lineage.record('asset', file.id, 'produced_by', { kind: 'processing_job', id: run.id }, projectId)
    for (const id of run.sourceItemIds) lineage.record('item', created.id, 'derived_from', { kind: 'item', id }, projectId)
    events.emit('item.created', created.id, items.summary(created))
  }
  const captured = await spending.capture(change, organizationId, jobs.referenceOf(run))
  const outcome = {
    capturedCredits: captured?.capturedCredits ?? 0,
    outputItemIds: inserted.map(({ id }) => id),
    outputArtifacts: { items: stored.map(artifactOf), ...warningsOf(warnings), ...about.summary },
  }
  const completed = (await runs.complete(tx, run, outcome, now))!
  await clearParts(change, run)
  events.emit('job.completed', run.id, { ...jobs.summary(completed, 'running'), output_item_ids: outcome.outputItemIds })
  events.emit('job.captured', run.id, { ...jobs.summary(completed, 'running'), captured_credits: outcome.capturedCredits })
  return completed
}

/** A warning if the coordinate conversion from a source may shift positions by more than a pixel; else null. */
function positionWarning({ assets }: StoredItem, sources: readonly OpenSource[]): string | null {
  const info = assets.find((asset) => asset.info !== null)?.info
  if (!info?.crs || !info.transform) return null
  const pixelM = groundSampleDistance(info)
  for (const source of sources) {
    const warning = source.info.crs && conversionWarning(source.info.crs, info.crs, pixelM)
    if (warning) return warning
  }
  return null
}

function warningsOf(warnings: readonly (string | null)[]): { warnings?: string[] } {
  const texts = [...new Set(warnings.filter((warning) => warning !== null))]
  return texts.length === 0 ? {} : { warnings: texts }
}

/** The collection of each item: the caller's, or the default for its kind. */
async function collectionsFor({ tx, clock, events }: Change, run: runs.Run, stored: readonly StoredItem[]): Promise<(string | null)[]> {
  const owner = { organizationId: run.organizationId, projectId: run.projectId, createdBy: run.createdBy, now: clock.now() }
  const ids: (string | null)[] = []
  for (const { output } of stored) {
    if (run.targetCollectionId || !output.defaultCollection) ids.push(run.targetCollectionId)
    else {
      const { collection, isNew } = await collections.openSystem(tx, owner, output.defaultCollection)
      if (isNew) events.emit('collection.created', collection.id, collections.summary(collection))
      ids.push(collection.id)
    }
  }
  return ids
}

const sizeOf = (stored: readonly StoredItem[]): number =>
  stored.reduce((sum, { assets }) => sum + assets.reduce((bytes, { file }) => bytes + file.fileSizeBytes, 0), 0)

/** An item in the job's record, with its files. */
const artifactOf = ({ id, output, assets }: StoredItem) => ({
  item_id: id,
  name: output.name,
  assets: assets.map(({ file }) => ({ asset_id: file.id, key: file.key, media_type: file.mediaType, size_bytes: file.fileSizeBytes })),
})

async function insertDefaultStyle(
  { tx, clock }: Change,
  { organizationId, createdBy }: runs.Run,
  { seq, assets, output }: { seq: number; assets: readonly StoredAsset[]; output: OutputItem },
): Promise<void> {
  const raster = assets.find(({ info }) => info !== null)
  if (!raster || (!output.style && isStack(assets))) return
  const style = output.style ?? initialProfile(raster.info!, raster.file.bandNames!, raster.isCategorical)
  const key = raster.file.key
  await visualizationProfiles.insertDefault(
    tx,
    { organizationId, itemSeq: seq, createdBy, now: clock.now() },
    style,
    key === 'data' ? null : key,
  )
}

/** Bands in several files have no style of one file: the layer's own follows from all of them. */
const isStack = (assets: readonly StoredAsset[]): boolean =>
  assets.every(({ file }) => file.key !== 'data') && assets.filter(({ info }) => info?.bandCount === 1).length > 1

function toItem({ id, output, assets }: StoredItem, run: runs.Run, title: string, warning: string | null, now: Date): itemWrite.NewItem {
  const raster = assets.find(({ info }) => info !== null)
  const place = raster?.place ?? itemPlaces.placeOf(output.geometry as Parameters<typeof itemPlaces.placeOf>[0], null)
  return {
    ...place,
    id,
    collectionId: run.targetCollectionId,
    stacId: output.stacId ?? id,
    type: output.type,
    name: displayName(output.name),
    description: output.description ?? null,
    datetime: output.datetime ?? null,
    startDatetime: output.startDatetime ?? null,
    endDatetime: output.endDatetime ?? null,
    cloudCover: output.cloudCover ?? null,
    gsd: raster ? groundSampleDistance(raster.info!) : null,
    properties: {
      ...(raster ? projectionOf(raster.info!) : {}),
      'processing:lineage': title,
      'processing:datetime': now.toISOString(),
      ...(warning === null ? {} : { position_note: warning }),
      ...output.properties,
    },
    stacExtensions: raster ? [PROJECTION_EXTENSION, PROCESSING_EXTENSION] : [PROCESSING_EXTENSION],
    orderId: null,
    uploadId: null,
    jobId: run.id,
    assets: assets.map(({ file }) => file),
  }
}
