import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type PoolMetrics, RasterPool, type StartWorker } from '#raster/pool/pool.ts'
import type { PlannedProcess } from '#raster/process/index.ts'
import type { CogCompression } from '#raster/write/spec.ts'
import type { OpenableSource } from './handlers.ts'
import { narrowedForProcess } from './narrow.ts'
import { watchTask } from './traces.ts'
import type {
  ComputedFile,
  ComputedFiles,
  ConvertedFile,
  ConvertRequest,
  ProcessRequest,
  RasterService,
  RasterSource,
  WorkFolder,
} from '#ports/raster.ts'

const MIB = 1024 * 1024
const DEADLINE_MS = 4 * 3_600_000
const NICENESS = 10
const MAX_RSS_BYTES = 560 * MIB
const MAX_QUEUE = 1_000
const TASKS_PER_CHILD = 50
/** A conversion takes seconds and a new child less than one, so that an idle one need not keep its memory. */
const IDLE_MS = 30_000
const FILE_PREFIX = 'convert-'

interface ConverterOptions {
  workDir: string
  compression: CogCompression
  /** Maximum number of child processes. */
  size: number
  /** How many times longer than usual a child may take to start. */
  deadlineFactor: number
  /** Answers the questions of a child. */
  answer: (question: unknown) => Promise<unknown>
  startWorker?: StartWorker
  locate: (source: RasterSource, signal: AbortSignal | undefined) => Promise<OpenableSource>
}

type Conversions = 'convert' | 'process' | 'planProcess' | 'parallelProcesses' | 'compression' | 'createWorkFolder' | 'sweep' | 'close'

interface Converter extends Pick<RasterService, Conversions> {
  metrics(): PoolMetrics
}

/** Conversions have their own child processes, so that a map never waits for an upload. */
export function createConverter({ workDir, compression, size, deadlineFactor, answer, locate, ...start }: ConverterOptions): Converter {
  const pool = new RasterPool({
    module: new URL('./handlers.ts', import.meta.url),
    size,
    maxQueue: MAX_QUEUE,
    deadlineMs: DEADLINE_MS,
    deadlineFactor,
    maxRssBytes: MAX_RSS_BYTES,
    recycleAfterTasks: TASKS_PER_CHILD,
    idleMs: IDLE_MS,
    niceness: NICENESS,
    answer,
    watch: watchTask,
    ...start,
  })

  const convert = async (source: RasterSource, { isCategorical, position, onProgress, signal }: ConvertRequest): Promise<ConvertedFile> => {
    const located = await locate(source, signal)
    await mkdir(workDir, { recursive: true, mode: 0o700 })
    const file = path.join(workDir, `${FILE_PREFIX}${randomUUID()}.tif`)
    const remove = () => rm(file, { force: true })
    try {
      const task = { source: located, options: { path: file, temporaryDirectory: workDir, isCategorical, compression, position } }
      const { byteLength } = (await pool.run('rewrite', task, {
        signal,
        ...(onProgress ? { onProgress: (fraction) => onProgress(fraction as number) } : {}),
      })) as { byteLength: number }
      return { path: file, size: byteLength, remove }
    } catch (error) {
      await remove() // The child may have been killed before it could remove it.
      throw error
    }
  }

  const createWorkFolder = async (): Promise<WorkFolder> => {
    const folder = path.join(workDir, `${FILE_PREFIX}${randomUUID()}`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) }
  }

  const processor = createProcessor(pool, { compression, locate, createWorkFolder })

  return {
    convert,
    ...processor,
    parallelProcesses: size,
    compression,
    createWorkFolder,
    sweep: (olderThan) => sweepFolder(workDir, olderThan),
    metrics: () => pool.metrics,
    close: () => pool.close(),
  }
}

type ProcessorOptions = Pick<ConverterOptions, 'compression' | 'locate'> & Pick<RasterService, 'createWorkFolder'>

/** Runs processing methods, which write files into a folder of their own. */
function createProcessor(
  pool: RasterPool,
  { compression, locate, createWorkFolder }: ProcessorOptions,
): Pick<RasterService, 'process' | 'planProcess'> {
  const run = async (
    name: 'process' | 'planProcess',
    request: ProcessRequest,
  ): Promise<Omit<ComputedFiles, 'result'> & { result: unknown }> => {
    const { method, sources, options, outputs, part, headers, onProgress, signal } = request
    const located = await Promise.all(
      sources.map((source, index) => locate(narrowedForProcess(source, index, { method, options }), signal)),
    )
    const { path: temporaryDirectory, remove } = await createWorkFolder()
    const files = Object.fromEntries(outputs.map((output) => [output, path.join(temporaryDirectory, path.basename(output))]))
    try {
      const settings = { options, files, temporaryDirectory, compression: request.compression ?? compression, part }
      const result = await pool.run(
        name,
        { method, sources: located, headers, task: settings },
        {
          signal,
          ...(onProgress ? { onProgress: (fraction) => onProgress(fraction as number) } : {}),
        },
      )
      return { files: await measured(files), result, remove }
    } catch (error) {
      await remove() // The child may have been killed before it could remove it.
      throw error
    }
  }

  const planProcess = async (request: ProcessRequest): Promise<PlannedProcess> => {
    const { result, remove } = await run('planProcess', request)
    await remove()
    return result as PlannedProcess
  }

  return { process: async (request) => (await run('process', request)) as ComputedFiles, planProcess }
}

/** The files that were written; a method can omit an empty one. */
async function measured(files: Readonly<Record<string, string>>): Promise<Record<string, ComputedFile>> {
  const written: Record<string, ComputedFile> = {}
  for (const [name, file] of Object.entries(files)) {
    const seen = await stat(file).catch(() => null)
    if (seen) written[name] = { path: file, size: seen.size }
  }
  return written
}

/** A file that is still being written is recent. */
async function sweepFolder(folder: string, olderThan: Date): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name)
    const stats = name.startsWith(FILE_PREFIX) ? await stat(file).catch(() => null) : null
    if (!stats || stats.mtimeMs >= olderThan.getTime()) continue
    await rm(file, { recursive: true, force: true })
    removed++
  }
  return removed
}
