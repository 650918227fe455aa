/** Runs a job on this machine, from its sources to its output files. */
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SERVICE } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import type { Run } from '#model/processing/run.ts'
import type { Context } from '#operation.ts'
import { requireProcess, validateParams } from './catalogue.ts'
import type { ComputedAnywhere, OpenSource, Produced, RunContext, Stage } from './process.ts'
import { findSources, openSources } from './sources.ts'
import { downloadFile } from './download.ts'
import { computeInParts, computeListInParts, partsOf, type StepServices } from './parts.ts'
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
  const { jobPartSamples } = services
  const partCount = jobPartSamples === 0 ? 1 : partsOf(effortOf(process, params, sources).samples, jobPartSamples)
  const { compute, computeEach } = computing(services, run, { partCount, report, temporary })
  const saveFile: RunContext['saveFile'] = async (name, bytes) => {
    const folder = await raster.createWorkFolder()
    temporary.push(folder)
    const file = path.join(folder.path, path.basename(name))
    await writeFile(file, bytes)
    return file
  }
  const localFile: RunContext['localFile'] = async (file) => {
    if ('path' in file) return file.path
    if (!('object' in file)) throw new Error('a file that was computed is local or in the store')
    const folder = await raster.createWorkFolder()
    temporary.push(folder)
    const local = path.join(folder.path, 'data')
    await pipeline(await services.storage.read(file.object, { signal }), createWriteStream(local), { signal })
    return local
  }
  const download: RunContext['download'] = async (file, stage) => {
    const folder = await raster.createWorkFolder()
    temporary.push(folder)
    return await downloadFile({ vendors, signal }, file, { path: path.join(folder.path, 'data.tif'), onProgress: inStage(report, stage) })
  }
  try {
    const context = { jobId: run.id, now: clock.now(), signal, saveFile, compute, computeEach, partCount, localFile, download }
    return { produced: await process.run(context, params, sources), sources, clear }
  } catch (error) {
    await clear()
    throw error
  }
}

interface Computing {
  readonly partCount: number
  readonly report: Report
  /** Files that the run removes in the end. */
  readonly temporary: { remove(): Promise<void> }[]
}

/** Computes here, or in a large job on all machines. */
function computing(
  services: RunServices,
  run: Run,
  { partCount, report, temporary }: Computing,
): Pick<RunContext, 'compute' | 'computeEach'> {
  const { db, raster, signal } = services
  let step = 0
  const divided = async () => {
    const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: run.organizationId }, run.projectId)
    return { organizationId: run.organizationId, id: run.id, bucket: bucketName! }
  }
  const division = (stage: Stage) => ({
    of: divided,
    step: step++,
    count: partCount,
    onProgress: (note: string, fraction: number) => inStage(report, { ...stage, name: `${stage.name}: ${note}` })(fraction),
  })
  const compute: RunContext['compute'] = async (request, stage) => {
    const computed =
      (await computeInParts(services, request, division(stage))) ??
      (await raster.process({ ...request, signal, onProgress: inStage(report, stage) }))
    temporary.push(computed)
    return computed
  }
  const computeEach: RunContext['computeEach'] = async (requests, stage) => {
    const inParts = await computeListInParts(services, requests, division(stage))
    if (inParts) return inParts
    const all: ComputedAnywhere[] = []
    const { name, from = 0, to = 1 } = stage
    const bound = (n: number) => from + ((to - from) * n) / requests.length
    for (const [n, request] of requests.entries()) {
      const { files, result } = await compute(request, { name, from: bound(n), to: bound(n + 1) })
      all.push({ files: Object.fromEntries(Object.entries(files).map(([file, { path: local }]) => [file, { path: local }])), result })
    }
    return all
  }
  return { compute, computeEach }
}

/** Converts the progress of a stage to the progress of the run. */
function inStage(report: Report, { name, from = 0, to = 1 }: Stage): (fraction: number) => void {
  const overall = (share: number) => COMPUTE_FROM + (STORE_FROM - COMPUTE_FROM) * share
  report(name, overall(from))
  return (fraction) => report(name, overall(from + (to - from) * fraction))
}
