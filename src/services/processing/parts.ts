/**
 * One computation on many machines, of a job or of the conversion of an upload. Its run divides the rows of the outputs into parts,
 * which any worker claims, itself included; every part is a file in the object store. When all are done, the run joins them to the
 * files that it would have computed alone, byte for byte, and continues: price, items and lineage know nothing of parts. Many
 * computations that do not depend on each other are divided as they are, and need not be joined.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { problem } from '#core/problem.ts'
import type { Change, Tasks } from '#effects.ts'
import * as parts from '#model/processing/part.ts'
import { runPartTask } from '#model/processing/tasks.ts'
import type { RasterSource } from '#ports/raster.ts'
import { unpackHeaders } from '#raster/process/late.ts'
import { unpackSpec, type PlannedRaster } from '#raster/process/parts.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { PartFailure } from './failure.ts'
import {
  inSlot,
  levelsOf,
  POLL_MS,
  workOn,
  type ListResult,
  type ListStep,
  type PartResult,
  type PartServices,
  type RowStep,
  type StepRequest,
} from './part-work.ts'
import type { Computed, ComputedAnywhere } from './process.ts'
import { partPrefix } from './worker-files.ts'

export type StepServices = PartServices & { tasks(tx: Change['tx']): Tasks }

/** Methods whose rows do not depend on what was computed for other rows of their output. */
const DIVISIBLE: ReadonlySet<string> = new Set([
  'cloudClasses',
  'clouds',
  'composite',
  'convert',
  'expression',
  'mosaic',
  'rewrite',
  'warp',
])
/** Results of parts that are added up; others are the same for all parts. */
const COUNTED: ReadonlySet<string> = new Set(['clearPixels', 'cloudPixels', 'pixelsOfScenes', 'pixelsWithoutData'])
const MAX_PARTS = 128
/** More workers than this join a computation when they next look for work. */
const MAX_TASKS = 64
/** The rest is joining the parts. */
const PARTS_SHARE = 0.95

/** What is divided: a job, or the file of an upload. */
interface Divided {
  readonly organizationId: string
  readonly id: string
  /** Where its parts are stored. */
  readonly bucket: string
}

interface Division {
  of(): Promise<Divided>
  /** Number of the computation within its job. */
  readonly step: number
  /** Parts to make, if the rows allow. */
  readonly count: number
  onProgress(stage: string, fraction: number): void
}

/** How many parts so many samples are divided into; 1 for none. */
export const partsOf = (samples: number, partSamples: number): number =>
  partSamples === 0 ? 1 : Math.max(1, Math.min(MAX_PARTS, Math.floor(samples / partSamples)))

/** Computes in parts; null if the rows cannot be divided. The caller removes the files. */
export async function computeInParts(
  services: StepServices,
  request: StepRequest,
  { of, step, count, onProgress }: Division,
): Promise<(Computed & { remove(): Promise<void> }) | null> {
  const { raster, signal } = services
  if (count < 2 || !DIVISIBLE.has(request.method)) return null
  const { rasters, headers } = await raster.planProcess({ ...request, signal })
  const ranges = rangesOf(rasters, count)
  if (ranges.length < 2) return null
  const { organizationId, id, bucket } = await of()
  const key = { organizationId, jobId: id, step }
  const sources = await sharedSources(services, { bucket, prefix: `${partPrefix(id)}${step}-input` }, request.sources)
  const compression = request.compression ?? raster.compression
  const stored: RowStep = { ...request, ...(headers === null ? {} : { headers }), sources, compression, bucket, rasters }
  const hasOverviews = rasters.some(({ levels }) => levels > 0)
  // The same headers and specifications are not always packed into the same bytes.
  const identity = {
    ...stored,
    headers: headers === null ? null : unpackHeaders(headers),
    rasters: rasters.map((each) => ({ ...each, spec: unpackSpec(each.spec) })),
  }
  await open(services, key, { request: stored, identity }, [
    { phase: 0, rows: ranges },
    ...(hasOverviews ? [{ phase: 1 as const, rows: ranges }] : []),
  ])
  await untilDone(services, key, onProgress)
  return await join(services, key, stored, ranges.length, hasOverviews)
}

/** Many computations that do not depend on each other, some in each part; null if there are too few. The job's end removes the files. */
export async function computeListInParts(
  services: StepServices,
  requests: readonly StepRequest[],
  { of, step, count, onProgress }: Division,
): Promise<ComputedAnywhere[] | null> {
  const partCount = Math.min(count, requests.length)
  if (partCount < 2) return null
  const { organizationId, id, bucket } = await of()
  const key = { organizationId, jobId: id, step }
  const shared: StepRequest[] = []
  for (const [index, request] of requests.entries()) {
    const sources = await sharedSources(services, { bucket, prefix: `${partPrefix(id)}${step}-input-${index}` }, request.sources)
    shared.push({ ...request, sources, compression: request.compression ?? services.raster.compression })
  }
  const bound = (n: number) => Math.round((n * requests.length) / partCount)
  const rows = Array.from({ length: partCount }, (_, n) => ({ from: bound(n), to: bound(n + 1) }))
  const request: ListStep = { bucket, requests: shared }
  await open(services, key, { request }, [{ phase: 0, rows }])
  await untilDone(services, key, onProgress)
  const results = await parts.results<ListResult>(services.db, key, 0)
  return results.flatMap(({ each }) =>
    each.map(({ files, result }) => ({
      files: Object.fromEntries(Object.entries(files).map(([name, objectKey]) => [name, { object: { bucket, key: objectKey } }])),
      result,
    })),
  )
}

