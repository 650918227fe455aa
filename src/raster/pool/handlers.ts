import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { releaseBytes } from '#raster/buffers.ts'
import type { EncodeOptions } from '#raster/encode/index.ts'
import { inspect } from '#raster/ingest/inspect.ts'
import { rewriteAsCog, type RewriteOptions } from '#raster/ingest/rewrite.ts'
import { planMethod, runMethod, withRasters } from '#raster/process/index.ts'
import { LateRaster, unpackHeaders } from '#raster/process/late.ts'
import type { MethodTask } from '#raster/process/method.ts'
import { createContext, type ContextOptions, type RenderContext } from '#raster/render/context.ts'
import { renderDataTile, type DataTileOptions } from '#raster/render/data-tile.ts'
import { renderMosaic, type MosaicLayer, type MosaicOptions } from '#raster/render/mosaic.ts'
import { renderMapImage, type MapImageOptions } from '#raster/render/map-image.ts'
import { readLine } from '#raster/render/line.ts'
import { readPoint, type Place, type PointOptions } from '#raster/render/point.ts'
import { renderThumbnail, type ThumbnailOptions } from '#raster/render/thumbnail.ts'
import { renderTerrainTile, renderTile, type TerrainTileOptions, type TileOptions } from '#raster/render/tile.ts'
import { computeStatistics, type StatisticsOptions } from '#raster/statistics/index.ts'
import { assetOf, namingAsset, type StackBand } from '#raster/stack/band.ts'
import { requireOverlap } from '#raster/stack/info.ts'
import { isOpen, StackRaster, type StackFile } from '#raster/stack/raster.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import type { Raster } from '#raster/types.ts'
import type { TileAddress } from '#raster/warp/mercator.ts'
import { changeBetween, type ChangeOptions } from '#raster/zonal/change.ts'
import { zonalStatistics, type ZonalOptions } from '#raster/zonal/index.ts'
import { eachForgiven, zonalSeries, type SeriesOptions } from '#raster/zonal/series.ts'

import type { Handler, Report } from './protocol.ts'

/** A raster as the platform identifies it: a path, URL or key; only `open` interprets it. */
interface Located<S> {
  source: S
  /** Identity of the content, for the cache of open rasters. */
  key: string
}

type TileTask<S> = Located<S> & { tile: TileAddress; options: TileOptions & EncodeOptions }
/** Layers, topmost first. */
type MosaicTask<S> = {
  tile: TileAddress
  layers: readonly (Located<S> & Omit<MosaicLayer, 'open'>)[]
  options: MosaicOptions & EncodeOptions
}
type DataTileTask<S> = Located<S> & { tile: TileAddress; options: DataTileOptions }
type TerrainTask<S> = Located<S> & { tile: TileAddress; options: TerrainTileOptions }
type ThumbnailTask<S> = Located<S> & { options: ThumbnailOptions & EncodeOptions }
type StatisticsTask<S> = Located<S> & { options: StatisticsOptions }
type ZonalTask<S> = Located<S> & { options: ZonalOptions }
type SeriesTask<S> = { scenes: readonly (Located<S> & { expression: string })[]; options: SeriesOptions }
type ChangeTask<S> = Located<S> & { after: Located<S>; options: ChangeOptions }
type MapImageTask<S> = Located<S> & { options: MapImageOptions & EncodeOptions }
type PointTask<S> = Located<S> & { place: Place; options: PointOptions }
type LineTask<S> = Located<S> & { places: readonly Place[]; options: PointOptions }

type RewriteTask<S> = { source: S; options: Omit<RewriteOptions, 'signal' | 'onProgress'> }

type ProcessTask<S> = {
  method: string
  sources: readonly S[]
  /** Headers of the sources, which are then opened when they are first read. */
  headers?: string | undefined
  task: Omit<MethodTask, 'rasters' | 'signal' | 'onProgress'>
}

/** The files of a stack: one per band, or why it cannot be read, or null if it is not used. */
export interface StackFiles<S> {
  readonly bands: readonly StackBand[]
  readonly files: readonly (Located<S> | { readonly problem: string } | null)[]
}

interface HandlerOptions<S> extends ContextOptions {
  open: (source: S, signal: AbortSignal) => Promise<ExactRaster>
  /** The files of a source that is a stack; null for a file. */
  stackOf?: (source: S) => StackFiles<S> | null
}

/**
 * The handlers of a child that renders and describes rasters. The platform provides a small module that opens its sources,
 * exports `handlers = createHandlers({ open })`, and is passed to the pool.
 */
