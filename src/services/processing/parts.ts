/**
 * One computation of a job on many machines. The run of the job divides the rows of its outputs into parts, which any worker claims,
 * itself included; every part is a file in the object store. When all are done, the run joins them to the files that it would have
 * computed alone, byte for byte, and continues: price, items and lineage know nothing of parts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startHeartbeat } from '#core/heartbeat.ts'
import { SERVICE } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import type { Change, Tasks } from '#effects.ts'
import * as projects from '#model/identity/project.ts'
import * as parts from '#model/processing/part.ts'
import type { Run } from '#model/processing/run.ts'
import { runPartTask } from '#model/processing/tasks.ts'
import type { Context } from '#operation.ts'
import type { ProcessRequest, RasterService, RasterSource } from '#ports/raster.ts'
import type { ObjectRef } from '#ports/storage.ts'
import { levelFile, type PlannedRaster } from '#raster/process/parts.ts'
import { COG_TYPE, discard } from '#services/ingest/intake.ts'
import { lastReason, reasonOf } from './failure.ts'
import type { Computed } from './process.ts'
import { partPrefix } from './worker-files.ts'

type PartServices = Pick<Context, 'db' | 'clock' | 'raster' | 'storage' | 'signal' | 'operatorLog'>
export type StepServices = PartServices & { tasks(tx: Change['tx']): Tasks }
type StepRequest = Omit<ProcessRequest, 'onProgress' | 'signal' | 'part'>

/** Methods whose rows do not depend on other rows of their output. */
const DIVISIBLE: ReadonlySet<string> = new Set(['composite', 'convert', 'expression', 'mosaic', 'warp'])
/** Results of parts that are added up; others are the same for all parts. */
const COUNTED: ReadonlySet<string> = new Set(['pixelsOfScenes', 'pixelsWithoutData'])
const MAX_PARTS = 128
/** More workers than this join a job when they next look for work. */
const MAX_TASKS = 64
const POLL_MS = 500
/** The rest is joining the parts. */
const PARTS_SHARE = 0.95

/** What the workers know of a computation. */
interface Step extends StepRequest {
  readonly bucket: string
  readonly rasters: readonly PlannedRaster[]
}

interface PartResult {
  /** Keys of the files by name: outputs at full resolution, or their overviews. */
  readonly files: Readonly<Record<string, string>>
  readonly result: Readonly<Record<string, unknown>>
}

interface Division {
  readonly run: Run
  /** Number of the computation within its job. */
  readonly step: number
  /** Parts to make, if the rows allow. */
  readonly count: number
  onProgress(stage: string, fraction: number): void
}

/** How many parts a job is divided into; 1 for none. */
export function partsOf(method: string, samples: () => number, partSamples: number): number {
  if (partSamples === 0 || !DIVISIBLE.has(method)) return 1
  return Math.min(MAX_PARTS, Math.floor(samples() / partSamples))
}