/** Stores the parts and calls for help. */
async function open(
  { db, clock, tasks }: StepServices,
  key: parts.StepKey,
  step: { readonly request: RowStep | ListStep; readonly identity?: object },
  phases: readonly { phase: 0 | 1; rows: readonly parts.Rows[] }[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await parts.open(tx, key, step, phases, clock.now())
    for (let n = 0; n < Math.min(phases[0]!.rows.length, MAX_TASKS); n++) await tasks(tx).enqueue(runPartTask, { job_id: key.jobId })
  })
}

/** Equal ranges of rows, which begin at whole blocks of every raster and its first overviews. */
function rangesOf(rasters: readonly PlannedRaster[], count: number): parts.Rows[] {
  const [first] = rasters
  if (!first || count < 2 || rasters.some(({ height }) => height !== first.height)) return []
  const { height } = first
  const unit = Math.max(...rasters.map(({ unitRows }) => unitRows))
  const rows = unit * Math.max(1, Math.floor(height / count / unit))
  const ranges: parts.Rows[] = []
  for (let from = 0; from < height; from += rows) ranges.push({ from, to: Math.min(height, from + rows) })
  return ranges
}

/** Files that this run has computed before are local; other machines read them from the store. */
async function sharedSources(
  { storage, signal }: PartServices,
  { bucket, prefix }: { bucket: string; prefix: string },
  sources: readonly RasterSource[],
): Promise<RasterSource[]> {
  const shared: RasterSource[] = []
  for (const [index, source] of sources.entries()) {
    if (!('path' in source)) shared.push(source)
    else {
      const object = { bucket, key: `${prefix}-${index}.tif` }
      await storage.put(object, { path: source.path }, { contentType: COG_TYPE, signal })
      shared.push({ object })
    }
  }
  return shared
}

/** Works on the parts of a job until all are done. */
async function untilDone(services: PartServices, key: parts.StepKey, onProgress: Division['onProgress']): Promise<void> {
  const { db, clock, signal } = services
  for (;;) {
    signal.throwIfAborted()
    const { done, total, error, isInternal } = await parts.progress(db, key)
    if (error !== null) throw isInternal ? new PartFailure(error) : problem('bad-request', error)
    onProgress(`${done} of ${total} parts`, (PARTS_SHARE * done) / Math.max(1, total))
    if (total > 0 && done === total) return
    const isBusy = await inSlot(services.raster, async () => {
      const part = await parts.claim(db, clock.now(), key.jobId)
      if (part) await workOn(services, part)
      return part !== null
    })
    if (!isBusy) await sleep(POLL_MS, undefined, { signal })
  }
}

/** Joins all parts of each output to one local file. */
async function join(
  { db, raster, signal }: PartServices,
  key: parts.StepKey,
  { bucket, outputs, rasters }: RowStep,
  count: number,
  hasOverviews: boolean,
): Promise<Computed & { remove(): Promise<void> }> {
  const rowResults = await parts.results<PartResult>(db, key, 0)
  const overviews = hasOverviews ? await parts.results<PartResult>(db, key, 1) : []
  const removals: (() => Promise<void>)[] = []
  const remove = async () => void (await Promise.all(removals.map((each) => each())))
  const files: Record<string, { path: string; size: number }> = {}
  try {
    for (const [index, output] of outputs.entries()) {
      const { spec, levels } = rasters[index]!
      const keys = [
        ...rowResults.map((each) => each.files[output]!),
        ...levelsOf(levels).flatMap((name) => overviews.map((each) => each.files[`${output}-${name}`]!)),
      ]
      const joined = await raster.process({
        method: 'assemble',
        sources: keys.map((each) => ({ object: { bucket, key: each } })),
        options: { spec, parts: count, levels },
        outputs: ['data.tif'],
        signal,
      })
      removals.push(() => joined.remove())
      files[output] = joined.files['data.tif']!
    }
    return { files, result: merged(rowResults.map(({ result }) => result)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Counts of pixels are added up. */
function merged(results: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(results[0]!).map(([name, first]) => {
      if (!COUNTED.has(name)) return [name, first]
      const values = results.map((result) => result[name] as number | number[])
      return [name, values.reduce(added)]
    }),
  )
}

const added = (a: number | number[], b: number | number[]): number | number[] =>
  Array.isArray(a) ? a.map((value, index) => value + (b as number[])[index]!) : a + (b as number)

/** Removes the files of all parts of a job or a conversion that has ended. */
export const removePartFiles = async (services: Pick<PartServices, 'storage' | 'signal'>, bucket: string, id: string): Promise<void> =>
  await removeFiles(services, bucket, partPrefix(id))

export async function removeFiles(
  { storage, signal }: Pick<PartServices, 'storage' | 'signal'>,
  bucket: string,
  prefix: string,
): Promise<void> {
  for (let cursor: string | null = null; ;) {
    const { objects, next } = await storage.list(bucket, { prefix, cursor, signal })
    for (const { key } of objects) await storage.remove({ bucket, key })
    if (next === null) return
    cursor = next
  }
}