export function createHandlers<S>({ open, stackOf = () => null, ...contextOptions }: HandlerOptions<S>) {
  const dropped: Raster[] = []
  const context = createContext({ ...contextOptions, rasterDropped: (raster) => dropped.push(raster) })
  let running = 0
  /** Evicted rasters are closed once no task can be reading them. */
  const closing =
    <I, O>(handler: (input: I, signal: AbortSignal) => Promise<O>) =>
    async (input: I, signal: AbortSignal): Promise<O> => {
      running += 1
      try {
        return await handler(input, signal)
      } finally {
        running -= 1
        if (running === 0) await Promise.all(dropped.splice(0).map((raster) => raster.close()))
      }
    }
  const { opened, openAlone } = createOpener(context, { open, stackOf })
  return {
    ...identifyHandlers(context, closing, open),
    tile: closing(async (task: TileTask<S>, signal) =>
      renderTile(context, await opened(task, signal), task.tile, { ...task.options, signal }),
    ),
    dataTile: closing(async (task: DataTileTask<S>, signal) =>
      renderDataTile(context, await opened(task, signal), task.tile, { ...task.options, signal }),
    ),
    mosaic: closing(async ({ tile, layers, options }: MosaicTask<S>, signal) => {
      const rest = layers.map(({ source, key, ...look }) => ({ ...look, open: () => opened({ source, key }, signal) }))
      return renderMosaic(context, rest, tile, { ...options, signal })
    }),
    terrain: closing(async (task: TerrainTask<S>, signal) =>
      renderTerrainTile(context, await opened(task, signal), task.tile, { ...task.options, signal }),
    ),
    thumbnail: closing(async (task: ThumbnailTask<S>, signal) =>
      renderThumbnail(context, await opened(task, signal), { ...task.options, signal }),
    ),
    statistics: closing(async (task: StatisticsTask<S>, signal) =>
      computeStatistics(await opened(task, signal), { ...task.options, signal }),
    ),
    ...analysisHandlers(context, closing, opened),
    point: closing(async (task: PointTask<S>, signal) =>
      readPoint(context, await opened(task, signal), task.place, { ...task.options, signal }),
    ),
    line: closing(async (task: LineTask<S>, signal) =>
      readLine(context, await opened(task, signal), task.places, { ...task.options, signal }),
    ),
    inspect: closing(async (task: Located<S>, signal) => inspect(await opened(task, signal), signal)),
    rewrite: async ({ source, options }: RewriteTask<S>, signal, report) => {
      const raster = await open(source, signal)
      try {
        return await rewriteAsCog(raster, { ...options, signal, onProgress: inSteps(report) })
      } finally {
        await raster.close()
      }
    },
    ...processHandlers(openAlone),
    /** Releases caches to the system; rasters stay open. */
    rest: async () => {
      context.blocks.clear()
      context.tiles.clear()
      releaseBytes()
      collect()
    },
    info: closing(async (task: Located<S>, signal) => (await opened(task, signal)).info),
    metrics: async () => ({
      blocks: context.blocks.metrics,
      rasters: context.rasters.metrics,
      ranges: context.ranges.metrics,
      tiles: context.tiles.metrics,
    }),
  } satisfies Record<string, Handler>
}

/** Computations that write files. */
function processHandlers<S>(openAlone: (source: S, signal: AbortSignal) => Promise<ExactRaster>) {
  return {
    process: async ({ method, sources, headers, task }: ProcessTask<S>, signal: AbortSignal, report: Report) =>
      withRasters(
        sources,
        lateOpener(headers, (source: S) => openAlone(source, signal)),
        (rasters) => runMethod(method, { ...task, rasters: rasters.map(valuesFor(method)), signal, onProgress: inSteps(report) }),
      ),
    /** How the outputs of `process` can be divided into parts. */
    planProcess: async ({ method, sources, task }: ProcessTask<S>, signal: AbortSignal) =>
      withRasters(
        sources,
        (source) => openAlone(source, signal),
        (rasters) => planMethod(method, { ...task, rasters: rasters.map(valuesFor(method)), signal, onProgress: () => {} }),
      ),
  }
}

function lateOpener<S>(headers: string | undefined, open: (source: S) => Promise<ExactRaster>) {
  const known = headers === undefined ? [] : unpackHeaders(headers)
  return (source: S, index: number): ExactRaster | Promise<ExactRaster> => {
    const header = known[index]
    return header ? new LateRaster(header, () => open(source)) : open(source)
  }
}

type Opening<S> = Required<Pick<HandlerOptions<S>, 'open' | 'stackOf'>>

function createOpener<S>(context: RenderContext, { open, stackOf }: Opening<S>) {
  const openFile = ({ source, key }: Located<S>, signal: AbortSignal): Promise<ExactRaster> =>
    context.rasters.get(key, (loadSignal) => open(source, loadSignal), { signal })
  return {
    /** Open until the cache evicts it. */
    opened: (located: Located<S>, signal: AbortSignal): Promise<ExactRaster> => {
      const stack = stackOf(located.source)
      return stack ? sharedStack(context, stack, located.key, (file) => openFile(file, signal)) : openFile(located, signal)
    },
    /** Opens a source for one task, which closes it. */
    openAlone: (source: S, signal: AbortSignal): Promise<ExactRaster> => {
      const stack = stackOf(source)
      return stack ? ownStack(context, stack, (file) => open(file.source, signal)) : open(source, signal)
    },
  }
}

