/**
 * What a job made becomes items, or nothing does. The files are stored first, at keys that nobody knows; then one
 * transaction registers the items with their assets, looks and lineage, completes the job and captures its price. Files of
 * a run that came too late, or whose registration failed, are removed again; what even that misses is the sweep's.
 */
import { stat } from 'node:fs/promises'
import { displayName } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as itemPlaces from '#model/imagery/item-place.ts'
import * as item from '#model/imagery/item-read.ts'
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
import { bandNamesOf, firstLook, groundSampleDistance, rasterFacts } from '#raster/ingest/facts.ts'
import { isCloudOptimized } from '#raster/ingest/inspect.ts'
import type { RasterInfo } from '#raster/types.ts'
import { discard, newKey, placeOf } from '#services/ingest/intake.ts'
import type { OpenSource, ProducedAsset, ProducedItem } from './process.ts'

type Means = Pick<Context, 'storage' | 'raster' | 'signal'>

/** A file on this machine, or one that a worker from outside has put into the store. */
export type OutputAsset = Omit<ProducedAsset, 'path'> & ({ readonly path: string } | { readonly object: ObjectRef })
export type OutputItem = Omit<ProducedItem, 'assets'> & { readonly assets: readonly OutputAsset[] }

const PROJECTION_EXTENSION = 'https://stac-extensions.github.io/projection/v1.1.0/schema.json'
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
  /** Of rasters. */
  info: RasterInfo | null
  place: itemPlaces.Place | null
  isCategorical: boolean
}

export interface StoredItem {
  id: string
  made: OutputItem
  assets: StoredAsset[]
}

/** Told what is being done, and how far the whole of it is, from 0 to 1. */
type Report = (stage: 'storing' | 'inspecting', fraction: number) => void

/** Stores every file and looks at it. What fails leaves nothing behind. */
export async function storeOutputs(
  means: Means,
  bucket: string,
  items: readonly OutputItem[],
  report: Report = () => {},
): Promise<StoredItem[]> {
  const stored: StoredItem[] = []
  try {
    const total = await bytesOf(items)
    let before = 0
    for (const made of items) {
      const one: StoredItem = { id: newId(), made, assets: [] }
      stored.push(one)
      for (const asset of made.assets) {
        const at = (stage: Parameters<Report>[0], bytes: number) => report(stage, Math.min(1, (before + bytes) / total))
        const kept = await storeAsset(means, bucket, asset, at)
        one.assets.push(kept)
        before += kept.file.fileSizeBytes
      }
    }
    return stored
  } catch (error) {
    await discardOutputs(means, stored)
    throw error
  }
}

export async function discardOutputs({ storage }: Pick<Means, 'storage'>, stored: readonly StoredItem[]): Promise<void> {
  await discard(
    { storage },
    stored.flatMap(({ assets }) => assets.map(({ file }) => ({ bucket: file.bucket, key: file.objectKey }))),
  )
}

/** Of the files of this machine; those in the store are copied there, which tells nothing on its way. At least one, to divide by. */
async function bytesOf(items: readonly OutputItem[]): Promise<number> {
  const paths = items.flatMap(({ assets }) => assets.flatMap((asset) => ('path' in asset ? [asset.path] : [])))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  )
}

async function storeAsset(
  means: Means,
  bucket: string,
  asset: OutputAsset,
  at: (stage: Parameters<Report>[0], bytes: number) => void,
): Promise<StoredAsset> {
  const { storage, raster, signal } = means
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
    await discard(means, [place])
    throw error
  }
}

/** Null: another run has ended the job, and what this one stored is for nobody. */
export async function registerOutputs(
  change: Change,
  run: runs.Run,
  stored: readonly StoredItem[],
  about: {
    title: string
    summary?: Readonly<Record<string, unknown>> | undefined
    /** The rasters that it was made of, where they were read on this machine. */
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
  const homes = await homesOf(change, run, stored)
  const warnings = stored.map((one) => positionWarning(one, about.sources ?? []))
  const made = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy: run.createdBy, now },
    stored.map((one, index) => ({ ...toItem(one, run, about.title, warnings[index]!, now), collectionId: homes[index]! })),
  )
  for (const [index, { assets, made: wanted }] of stored.entries()) {
    const stands = made[index]!
    await show(change, run, { seq: stands.seq, assets, wanted })
    lineage.record('item', stands.id, 'produced_by', { kind: 'processing_job', id: run.id }, projectId)
    for (const { file } of assets) lineage.record('asset', file.id, 'produced_by', { kind: 'processing_job', id: run.id }, projectId)
    for (const id of run.sourceItemIds) lineage.record('item', stands.id, 'derived_from', { kind: 'item', id }, projectId)
    events.emit('item.created', stands.id, item.summary(stands))
  }
  const captured = await spending.capture(change, organizationId, jobs.referenceOf(run))
  const outcome = {
    capturedCredits: captured?.capturedCredits ?? 0,
    outputItemIds: made.map(({ id }) => id),
    outputArtifacts: { items: stored.map(artifactOf), ...warningsOf(warnings), ...about.summary },
  }
  const completed = (await runs.complete(tx, run, outcome, now))!
  events.emit('job.completed', run.id, { ...jobs.summary(completed, 'running'), output_item_ids: outcome.outputItemIds })
  events.emit('job.captured', run.id, { ...jobs.summary(completed, 'running'), captured_credits: outcome.capturedCredits })
  return completed
}

