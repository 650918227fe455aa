import { LRUCache } from 'lru-cache'
import { LoadingCache } from '#raster/cache.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import type { DataType, Raster, RasterInfo } from '#raster/types.ts'
import { createBlockCache, type BlockCache } from '#raster/warp/blocks.ts'
import { bent, factorOf, type ByteScale, type ByteTable } from '#raster/warp/samples.ts'

import { NATURAL_PERCENTILES, naturalRanges, RANGE_PERCENTILES, RANGE_SIDE_PX, type Range, type Style } from './style.ts'

/** Caches shared between tiles. One per process; safe to lose. */
export interface RenderContext {
  /** Decoded blocks. */
  blocks: BlockCache
  /** Open rasters: their headers are read once. */
  rasters: LoadingCache<ExactRaster>
  /** Descriptions of stacks, by the identity of their content: what is derived from a description is cached with it. */
  stacks: LRUCache<string, RasterInfo>
  /** Ranges derived from an image's statistics. */
  ranges: LoadingCache<readonly Range[]>
  /** Encoded tiles. */
  tiles: LoadingCache<Buffer>
  /** Tables from samples to bytes. */
  tables: LRUCache<string, ByteTable>
}

export interface ContextOptions {
  blockCacheBytes?: number
  rasterCacheBytes?: number
  tileCacheBytes?: number
  /** Called with evicted rasters. The owner closes them when nobody reads them. */
  rasterDropped?: (raster: ExactRaster) => void
}

const MIB = 1024 * 1024
/** Together with everything else, this stays below the size at which a process is replaced. */
const DEFAULT_BLOCK_CACHE_BYTES = 192 * MIB
const DEFAULT_RASTER_CACHE_BYTES = 64 * MIB
const DEFAULT_TILE_CACHE_BYTES = 64 * MIB
/** Directories and tables of block offsets; a generous estimate, because readers do not report it. */
const RASTER_BYTES = 256 * 1024
const RANGE_CACHE_BYTES = MIB
const MAX_TABLES = 64
const MAX_STACKS = 256

export function createContext(options: ContextOptions = {}): RenderContext {
  const {
    blockCacheBytes = DEFAULT_BLOCK_CACHE_BYTES,
    rasterCacheBytes = DEFAULT_RASTER_CACHE_BYTES,
    tileCacheBytes = DEFAULT_TILE_CACHE_BYTES,
    rasterDropped,
  } = options
  return {
    blocks: createBlockCache(blockCacheBytes),
    rasters: new LoadingCache({
      maxBytes: rasterCacheBytes,
      sizeOf: () => RASTER_BYTES,
      ...(rasterDropped ? { dropped: rasterDropped } : {}),
    }),
    stacks: new LRUCache({ max: MAX_STACKS }),
    ranges: new LoadingCache({ maxBytes: RANGE_CACHE_BYTES, sizeOf: (ranges) => 128 + ranges.length * 16 }),
    tiles: new LoadingCache({ maxBytes: tileCacheBytes, sizeOf: (tile) => tile.length }),
    tables: new LRUCache({ max: MAX_TABLES }),
  }
}

const BYTE_RANGE: Range = [0, 255]

/**
 * The ranges of a style: given, or of the whole image. They never depend on the tile, so that neighbouring
 * tiles match.
 */
export async function resolveRanges(
  context: RenderContext,
  raster: Raster,
  style: Style,
  options: { unscale: boolean; signal?: AbortSignal | undefined },
): Promise<readonly Range[]> {
  if (style.kind === 'palette') return []
  if (style.ranges && style.ranges.length > 0) return style.ranges
  const { unscale, signal } = options
  // Bytes are shown unchanged, unless they encode other values.
  if (style.kind !== 'expression' && raster.info.dataType === 'uint8' && !unscale) return [BYTE_RANGE]
  const wanted =
    style.kind === 'expression'
      ? { expression: style.expression, ...(style.names ? { names: style.names } : {}) }
      : { bands: style.kind === 'rgb' ? style.bands : [style.band] }
  const isNatural = style.kind === 'rgb' && style.natural === true
  const key = `${raster.key}/${unscale}/${isNatural}/${JSON.stringify(wanted)}`
  const load = async (loadSignal: AbortSignal): Promise<Range[]> => {
    const { bands } = await computeStatistics(raster, {
      ...wanted,
      percentiles: isNatural ? NATURAL_PERCENTILES : RANGE_PERCENTILES,
      minSidePx: RANGE_SIDE_PX,
      unscale,
      signal: loadSignal,
    })
    if (isNatural) return naturalRanges(bands.map(({ percentiles }) => percentiles))
    return bands.map(({ percentiles: [low, high] }): Range => widened(low ?? 0, high ?? 1))
  }
  return context.ranges.get(key, load, { signal })
}

const widened = (low: number, high: number): Range => (high > low ? [low, high] : [low, low + 1])

const TABLE_TYPES: Partial<Record<DataType, { first: number; count: number }>> = {
  uint8: { first: 0, count: 256 },
  int8: { first: -128, count: 256 },
  uint16: { first: 0, count: 65536 },
  int16: { first: -32768, count: 65536 },
}

/** A table from every sample of a small type to its byte; null for types with too many values. */
export function byteTable(context: RenderContext, dataType: DataType, scale: ByteScale): ByteTable | null {
  const type = TABLE_TYPES[dataType]
  if (!type) return null
  const key = `${dataType}/${scale.low}/${scale.high}/${scale.first}/${scale.last}/${scale.gamma ?? 1}`
  let known = context.tables.get(key)
  if (!known) {
    const table = new Uint8Array(type.count)
    const factor = factorOf(scale)
    for (let i = 0; i < type.count; i++) {
      table[i] = bent(((type.first + i - scale.low) * factor) / (scale.last - scale.first), scale)
    }
    known = { table, tableStart: type.first }
    context.tables.set(key, known)
  }
  return known
}