/** Methods that copy samples with their scale, or apply it themselves; all others receive physical values of a stack. */
const SCALING_METHODS: ReadonlySet<string> = new Set(['change', 'convert', 'expression', 'warp', 'zonal'])

const valuesFor =
  (method: string) =>
  (raster: ExactRaster): ExactRaster =>
    raster instanceof StackRaster && !SCALING_METHODS.has(method) ? raster.physical() : raster

type OpenFile<S> = (file: Located<S>) => Promise<ExactRaster>

/** A stack of cached files, which the cache closes. */
async function sharedStack<S>(context: RenderContext, stack: StackFiles<S>, key: string, openFile: OpenFile<S>): Promise<ExactRaster> {
  const { files, failure } = await openFiles(stack, openFile)
  if (failure) throw failure.reason
  const raster = new StackRaster({ bands: stack.bands, files, key, blocks: context.blocks, info: context.stacks.get(key) })
  context.stacks.set(key, raster.info)
  return raster
}

/** A stack that closes its files. */
async function ownStack<S>({ blocks }: RenderContext, stack: StackFiles<S>, openFile: OpenFile<S>): Promise<ExactRaster> {
  const { files, failure } = await openFiles(stack, openFile)
  const keys = files.map((file) => (isOpen(file) ? file.key : ''))
  if (!failure) {
    requireOverlap(
      stack.bands,
      files.map((file) => (isOpen(file) ? file.info : null)),
    )
    return new StackRaster({ bands: stack.bands, files, key: JSON.stringify([keys, stack.bands]), blocks })
  }
  await Promise.all([...new Set(files.filter(isOpen))].map((file) => file.close()))
  throw failure.reason
}

/** Opens the used files of a stack concurrently, each once. */
async function openFiles<S>(
  { bands, files }: StackFiles<S>,
  openFile: OpenFile<S>,
): Promise<{ files: StackFile[]; failure: PromiseRejectedResult | undefined }> {
  const byKey = new Map<string, Promise<ExactRaster>>()
  const opening = files.map((file, index) => {
    if (!file || 'problem' in file) return file
    const known = byKey.get(file.key) ?? namingAsset(assetOf(bands[index]!), () => openFile(file))
    byKey.set(file.key, known)
    return known
  })
  const settled = await Promise.allSettled(opening)
  return {
    files: settled.map((each) => (each.status === 'fulfilled' ? each.value : null)),
    failure: settled.find((each) => each.status === 'rejected'),
  }
}

type Closing = <I, O>(handler: (input: I, signal: AbortSignal) => Promise<O>) => (input: I, signal: AbortSignal) => Promise<O>

/** Opens a source, identifies its current content, and keeps it open under that key. */
function identifyHandlers<S>(context: RenderContext, closing: Closing, open: HandlerOptions<S>['open']) {
  const identified = async (source: S, signal: AbortSignal) => {
    const raster = await open(source, signal)
    const kept = await context.rasters.get(raster.key, async () => raster, { signal })
    if (kept !== raster) await raster.close()
    return { key: kept.key, info: kept.info }
  }
  return {
    identify: closing(async ({ source }: { source: S }, signal) => identified(source, signal)),
    /** Opens many; one that fails returns its error. */
    identifyMany: closing(async ({ sources }: { sources: readonly S[] }, signal) =>
      eachForgiven(sources, (source) => identified(source, signal)),
    ),
  }
}

/** Computations on rasters that return their result at once. */
function analysisHandlers<S>(
  context: RenderContext,
  closing: Closing,
  opened: (located: Located<S>, signal: AbortSignal) => Promise<Raster>,
) {
  return {
    zonal: closing(async (task: ZonalTask<S>, signal) => zonalStatistics(await opened(task, signal), { ...task.options, signal })),
    series: closing(async ({ scenes, options }: SeriesTask<S>, signal) =>
      zonalSeries(
        scenes.map(({ expression, ...located }) => ({ expression, open: () => opened(located, signal) })),
        { ...options, signal },
      ),
    ),
    change: closing(async (task: ChangeTask<S>, signal) =>
      changeBetween(await opened(task, signal), await opened(task.after, signal), { ...task.options, signal }),
    ),
    mapImage: closing(async (task: MapImageTask<S>, signal) =>
      renderMapImage(context, await opened(task, signal), { ...task.options, signal }),
    ),
  }
}

/** An idle process allocates nothing, so it would never collect what it released. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

const PROGRESS_STEP = 0.005
const PROGRESS_EVERY_MS = 1_000

/** Throttled, because a message per row of blocks would be thousands; but a long task reports small steps every second. */
function inSteps(report: Report): (fraction: number) => void {
  let [told, toldAtMs] = [0, performance.now()]
  return (fraction) => {
    const nowMs = performance.now()
    if (fraction < 1 && fraction - told < PROGRESS_STEP && (fraction <= told || nowMs - toldAtMs < PROGRESS_EVERY_MS)) return
    told = fraction
    toldAtMs = nowMs
    report(fraction)
  }
}