/** Why positions may be off by more than a pixel because the raster is not in the coordinates of its sources; else null. */
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

/** The collection of each item: the one that the caller named, or its own kind's. */
async function homesOf({ tx, clock, events }: Change, run: runs.Run, stored: readonly StoredItem[]): Promise<(string | null)[]> {
  const owner = { organizationId: run.organizationId, projectId: run.projectId, createdBy: run.createdBy, now: clock.now() }
  const homes: (string | null)[] = []
  for (const { made } of stored) {
    if (run.targetCollectionId || !made.home) homes.push(run.targetCollectionId)
    else {
      const { collection: home, isNew } = await collections.openSystem(tx, owner, made.home)
      if (isNew) events.emit('collection.created', home.id, collections.summary(home))
      homes.push(home.id)
    }
  }
  return homes
}

const sizeOf = (stored: readonly StoredItem[]): number =>
  stored.reduce((sum, { assets }) => sum + assets.reduce((bytes, { file }) => bytes + file.fileSizeBytes, 0), 0)

/** What the job's record says of an item: enough to find each file. */
const artifactOf = ({ id, made, assets }: StoredItem) => ({
  item_id: id,
  name: made.name,
  assets: assets.map(({ file }) => ({ asset_id: file.id, key: file.key, media_type: file.mediaType, size_bytes: file.fileSizeBytes })),
})

async function show(
  { tx, clock }: Change,
  { organizationId, createdBy }: runs.Run,
  { seq, assets, wanted }: { seq: number; assets: readonly StoredAsset[]; wanted: OutputItem },
): Promise<void> {
  const shown = assets.find(({ info }) => info !== null)
  if (!shown) return
  const look = wanted.look ?? firstLook(shown.info!, shown.file.bandNames!, shown.isCategorical)
  const key = shown.file.key
  await visualizationProfiles.insertDefault(
    tx,
    { organizationId, itemSeq: seq, createdBy, now: clock.now() },
    look,
    key === 'data' ? null : key,
  )
}

function toItem({ id, made, assets }: StoredItem, run: runs.Run, title: string, warning: string | null, now: Date): itemWrite.NewItem {
  const shown = assets.find(({ info }) => info !== null)
  const place = shown?.place ?? itemPlaces.placeOf(made.geometry as Parameters<typeof itemPlaces.placeOf>[0], null)
  return {
    ...place,
    id,
    collectionId: run.targetCollectionId,
    stacId: id,
    type: made.type,
    name: displayName(made.name),
    description: made.description ?? null,
    datetime: made.datetime ?? null,
    startDatetime: made.startDatetime ?? null,
    endDatetime: made.endDatetime ?? null,
    cloudCover: made.cloudCover ?? null,
    gsd: shown ? groundSampleDistance(shown.info!) : null,
    properties: {
      ...(shown ? placed(shown.info!) : {}),
      'processing:lineage': title,
      'processing:datetime': now.toISOString(),
      ...(warning === null ? {} : { position_note: warning }),
      ...made.properties,
    },
    stacExtensions: shown ? [PROJECTION_EXTENSION, PROCESSING_EXTENSION] : [PROCESSING_EXTENSION],
    orderId: null,
    uploadId: null,
    jobId: run.id,
    assets: assets.map(({ file }) => file),
  }
}

function placed(info: RasterInfo): Record<string, unknown> {
  const [a, b, c, d, e, f] = info.transform!
  return { 'proj:epsg': info.crs?.epsg ?? null, 'proj:shape': [info.height, info.width], 'proj:transform': [b, c, a, e, f, d] }
}
