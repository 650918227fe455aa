import { LoadingCache } from '#raster/cache.ts'
import { DATA_TILE_TYPE, MEDIA_TYPES } from '#raster/encode/format.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import { RasterPool, type StartWorker } from '#raster/pool/pool.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { MapImage } from '#raster/render/map-image.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { Change } from '#raster/zonal/change.ts'
import type { ZonalResult } from '#raster/zonal/index.ts'
import type { CogCompression } from '#raster/write/spec.ts'
import { createConverter } from './converter.ts'
import { defined, Renderer, nameFor, RENDERING_VERSION, tenancy } from './renderer.ts'
import type { RasterService, RasterSource } from '#ports/raster.ts'
import type { TileCacheBounds } from '#ports/tile-cache.ts'
import { narrowed, narrowedByStyle } from './narrow.ts'
import { signer } from './signature.ts'
import { createSharedTiles } from './shared-tiles.ts'
import { createSources, type SourceOptions } from './sources.ts'
import { watchTask } from './traces.ts'

interface RasterServiceOptions extends SourceOptions {
  /** Folder for large temporary files. */
  workDir: string
  /** Compression of the files that we write. */
  compression: CogCompression
  /** Bounds of the tile cache in the object store; null: none. */
  tileCache: TileCacheBounds | null
  /** Child processes for rendering; half as many convert. */
  processes: number
  /** How they are started, if not as new processes. */
  startWorker?: StartWorker
}

const MIB = 1024 * 1024
const STATISTICS_CACHE_BYTES = 4 * MIB
const STATISTICS_DEADLINE_MS = 30_000
/** Longest time that a caller waits; longer work is a job. */
const ANALYSIS_DEADLINE_MS = 25_000
const INSPECT_DEADLINE_MS = 15_000
/** A few changed bytes can keep the reader busy for ever, so a small table, which is read in a moment, has less time than a large one. */
const TABLE_DEADLINE_MS = { least: 4_000, perMib: 4_000, most: 20_000 }

const tableDeadlineMs = (size: number): number =>
  Math.min(TABLE_DEADLINE_MS.most, TABLE_DEADLINE_MS.least + (size / MIB) * TABLE_DEADLINE_MS.perMib)

export function createRasterService({ deadlineFactor = 1, ...options }: RasterServiceOptions): RasterService {
  const module = new URL('./handlers.ts', import.meta.url)
  const answer = signer(options.files)
  const start = options.startWorker ? { startWorker: options.startWorker } : {}
  const pool = new RasterPool({ module, size: options.processes, restTask: 'rest', deadlineFactor, answer, watch: watchTask, ...start })
  const summaries = new LoadingCache<Statistics>({ maxBytes: STATISTICS_CACHE_BYTES, sizeOf: ({ bands }) => 256 + bands.length * 1024 })
  const sources = createSources(pool, { ...options, deadlineFactor })
  const { tileCache: bounds, storage, clock } = options
  const sharedTiles = bounds ? createSharedTiles({ storage, clock, bounds, deadlineFactor }) : null
  const renderer = new Renderer(pool, sources, sharedTiles)
  const converter = createConverter({
    workDir: options.workDir,
    compression: options.compression,
    size: Math.max(1, Math.floor(options.processes / 2)),
    deadlineFactor,
    answer,
    ...start,
    locate: sources.locate,
  })

  /** Statistics of a whole raster are the same for everyone and are cached; an area is rarely requested twice. */
  const statistics = async (
    from: RasterSource,
    { signal: _signal, ...statisticsOptions }: StatisticsOptions,
    signal: AbortSignal | undefined,
  ): Promise<Statistics> => {
    const source = narrowed(from, statisticsOptions)
    const compute = (inner: AbortSignal | undefined) =>
      renderer.run<Statistics>(
        'statistics',
        source,
        { options: defined(statisticsOptions) },
        { signal: inner, deadlineMs: STATISTICS_DEADLINE_MS },
      )
    if (statisticsOptions.geometry !== undefined) return await compute(signal)
    const { key } = await sources.identify(source, signal)
    return await summaries.get(nameFor([key, statisticsOptions]), compute, { signal })
  }

  return {
    describe: async (source, signal): Promise<RasterInfo> => (await sources.describe(source, signal)).info,
    describeMany: (many, signal) => sources.describeMany(many, signal),
    ...imageMethods(renderer),
    ...analysisMethods(renderer),
    statistics,
    table: async (bytes, maxRows, signal) =>
      (await pool.run('table', { bytes, maxRows }, { signal, ...tenancy(), deadlineMs: tableDeadlineMs(bytes.byteLength) })) as string[],
    canRead: sources.canRead,
    convert: converter.convert,
    process: converter.process,
    planProcess: converter.planProcess,
    parallelProcesses: converter.parallelProcesses,
    compression: converter.compression,
    renderingVersion: RENDERING_VERSION,
    createWorkFolder: converter.createWorkFolder,
    sweep: converter.sweep,
    metrics: () => ({
      pools: { images: pool.metrics, conversions: converter.metrics() },
      caches: { images: renderer.metrics, files: sources.metrics(), ...(sharedTiles ? { stored_images: sharedTiles.metrics } : {}) },
    }),
    async close() {
      sharedTiles?.close()
      await Promise.all([pool.close(), converter.close()])
    },
  }
}

