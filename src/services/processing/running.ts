/** Runs a job on this machine, from its sources to its output files. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICE } from '#core/principal.ts'
import type { Run } from '#model/processing/run.ts'
import type { Context } from '#operation.ts'
import { requireProcess, validateParams } from './catalogue.ts'
import type { Computed, OpenSource, Produced, RunContext, Stage } from './process.ts'
import { findSources, openSources } from './sources.ts'
import { downloadFile } from './download.ts'
import { computeInParts, partsOf, type StepServices } from './parts.ts'
import { effortOf } from './work.ts'

type RunServices = StepServices & Pick<Context, 'vendors' | 'jobPartSamples'>
type Report = (stage: string, fraction: number) => void

/** Overall progress when computing and storing start. */
const COMPUTE_FROM = 0.02
export const STORE_FROM = 0.9

interface Work {
  produced: Produced
  sources: readonly OpenSource[]
  /** Removes all local files of the run. */
  clear(): Promise<void>
}

/** Returns the outputs as local files. Sources are looked up again, because items may have been deleted since. */
export async function work(services: RunServices, run: Run, report: Report): Promise<Work> {
  const { db, raster, vendors, signal, clock } = services
  const process = requireProcess(run.jobType)
  const params = validateParams(process, run.inputParams, 'input_params')
  const principal = { ...SERVICE, organizationId: run.organizationId }
  report('reading', 0)
  const sources = await openSources(
    services,
    await findSources({ db, principal, raster, vendors, signal }, process, params, run.organizationId),
  )
  const temporary: { remove(): Promise<void> }[] = []
  const clear = async () => void (await Promise.allSettled(temporary.splice(0).map((files) => files.remove())))
  let step = 0
  const compute: RunContext['compute'] = async (request, stage): Promise<Computed> => {
    const count = partsOf(request.method, () => effortOf(process, params, sources).samples, services.jobPartSamples)
    const onProgress = (note: string, fraction: number) => inStage(report, { ...stage, name: `${stage.name}: ${note}` })(fraction)
    const inParts = count < 2 ? null : await computeInParts(services, request, { run, step: step++, count, onProgress })
    const computed = inParts ?? (await raster.process({ ...request, signal, onProgress: inStage(report, stage) }))
    temporary.push(computed)
    return computed
  }
  const saveFile: RunContext['saveFile'] = async (name, bytes) => {
    const folder = await raster.createWorkFolder()
    temporary.push(folder)
    const file = path.join(folder.path, path.basename(name))
    await writeFile(file, bytes)
    return file
  }
  const download: RunContext['download'] = async (file, stage) => {
    const folder = await raster.createWorkFolder()
    temporary.push(folder)
    return await downloadFile({ vendors, signal }, file, { path: path.join(folder.path, 'data.tif'), onProgress: inStage(report, stage) })
  }
  try {
    const context = { jobId: run.id, now: clock.now(), signal, saveFile, compute, download }
    return { produced: await process.run(context, params, sources), sources, clear }
  } catch (error) {
    await clear()
    throw error
  }
}

/** Converts the progress of a stage to the progress of the run. */
function inStage(report: Report, { name, from = 0, to = 1 }: Stage): (fraction: number) => void {
  const overall = (share: number) => COMPUTE_FROM + (STORE_FROM - COMPUTE_FROM) * share
  report(name, overall(from))
  return (fraction) => report(name, overall(from + (to - from) * fraction))
}
