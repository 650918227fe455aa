/** Parts of large computations, as any worker claims and computes them; `parts.ts` divides and joins. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startHeartbeat } from '#core/heartbeat.ts'
import * as parts from '#model/processing/part.ts'
import type { Context } from '#operation.ts'
import type { ProcessRequest, RasterService } from '#ports/raster.ts'
import type { ObjectRef } from '#ports/storage.ts'
import { levelFile, type PlannedRaster } from '#raster/process/parts.ts'
import { COG_TYPE, discard } from '#services/ingest/intake.ts'
import { lastReason, reasonOf } from './failure.ts'
import type { Computed } from './process.ts'
import { partPrefix } from './worker-files.ts'

export type PartServices = Pick<Context, 'db' | 'clock' | 'raster' | 'storage' | 'signal' | 'operatorLog'>
export type StepRequest = Omit<ProcessRequest, 'onProgress' | 'signal' | 'part'>

export const POLL_MS = 500

/** One computation whose rows are divided, as the workers know it. */
export interface RowStep extends StepRequest {
  readonly bucket: string
  readonly rasters: readonly PlannedRaster[]
}

/** Many computations, of which a part is some: the workers receive only those of their part. */
export interface ListStep {
  readonly bucket: string
  readonly requests: readonly StepRequest[]
}

/** Of some rows, or of one of many computations. */
export interface PartResult {
  /** Keys of the files by name: outputs at full resolution, or their overviews. */
  readonly files: Readonly<Record<string, string>>
  readonly result: Readonly<Record<string, unknown>>
}

/** Of some of many computations, in their order. */
export interface ListResult {
  readonly each: readonly PartResult[]
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
export async function inSlot(raster: RasterService, work: () => Promise<boolean>): Promise<boolean> {
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
export async function workOn(services: PartServices, part: parts.Part): Promise<void> {
  const { db, clock, storage, operatorLog } = services
  const step = await parts.requestOf<RowStep | ListStep>(db, part)
  if (!step) return
  const heartbeat = startHeartbeat({ signal: services.signal, firstStep: 'computing', beat: () => parts.heartbeat(db, part, clock.now()) })
  const stored: ObjectRef[] = []
  try {
    const context = { ...services, signal: heartbeat.signal }
    const result = await computePart(context, step, part, stored)
    if (!(await parts.finish(db, part, result))) await discard({ storage }, stored)
  } catch (error) {
    await discard({ storage }, stored)
    if (heartbeat.isReplaced()) return
    const reason = services.signal.aborted ? null : reasonOf(error)
    if (reason !== null) await parts.fail(db, part, reason)
    else if (part.attempts >= parts.MAX_PART_ATTEMPTS) await parts.fail(db, part, lastReason(error, part.attempts))
    else await parts.release(db, part)
    services.signal.throwIfAborted()
    if (reason === null) operatorLog.warn(`Part ${part.number} of ${part.jobId} failed: ${error instanceof Error ? error.message : error}`)
  } finally {
    await heartbeat.stop()
  }
}

async function computePart(
  services: PartServices,
  step: RowStep | ListStep,
  part: parts.Part,
  stored: ObjectRef[],
): Promise<PartResult | ListResult> {
  if ('requests' in step) return await computeList(services, step, part, stored)
  return part.phase === 0 ? await computeRows(services, step, part, stored) : await computeOverviews(services, step, part, stored)
}

async function computeList(services: PartServices, step: ListStep, part: parts.Part, stored: ObjectRef[]): Promise<ListResult> {
  const each: PartResult[] = []
  for (const [index, request] of step.requests.entries()) {
    const { files, result, remove } = await services.raster.process({ ...request, signal: services.signal })
    try {
      const named = Object.fromEntries(Object.entries(files).map(([name, file]) => [`${index}-${name}`, file]))
      const keys = await storeFiles(services, step, part, named, stored)
      each.push({ files: Object.fromEntries(Object.keys(files).map((name) => [name, keys[`${index}-${name}`]!])), result })
    } finally {
      await remove()
    }
  }
  return { each }
}

async function computeRows(services: PartServices, step: RowStep, part: parts.Part, stored: ObjectRef[]): Promise<PartResult> {
  const { bucket: _bucket, rasters: _rasters, ...request } = step
  const { files, result, remove } = await services.raster.process({ ...request, part: part.rows, signal: services.signal })
  try {
    return { files: await storeFiles(services, step, part, files, stored), result }
  } finally {
    await remove()
  }
}

async function computeOverviews(services: PartServices, step: RowStep, part: parts.Part, stored: ObjectRef[]): Promise<PartResult> {
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

export const levelsOf = (count: number): string[] => Array.from({ length: count }, (_, level) => levelFile(level + 1))

/** Stores the files of a part under new keys: two workers with the same part never write the same object. */
async function storeFiles(
  { storage, signal }: PartServices,
  { bucket }: RowStep | ListStep,
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
