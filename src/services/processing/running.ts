/** One run of a job on this machine, from its sources to the files that it made. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICE } from '#core/principal.ts'
import type { Run } from '#model/processing/run.ts'
import type { Context } from '#operation.ts'
import { requireProcess, validateParams } from './catalogue.ts'
import type { Computed, OpenSource, Produced, RunContext, Stage } from './process.ts'
import { findSources, openSources } from './sources.ts'

type Means = Pick<Context, 'raster' | 'clock' | 'db' | 'signal'>
type Report = (stage: string, fraction: number) => void

/** Shares of the whole: how far it is when the next step begins. */
const COMPUTE_FROM = 0.02
export const STORE_FROM = 0.9

interface Work {
  produced: Produced
  sources: readonly OpenSource[]
  /** Removes every file that was made on this machine. */
  clear(): Promise<void>
}

/** What the run made, as files of this machine. Items are looked up anew: what was deleted since is missing. */
export async function work(means: Means, run: Run, report: Report): Promise<Work> {
  const { db, raster, signal, clock } = means
  const process = requireProcess(run.jobType)
  const params = validateParams(process, run.inputParams, 'input_params')
  const principal = { ...SERVICE, organizationId: run.organizationId }
  report('reading', 0)
  const sources = await openSources(means, await findSources({ db, principal, raster, signal }, process, params, run.organizationId))
  const made: { remove(): Promise<void> }[] = []
  const clear = async () => void (await Promise.allSettled(made.splice(0).map((files) => files.remove())))
  const compute: RunContext['compute'] = async (request, stage): Promise<Computed> => {
    const computed = await raster.process({ ...request, signal, onProgress: inStage(report, stage) })
    made.push(computed)
    return computed
  }
  const keep: RunContext['keep'] = async (name, bytes) => {
    const folder = await raster.folder()
    made.push(folder)
    const file = path.join(folder.path, path.basename(name))
    await writeFile(file, bytes)
    return file
  }
  try {
    return { produced: await process.run({ jobId: run.id, now: clock.now(), signal, keep, compute }, params, sources), sources, clear }
  } catch (error) {
    await clear()
    throw error
  }
}

/** A part of the run as a part of the whole. */
function inStage(report: Report, { name, from = 0, to = 1 }: Stage): (fraction: number) => void {
  const place = (share: number) => COMPUTE_FROM + (STORE_FROM - COMPUTE_FROM) * share
  report(name, place(from))
  return (fraction) => report(name, place(from + (to - from) * fraction))
}
