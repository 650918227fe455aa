import { LoadingCache } from '#raster/cache.ts'
import { MEDIA_TYPES } from '#raster/encode/format.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { MapImage } from '#raster/render/map-image.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { Change } from '#raster/zonal/change.ts'
import type { ZonalResult } from '#raster/zonal/index.ts'
import type { CogCompression } from '#raster/write/spec.ts'
import { createConverter } from './converter.ts'
import { defined, Renderer, nameFor, tenancy } from './renderer.ts'
import type { RasterService, RasterSource } from '#ports/raster.ts'
import { createSources, type SourceOptions } from './sources.ts'

interface RasterServiceOptions extends SourceOptions {
  /** Folder for large temporary files. */
  workDir: string
  /** Compression of the files that we write. */
  compression: CogCompression
  /** Child processes for rendering; half as many convert. */
  processes: number
}

const MIB = 1024 * 1024
const STATISTICS_CACHE_BYTES = 4 * MIB
const STATISTICS_DEADLINE_MS = 30_000
/** Longest time that a caller waits; longer work is a job. */
const ANALYSIS_DEADLINE_MS = 25_000
const INSPECT_DEADLINE_MS = 15_000
const TABLE_DEADLINE_MS = 20_000

export function createRasterService({ deadlineFactor = 1, ...options }: RasterServiceOptions): RasterService {
  const module = new URL('./handlers.ts', import.meta.url)
  const pool = new RasterPool({ module, size: options.processes, restTask: 'rest', deadlineFactor })
  const summaries = new LoadingCache<Statistics>({ maxBytes: STATISTICS_CACHE_BYTES, sizeOf: ({ bands }) => 256 + bands.length * 1024 })
  const sources = createSources(pool, options)
  const renderer = new Renderer(pool, sources)
  const converter = createConverter({
    workDir: options.workDir,
    compression: options.compression,
    size: Math.max(1, Math.floor(options.processes / 2)),
    deadlineFactor,
    locate: async (source, signal) => (await sources.locate(source, signal)).source,
  })

  /** Statistics of a whole raster are the same for everyone and are cached; an area is rarely requested twice. */
  const statistics = async (
    source: RasterSource,
    { signal: _signal, ...statisticsOptions }: StatisticsOptions,
    signal: AbortSignal | undefined,
  ): Promise<Statistics> => {
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
    describe: async (source, signal): Promise<RasterInfo> => (await sources.identify(source, signal)).info,
    describeMany: (many, signal) => sources.identifyMany(many, signal),
    tile: (source, { tile, ...style }, asking = {}) =>
      renderer.draw('tile', source, { tile, options: defined(style) }, MEDIA_TYPES[style.format], asking),
    mosaic: (layers, request, asking = {}) => renderer.mosaic(layers, request, asking),
    terrain: (source, { tile, ...style }, asking = {}) =>
      renderer.draw('terrain', source, { tile, options: defined(style) }, 'image/webp', asking),
    thumbnail: (source, style, asking = {}) =>
      renderer.draw('thumbnail', source, { options: { ...defined(style), format: 'jpeg' } }, 'image/jpeg', asking),
    statistics,
    zonal: (source, { signal: _signal, onProgress: _onProgress, ...options }, signal) =>
      renderer.run<ZonalResult>('zonal', source, { options: defined(options) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    series: (scenes, { signal: _signal, ...options }, signal) =>
      renderer.runSeries(scenes, { options: defined(options) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    change: (before, after, { signal: _signal, ...options }, signal) =>
      renderer.runPair<Change>('change', [before, after], { options: defined(options) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    picture: (source, { signal: _signal, ...options }, signal) =>
      renderer.run<MapImage>('picture', source, { options: defined(options) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    point: (source, place, signal) => renderer.run('point', source, { place, options: {} }, { signal }),
    inspect: (source, signal) => renderer.run<Inspection>('inspect', source, {}, { signal, deadlineMs: INSPECT_DEADLINE_MS }),
    table: async (bytes, maxRows, signal) =>
      (await pool.run('table', { bytes, maxRows }, { signal, ...tenancy(), deadlineMs: TABLE_DEADLINE_MS })) as string[],
    mayRead: sources.mayRead,
    convert: converter.convert,
    process: converter.process,
    folder: converter.folder,
    sweep: converter.sweep,
    metrics: () => ({
      ...prefixed('pool', pool.metrics),
      ...prefixed('converters', converter.metrics()),
      ...prefixed('tiles', renderer.metrics),
      ...prefixed('sources', sources.metrics()),
    }),
    async close() {
      await Promise.all([pool.close(), converter.close()])
    },
  }
}

function prefixed(name: string, metrics: object): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`${name}_${key}`, value as number]))
}
