import { LoadingCache } from '#raster/cache.ts'
import { MEDIA_TYPES } from '#raster/encode/format.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { DrawnPicture } from '#raster/render/picture.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { Change } from '#raster/zonal/change.ts'
import type { ZonalResult } from '#raster/zonal/index.ts'
import type { CogCompression } from '#raster/write/spec.ts'
import { createConverter } from './converter.ts'
import { defined, Drawing, nameFor, tenancy } from './drawing.ts'
import type { RasterService, RasterSource } from '#ports/raster.ts'
import { createSources, type SourceOptions } from './sources.ts'

interface RasterServiceOptions extends SourceOptions {
  /** A folder for large temporary files. */
  workDir: string
  /** How files that we rewrite are compressed. */
  compression: CogCompression
  /** Child processes that draw; half as many convert. */
  processes: number
}

const MIB = 1024 * 1024
const STATISTICS_CACHE_BYTES = 4 * MIB
const STATISTICS_DEADLINE_MS = 30_000
/** As long as a caller waits; what takes longer is a job. */
const ANALYSIS_DEADLINE_MS = 25_000
const INSPECT_DEADLINE_MS = 15_000
const TABLE_DEADLINE_MS = 20_000

export function createRasterService(options: RasterServiceOptions): RasterService {
  const pool = new RasterPool({
    module: new URL('./handlers.ts', import.meta.url),
    size: options.processes,
    restTask: 'rest',
    deadlineFactor: options.deadlineFactor ?? 1,
  })
  const summaries = new LoadingCache<Statistics>({ maxBytes: STATISTICS_CACHE_BYTES, sizeOf: ({ bands }) => 256 + bands.length * 1024 })
  const sources = createSources(pool, options)
  const drawing = new Drawing(pool, sources)
  const converter = createConverter({
    workDir: options.workDir,
    compression: options.compression,
    size: Math.max(1, Math.floor(options.processes / 2)),
    deadlineFactor: options.deadlineFactor ?? 1,
    locate: async (source, signal) => (await sources.locate(source, signal)).source,
  })

  /** Of a whole raster they are the same for everybody, so they are kept; an area is hardly ever asked for twice. */
  const statistics = async (
    source: RasterSource,
    { signal: _signal, ...wanted }: StatisticsOptions,
    signal: AbortSignal | undefined,
  ): Promise<Statistics> => {
    const compute = (inner: AbortSignal | undefined) =>
      drawing.run<Statistics>('statistics', source, { options: defined(wanted) }, { signal: inner, deadlineMs: STATISTICS_DEADLINE_MS })
    if (wanted.geometry !== undefined) return await compute(signal)
    const { key } = await sources.identify(source, signal)
    return await summaries.get(nameFor([key, wanted]), compute, { signal })
  }

  return {
    describe: async (source, signal): Promise<RasterInfo> => (await sources.identify(source, signal)).info,
    describeMany: (wanted, signal) => sources.identifyMany(wanted, signal),
    tile: (source, { tile, ...look }, asking = {}) =>
      drawing.draw('tile', source, { tile, options: defined(look) }, MEDIA_TYPES[look.format], asking),
    mosaic: (layers, request, asking = {}) => drawing.mosaic(layers, request, asking),
    terrain: (source, { tile, ...look }, asking = {}) =>
      drawing.draw('terrain', source, { tile, options: defined(look) }, 'image/webp', asking),
    thumbnail: (source, look, asking = {}) =>
      drawing.draw('thumbnail', source, { options: { ...defined(look), format: 'jpeg' } }, 'image/jpeg', asking),
    statistics,
    zonal: (source, { signal: _signal, onProgress: _onProgress, ...wanted }, signal) =>
      drawing.run<ZonalResult>('zonal', source, { options: defined(wanted) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    series: (scenes, { signal: _signal, ...wanted }, signal) =>
      drawing.runSeries(scenes, { options: defined(wanted) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    change: (before, after, { signal: _signal, ...wanted }, signal) =>
      drawing.runPair<Change>('change', [before, after], { options: defined(wanted) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    picture: (source, { signal: _signal, ...wanted }, signal) =>
      drawing.run<DrawnPicture>('picture', source, { options: defined(wanted) }, { signal, deadlineMs: ANALYSIS_DEADLINE_MS }),
    point: (source, place, signal) => drawing.run('point', source, { place, options: {} }, { signal }),
    inspect: (source, signal) => drawing.run<Inspection>('inspect', source, {}, { signal, deadlineMs: INSPECT_DEADLINE_MS }),
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
      ...prefixed('tiles', drawing.metrics),
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