/** Computes in parts; null if the rows cannot be divided. The caller removes the files. */
export async function computeInParts(
  services: StepServices,
  request: StepRequest,
  { run, step, count, onProgress }: Division,
): Promise<(Computed & { remove(): Promise<void> }) | null> {
  const { db, raster, clock, signal } = services
  const { rasters, headers } = await raster.planProcess({ ...request, signal })
  const ranges = rangesOf(rasters, count)
  if (ranges.length < 2) return null
  const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: run.organizationId }, run.projectId)
  const key = { organizationId: run.organizationId, jobId: run.id, step }
  const sources = await sharedSources(services, { bucket: bucketName!, jobId: run.id, step }, request.sources)
  const compression = request.compression ?? raster.compression
  const stored: Step = { ...request, ...(headers === null ? {} : { headers }), sources, compression, bucket: bucketName!, rasters }
  const hasOverviews = rasters.some(({ levels }) => levels > 0)
  await db.transaction().execute(async (tx) => {
    const phases = [{ phase: 0 as const, rows: ranges }, ...(hasOverviews ? [{ phase: 1 as const, rows: ranges }] : [])]
    await parts.open(tx, key, stored, phases, clock.now())
    for (let n = 0; n < Math.min(ranges.length, MAX_TASKS); n++) await services.tasks(tx).enqueue(runPartTask, { job_id: run.id })
  })
  await untilDone(services, key, onProgress)
  return await join(services, key, stored, ranges.length, hasOverviews)
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
  { bucket, jobId, step }: { bucket: string; jobId: string; step: number },
  sources: readonly RasterSource[],
): Promise<RasterSource[]> {
  const shared: RasterSource[] = []
  for (const [index, source] of sources.entries()) {
    if (!('path' in source)) shared.push(source)
    else {
      const object = { bucket, key: `${partPrefix(jobId)}${step}-input-${index}.tif` }
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
    const { done, total, error } = await parts.progress(db, key)
    if (error !== null) throw problem('bad-request', error)
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

/** Works on parts of any job, in rotation between organizations, until none is left for this process. */
export async function workOnParts(services: PartServices): Promise<void> {
  const { db, clock, raster, signal } = services
  await inSlot(raster, async () => {
    for (;;) {
      signal.throwIfAborted()
      const part = await parts.claim(db, clock.now())
      if (part) await workOn(services, part)
      else if (await parts.isAnyWaiting(db)) await sleep(POLL_MS, undefined, { signal })
      else return true
    }
  })
}

const slots = new WeakMap<RasterService, { taken: number }>()

/** A process holds no more parts than it can compute at a time, so that none waits here while another machine is idle. */
async function inSlot(raster: RasterService, work: () => Promise<boolean>): Promise<boolean> {
  const slot = slots.get(raster) ?? { taken: 0 }
  slots.set(raster, slot)
  if (slot.taken >= raster.parallelProcesses) return false
  slot.taken++
  try {
    return await work()
  } finally {
    slot.taken--
  }
}

/** Computes one part. A failure of the job itself ends it; after any other, the part can be claimed again. */
async function workOn(services: PartServices, part: parts.Part): Promise<void> {
  const { db, clock, storage, operatorLog } = services
  const step = await parts.requestOf<Step>(db, part)
  if (!step) return
  const heartbeat = startHeartbeat({ signal: services.signal, firstStep: 'computing', beat: () => parts.heartbeat(db, part, clock.now()) })
  const stored: ObjectRef[] = []
  try {
    const context = { ...services, signal: heartbeat.signal }
    const result = part.phase === 0 ? await computeRows(context, step, part, stored) : await computeOverviews(context, step, part, stored)
    if (!(await parts.finish(db, part, result))) await discard({ storage }, stored)
  } catch (error) {
    await discard({ storage }, stored)
    if (heartbeat.isReplaced()) return
    const reason = services.signal.aborted ? null : reasonOf(error)
    if (reason !== null) await parts.fail(db, part, reason)
    else if (part.attempts >= parts.MAX_PART_ATTEMPTS) await parts.fail(db, part, lastReason(error, part.attempts))
    else await parts.release(db, part)
    services.signal.throwIfAborted()
    if (reason === null)
      operatorLog.warn(`Part ${part.number} of job ${part.jobId} failed: ${error instanceof Error ? error.message : error}`)
  } finally {
    await heartbeat.stop()
  }
}

async function computeRows(services: PartServices, step: Step, part: parts.Part, stored: ObjectRef[]): Promise<PartResult> {
  const { bucket: _bucket, rasters: _rasters, ...request } = step
  const { files, result, remove } = await services.raster.process({ ...request, part: part.rows, signal: services.signal })
  try {
    return { files: await storeFiles(services, step, part, files, stored), result }
  } finally {
    await remove()
  }
}

async function computeOverviews(services: PartServices, step: Step, part: parts.Part, stored: ObjectRef[]): Promise<PartResult> {
  const { bucket, outputs, rasters } = step
  const { number, rows } = part
  const rowResults = await parts.results<PartResult>(services.db, part, 0, [number - 1, number])
  const above = number === 0 ? null : await parts.rowsOf(services.db, part, 0, number - 1)
  const all: Record<string, string> = {}
  for (const [index, output] of outputs.entries()) {
    const { spec, levels } = rasters[index]!
    if (levels === 0) continue
    const names = levelsOf(levels)
    const { files, remove } = await services.raster.process({
      method: 'overviews',
      sources: rowResults.map((each) => ({ object: { bucket, key: each.files[output]! } })),
      options: { spec, rows, above },
      outputs: names,
      signal: services.signal,
    })
    try {
      const named = Object.fromEntries(names.map((name) => [`${output}-${name}`, files[name]!]))
      Object.assign(all, await storeFiles(services, step, part, named, stored))
    } finally {
      await remove()
    }
  }
  return { files: all, result: {} }
}

const levelsOf = (count: number): string[] => Array.from({ length: count }, (_, level) => levelFile(level + 1))

/** Stores the files of a part under new keys: two workers with the same part never write the same object. */
async function storeFiles(
  { storage, signal }: PartServices,
  { bucket }: Step,
  { jobId, step, phase, number, runId }: parts.Part,
  files: Computed['files'],
  stored: ObjectRef[],
): Promise<Record<string, string>> {
  const keys: Record<string, string> = {}
  for (const [name, { path }] of Object.entries(files)) {
    const object = { bucket, key: `${partPrefix(jobId)}${step}-${phase}-${number}-${runId}-${name}` }
    stored.push(object)
    await storage.put(object, { path }, { contentType: COG_TYPE, signal })
    keys[name] = object.key
  }
  return keys
}

/** Joins all parts of each output to one local file. */
async function join(
  { db, raster, signal }: PartServices,
  key: parts.StepKey,
  { bucket, outputs, rasters }: Step,
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
