import { startHeartbeat, type Heartbeat } from '#core/heartbeat.ts'
import { isDeepStrictEqual } from 'node:util'
import { Problem, problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import { convertUploadTask } from '#model/imagery/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import * as assets from '#model/imagery/asset.ts'
import * as assetFiles from '#model/imagery/asset-file.ts'
import type { Place } from '#model/imagery/item-place.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import { softDelete } from '#model/imagery/item-delete.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as parts from '#model/processing/part.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import type { RasterInfo } from '#raster/types.ts'
import { rasterFacts } from '#raster/ingest/facts.ts'
import { extentOutline } from '#raster/ingest/outline.ts'
import { refusalOf } from '#raster/ingest/refusal.ts'
import { COG_TYPE, newKey, placeOf } from '#services/ingest/intake.ts'
import { removePartFiles, computeInParts, partsOf } from '#services/processing/parts.ts'

/** Overall progress when storing and describing start. */
const STORE_FROM = 0.9
const DESCRIBE_FROM = 0.97
const ITEM_DELETED = 'The item was deleted before the file was converted'

type Run = uploadFiles.UploadFile & { runId: string }

/** Converts an uploaded GeoTIFF to a COG, a large one on all workers, and replaces the asset's file, or deletes the asset. */
export default task({
  ...convertUploadTask,
  events: ['item.updated', 'item.deleted', 'asset.deleted'],
  concurrency: 4,
  timeoutSeconds: 4 * 3_600,
}).handle(async (context, { file_id }) => {
  const run = await uploadFiles.claim(context.db, file_id, context.clock.now())
  if (!run) return
  const session = await uploads.get(context.db, run.uploadId)
  const source = { bucket: session.bucket, key: run.sourceKey! }
  const heartbeat = startHeartbeat({
    signal: context.signal,
    firstStep: 'convert',
    beat: (progress) => uploadFiles.heartbeat(context.db, run, progress, context.clock.now()),
  })
  let isSettled = false
  try {
    isSettled = await convert({ ...context, signal: heartbeat.signal }, { session, run, source }, heartbeat.at)
  } catch (error) {
    const reason =
      error instanceof Problem
        ? error.message
        : (refusalOf(error) ??
          (run.attempts >= uploadFiles.MAX_ATTEMPTS
            ? `The file could not be converted in ${run.attempts} attempts because of an internal error. Upload it again`
            : null))
    if (reason === null) {
      await heartbeat.stop()
      await uploadFiles.release(context.db, run, context.clock.now())
      throw error
    }
    isSettled = await deleteAssets(context, { session, run, source }, { step: heartbeat.step(), error: reason })
  } finally {
    await heartbeat.stop()
  }
  if (!isSettled) return // Another run still needs it.
  await context.storage.remove(source)
  await removePartFiles(context, session.bucket, run.id)
})

interface Conversion {
  session: uploads.Upload
  run: Run
  source: { bucket: string; key: string }
}

async function convert(context: TaskContext, { session, run, source }: Conversion, at: Heartbeat['at']): Promise<boolean> {
  const { db, raster, storage, signal, change, clock } = context
  if ((await assetFiles.referencesTo(db, { bucket: source.bucket, objectKey: source.key })).length === 0)
    throw problem('bad-request', ITEM_DELETED)
  const converted = await toCog(context, { session, run, source }, (fraction) => at('convert', fraction * STORE_FROM))
  const target = { bucket: source.bucket, key: newKey(run.name) }
  let outcome: 'replaced' | 'gone' | 'overtaken' = 'overtaken'
  try {
    at('store', STORE_FROM)
    const { size, sha256 } = await storage.put(target, { path: converted.path }, { contentType: COG_TYPE, signal })
    at('describe', DESCRIBE_FROM)
    const written = await raster.describe({ object: target }, signal)
    // The converted file no longer says that the caller positioned it.
    const info = run.position ? { ...written, placedBy: 'caller' as const } : written
    const { outline, statistics } = await raster.inspect({ object: target }, signal)
    const file = {
      bucket: target.bucket,
      objectKey: target.key,
      fileSizeBytes: size,
      sha256: Buffer.from(sha256, 'hex'),
      mediaType: COG_TYPE,
      raster: rasterFacts(info, statistics, session.isCategorical),
    }
    const places = { before: placeOf(extentOutline(info)).geometry, after: placeOf(outline).geometry }
    outcome = await change(session.organizationId, (change) =>
      replace(change, { session, run, source }, { file, places, now: clock.now() }),
    )
  } finally {
    await converted.remove()
    if (outcome !== 'replaced') await storage.remove(target).catch(() => {}) // Otherwise the sweep removes it.
  }
  return outcome !== 'overtaken'
}

/** The COG as a local file: of a large upload computed by all workers, otherwise here. The bytes are the same. */
async function toCog(context: TaskContext, { session, run, source }: Conversion, onProgress: (fraction: number) => void) {
  const { raster, signal, jobPartSamples } = context
  const position = run.position ?? undefined
  const count = jobPartSamples === 0 ? 1 : partCountOf(await raster.describe({ object: source }, signal), jobPartSamples)
  const options = { isCategorical: session.isCategorical, ...(position ? { position } : {}) }
  const inParts = await computeInParts(
    context,
    { method: 'rewrite', sources: [{ object: source }], options, outputs: ['data.tif'] },
    {
      of: async () => ({ organizationId: session.organizationId, id: run.id, bucket: session.bucket }),
      step: 0,
      count,
      onProgress: (_stage, fraction) => onProgress(fraction),
    },
  )
  if (inParts) return { path: inParts.files['data.tif']!.path, remove: () => inParts.remove() }
  return await raster.convert({ object: source }, { isCategorical: session.isCategorical, position, signal, onProgress })
}

/** Samples are read and written. Each part decodes the blocks that it begins and ends in, so parts are no lower than a block. */
function partCountOf({ width, height, bandCount, levels }: RasterInfo, jobPartSamples: number): number {
  const blockRows = Math.max(1, Math.floor(height / (levels[0]?.blockHeight ?? 1)))
  return Math.min(blockRows, partsOf(2 * width * height * bandCount, jobPartSamples))
}

interface Outcome {
  file: assetFiles.ReplacingFile
  /** Footprints of the image and of its valid data. */
  places: { before: Place['geometry']; after: Place['geometry'] }
  now: Date
}

async function replace(
  { tx, events }: Change,
  { session, run, source }: Conversion,
  { file, places, now }: Outcome,
): Promise<'replaced' | 'gone' | 'overtaken'> {
  const { pointing, items: itemsBySeq } = await assetFiles.lockReferences(tx, { bucket: source.bucket, objectKey: source.key })
  const isGone = pointing.length === 0
  if (!(await uploadFiles.finish(tx, run, isGone ? { step: 'convert', error: ITEM_DELETED } : { sizeBytes: file.fileSizeBytes }, now)))
    return 'overtaken'
  await parts.remove(tx, { organizationId: session.organizationId, id: run.id })
  if (isGone) return 'gone'
  await storageAccounts.requireFreeBytes(
    tx,
    session.organizationId,
    pointing.reduce((sum, { fileSizeBytes }) => sum + Math.max(0, file.fileSizeBytes - fileSizeBytes), 0),
  )
  await assetFiles.replaceFile(tx, pointing, file, now)
  for (const held of itemsBySeq.values()) {
    const isOurs =
      session.targetItemId === null && isDeepStrictEqual(held.geometry, places.before) && !isDeepStrictEqual(places.before, places.after)
    const current = isOurs ? (await itemWrite.update(tx, held.seq, { geometry: places.after }, now)).item : held
    events.emit('item.updated', held.id, {
      ...items.summary(current),
      changed_fields: isOurs ? ['assets', 'geometry', 'bbox'] : ['assets'],
    })
  }
  return 'replaced'
}

/** Deletes the assets of a file that cannot be converted, and items without other assets, and frees their storage. */
async function deleteAssets(
  { change, clock }: TaskContext,
  { session, run, source }: Conversion,
  outcome: { step: string; error: string },
): Promise<boolean> {
  const now = clock.now()
  return await change(session.organizationId, async ({ tx, events }) => {
    const { pointing, items: itemsBySeq } = await assetFiles.lockReferences(tx, { bucket: source.bucket, objectKey: source.key })
    if (!(await uploadFiles.finish(tx, run, outcome, now))) return false
    await parts.remove(tx, { organizationId: session.organizationId, id: run.id })
    if (pointing.length > 0) await uploads.failFile(tx, session.id, { step: outcome.step, message: `${run.name}: ${outcome.error}` }, now)
    for (const pointer of pointing) {
      const held = itemsBySeq.get(pointer.itemSeq)!
      if ((await assets.list(tx, held.seq)).length === 1) {
        const deleted = await softDelete(tx, held.seq, now, { evenArchived: true })
        events.emit('item.deleted', held.id, { ...items.summary(deleted.item, deleted.previousState), deleted_at: now.toISOString() })
      } else {
        await assetFiles.discard(tx, pointer, now)
        events.emit('asset.deleted', pointer.id, {
          id: pointer.id,
          item_id: held.id,
          project_id: pointer.projectId,
          key: pointer.key,
          file_size_bytes: pointer.fileSizeBytes,
        })
      }
    }
    return true
  })
}