type ImageMethods = Pick<RasterService, 'tile' | 'dataTile' | 'mosaic' | 'terrain' | 'thumbnail' | 'mapImage'>

function imageMethods(renderer: Renderer): ImageMethods {
  return {
    tile: (source, { tile, ...style }, conditional = {}) =>
      renderer.draw(
        'tile',
        narrowedByStyle(source, style.style),
        { tile, options: defined(style) },
        MEDIA_TYPES[style.format],
        conditional,
      ),
    dataTile: (source, { tile, ...style }, conditional = {}) =>
      renderer.draw('dataTile', narrowedByStyle(source, style.style), { tile, options: defined(style) }, DATA_TILE_TYPE, conditional),
    mosaic: (layers, request, conditional = {}) =>
      renderer.mosaic(
        layers.map((layer) => ({ ...layer, source: narrowedByStyle(layer.source, layer.style) })),
        request,
        conditional,
      ),
    terrain: (source, { tile, ...style }, conditional = {}) =>
      renderer.draw('terrain', narrowed(source, { bands: [1] }), { tile, options: defined(style) }, 'image/webp', conditional),
    thumbnail: (source, style, conditional = {}) =>
      renderer.draw('thumbnail', source, { options: { ...defined(style), format: 'jpeg' } }, 'image/jpeg', conditional),
    mapImage: (source, { signal: _signal, ...options }, signal) =>
      renderer.run<MapImage>(
        'mapImage',
        narrowedByStyle(source, options.style),
        { options: defined(options) },
        { signal, deadlineMs: ANALYSIS_DEADLINE_MS },
      ),
  }
}

type AnalysisMethods = Pick<RasterService, 'zonal' | 'series' | 'change' | 'point' | 'line' | 'inspect'>

function analysisMethods(renderer: Renderer): AnalysisMethods {
  return {
    zonal: (source, { signal: _signal, onProgress: _onProgress, ...options }, signal) =>
      renderer.run<ZonalResult>(
        'zonal',
        narrowed(source, options),
        { options: defined(options) },
        { signal, deadlineMs: ANALYSIS_DEADLINE_MS },
      ),
    series: (scenes, { signal: _signal, ...options }, signal) =>
      renderer.runSeries(
        scenes.map(({ source, expression }) => ({ source: narrowed(source, { expression }), expression })),
        { options: defined(options) },
        { signal, deadlineMs: ANALYSIS_DEADLINE_MS },
      ),
    change: (before, after, { signal: _signal, ...options }, signal) =>
      renderer.runPair<Change>(
        'change',
        [narrowed(before, options.before), narrowed(after, options.after)],
        { options: defined(options) },
        { signal, deadlineMs: ANALYSIS_DEADLINE_MS },
      ),
    point: (source, place, signal) => renderer.run('point', source, { place, options: {} }, { signal }),
    line: (source, { bands, places }, signal) =>
      renderer.run('line', narrowed(source, { bands }), { places, options: { bands } }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    inspect: (source, signal) => renderer.run<Inspection>('inspect', source, {}, { signal, deadlineMs: INSPECT_DEADLINE_MS }),
  }
}
