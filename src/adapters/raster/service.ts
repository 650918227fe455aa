import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { canonicalJson } from '#core/canonical.ts'
import { LoadingCache } from '#raster/cache.ts'
import { MEDIA_TYPES } from '#raster/encode/format.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import { createConverter } from './converter.ts'
import type { Asking, Drawn, MosaicLayer, MosaicRequest, RasterService, RasterSource } from '#ports/raster.ts'
import { createSources, type SourceOptions } from './sources.ts'

export interface RasterServiceOptions extends SourceOptions {
  /** A folder for large temporary files. */
  workDir: string
  poolSize?: number
}

/** Rises when the same request would be drawn with other pixels, so that no cache mixes the two. */
const DRAWING_VERSION = 1
const MIB = 1024 * 1024
const TILE_CACHE_BYTES = 64 * MIB
const STATISTICS_CACHE_BYTES = 4 * MIB
const STATISTICS_DEADLINE_MS = 30_000
const INSPECT_DEADLINE_MS = 15_000
const MOSAIC_DEADLINE_MS = 15_000

export function createRasterService(options: RasterServiceOptions): RasterService {
  const pool = new RasterPool({
    module: new URL('./handlers.ts', import.meta.url),
    size: options.poolSize ?? Math.max(1, availableParallelism()),
  })
  const tiles = new LoadingCache<Buffer>({ maxBytes: TILE_CACHE_BYTES, sizeOf: (tile) => tile.byteLength + 256 })
  const summaries = new LoadingCache<Statistics>({ maxBytes: STATISTICS_CACHE_BYTES, sizeOf: ({ bands }) => 256 + bands.length * 1024 })
  const sources = createSources(pool, options)
  const converter = createConverter({
    workDir: options.workDir,
    locate: async (source, signal) => (await sources.locate(source, signal)).source,
  })

  /** Runs a task on the content that was identified. */
  const run = async <T>(
    name: string,
    source: RasterSource,
    input: object,
    { signal, deadlineMs }: { signal?: AbortSignal | undefined; deadlineMs?: number },
  ): Promise<T> => {
    const seen = await sources.identify(source, signal)
    const task = { ...(await sources.openable(source, seen, signal)), ...input }
    try {
      return (await pool.run(name, task, { signal, affinity: seen.key, ...(deadlineMs ? { deadlineMs } : {}) })) as T
    } catch (error) {
      sources.forgetChanged(error, [source])
      throw error
    }
  }

  /** What is drawn is known by everything that it depends on: the same name, the same pixels. */
  const named = async (
    identity: unknown,
    contentType: string,
    asking: Asking,
    make: (signal: AbortSignal) => Promise<Uint8Array>,
  ): Promise<Drawn> => {
    const name = nameFor(identity)
    const etag = `"${name}"`
    if (matches(asking.ifNoneMatch ?? null, etag)) return { etag, contentType, body: null }
    return { etag, contentType, body: await tiles.get(name, async (signal) => Buffer.from(await make(signal)), { signal: asking.signal }) }
  }

  const draw = async (task: string, source: RasterSource, input: object, contentType: string, asking: Asking): Promise<Drawn> => {
    const { key } = await sources.identify(source, asking.signal)
    return await named([task, key, input], contentType, asking, (signal) => run<Uint8Array>(task, source, input, { signal }))
  }

  const drawMosaic = async (layers: readonly MosaicLayer[], { tile, ...drawing }: MosaicRequest, asking: Asking): Promise<Drawn> => {
    const seen = await Promise.all(layers.map(({ source }) => sources.identify(source, asking.signal)))
    const looks = layers.map(({ source: _source, ...look }, index) => ({ ...defined(look), key: seen[index]!.key }))
    const input = { tile, options: defined(drawing) }
    return await named(['mosaic', looks, input], MEDIA_TYPES[drawing.format], asking, async (signal) => {
      const opened = await Promise.all(
        layers.map(async ({ source }, index) => ({ ...looks[index]!, ...(await sources.openable(source, seen[index]!, signal)) })),
      )
      try {
        return (await pool.run(
          'mosaic',
          { ...input, layers: opened },
          { signal, affinity: seen[0]?.key ?? '', deadlineMs: MOSAIC_DEADLINE_MS },
        )) as Uint8Array
      } catch (error) {
        sources.forgetChanged(
          error,
          layers.map(({ source }) => source),
        )
        throw error
      }
    })
  }

  /** Of a whole raster they are the same for everybody, so they are kept; an area is hardly ever asked for twice. */
  const statistics = async (
    source: RasterSource,
    { signal: _signal, ...wanted }: StatisticsOptions,
    signal: AbortSignal | undefined,
  ): Promise<Statistics> => {
    const compute = (inner: AbortSignal | undefined) =>
      run<Statistics>('statistics', source, { options: defined(wanted) }, { signal: inner, deadlineMs: STATISTICS_DEADLINE_MS })
    if (wanted.geometry !== undefined) return await compute(signal)
    const { key } = await sources.identify(source, signal)
    return await summaries.get(nameFor([key, wanted]), compute, { signal })
  }

  return {
    describe: async (source, signal): Promise<RasterInfo> => (await sources.identify(source, signal)).info,
    tile: (source, { tile, ...drawing }, asking = {}) =>
      draw('tile', source, { tile, options: defined(drawing) }, MEDIA_TYPES[drawing.format], asking),
    mosaic: (layers, request, asking = {}) => drawMosaic(layers, request, asking),
    terrain: (source, { tile, ...drawing }, asking = {}) =>
      draw('terrain', source, { tile, options: defined(drawing) }, 'image/webp', asking),
    thumbnail: (source, drawing, asking = {}) =>
      draw('thumbnail', source, { options: { ...defined(drawing), format: 'jpeg' } }, 'image/jpeg', asking),
    statistics,
    point: (source, place, signal) => run('point', source, { place, options: {} }, { signal }),
    inspect: (source, signal) => run<Inspection>('inspect', source, {}, { signal, deadlineMs: INSPECT_DEADLINE_MS }),
    convert: converter.convert,
    sweep: converter.sweep,
    metrics: () => ({
      ...prefixed('pool', pool.metrics),
      ...prefixed('converters', converter.metrics()),
      ...prefixed('tiles', tiles.metrics),
      ...prefixed('sources', sources.metrics()),
    }),
    async close() {
      await Promise.all([pool.close(), converter.close()])
    },
  }
}

function nameFor(identity: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([DRAWING_VERSION, identity]))
    .digest('base64url')
    .slice(0, 27)
}

function matches(ifNoneMatch: string | null, etag: string): boolean {
  return (
    ifNoneMatch !== null && (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
  )
}

/** Absent and undefined are one to a caller and two to a cache key. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}

function prefixed(name: string, metrics: object): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`${name}_${key}`, value as number]))
}
