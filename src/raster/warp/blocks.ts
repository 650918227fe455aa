import { giveBack } from '#raster/buffers.ts'
import { LoadingCache, type CacheMetrics } from '#raster/cache.ts'
import { RasterError, type Block, type Level, type Raster } from '#raster/types.ts'

/** A rectangle of blocks of one level, with those read so far. */
export interface BlockSet {
  level: Level
  firstX: number
  firstY: number
  countX: number
  countY: number
  /** Row by row. */
  blocks: readonly (Block | undefined)[]
}

export interface PixelRange {
  minX: number
  minY: number
  /** Exclusive. */
  maxX: number
  maxY: number
}

/** More for one image means that the file lacks overviews; it must not use the whole machine. */
export const MAX_SOURCE_PIXELS = 2 ** 27
const MAX_BLOCKS = 4096
/** Below this fraction of a block's rows, stopping early saves more than reading the rest later costs. */
const PARTIAL_SHARE = 0.75

/** Blocks that wait for their last reader before their memory is reused; more are left to the garbage collector. */
const MAX_RETIRED = 64

/** Decoded blocks. The memory of evicted ones is reused as soon as nobody reads any. */
export class BlockCache {
  readonly #blocks: LoadingCache<Block>
  #retired: Block[] = []
  #readers = 0

  constructor(maxBytes: number) {
    this.#blocks = new LoadingCache({ maxBytes, sizeOf: (block) => block.byteLength, dropped: (block) => this.#drop(block) })
  }

  get metrics(): CacheMetrics {
    return this.#blocks.metrics
  }

  has(key: string): boolean {
    return this.#blocks.has(key)
  }

  get: LoadingCache<Block>['get'] = (key, load, options) => this.#blocks.get(key, load, options)

  clear(): void {
    this.#blocks.clear()
  }

  /** Cached blocks must be read inside this callback. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    this.#readers += 1
    try {
      return await read()
    } finally {
      this.#readers -= 1
      if (this.#readers === 0) for (const block of this.#retired.splice(0)) recycle(block)
    }
  }

  #drop(block: Block): void {
    if (this.#readers === 0) recycle(block)
    else if (this.#retired.length < MAX_RETIRED) this.#retired.push(block)
  }
}

function recycle({ data }: Block): void {
  for (const samples of data) giveBack(samples)
}

export const createBlockCache = (maxBytes: number): BlockCache => new BlockCache(maxBytes)

interface BlockRequest {
  raster: Raster
  level: number
  range: PixelRange
  /** Zero-based. */
  bands: readonly number[]
  signal?: AbortSignal | undefined
}

/**
 * Reads the blocks under a range of pixels, from the cache if possible, and processes them. Null if the range is outside
 * the level.
 */
export function withBlocks<T>(cache: BlockCache, request: BlockRequest, look: (blocks: BlockSet) => T): Promise<T | null> {
  return cache.reading(async () => {
    const blocks = await readBlocks(cache, request)
    return blocks && look(blocks)
  })
}

/** Of a stack, names the files. */
function withoutOverview({ raster, bands }: BlockRequest): string {
  const lack = 'no overview that is small enough for this image'
  if (!raster.forBands) return `The raster has ${lack}`
  const names = bands.map((band) => `'${raster.info.bands[band]?.name}'`)
  const isOne = names.length === 1
  return (
    `The asset${isOne ? '' : 's'} ${names.join(', ')} ${isOne ? 'has' : 'have'} ${lack}. ` +
    `Add overviews to the file${isOne ? '' : 's'}, or use other bands`
  )
}

async function readBlocks(cache: BlockCache, request: BlockRequest): Promise<BlockSet | null> {
  const { raster, range } = request
  const level = raster.info.levels[request.level] as Level
  const firstX = Math.max(0, Math.floor(range.minX / level.blockWidth))
  const firstY = Math.max(0, Math.floor(range.minY / level.blockHeight))
  const countX = Math.min(level.blocksX, Math.ceil(range.maxX / level.blockWidth)) - firstX
  const countY = Math.min(level.blocksY, Math.ceil(range.maxY / level.blockHeight)) - firstY
  if (!(countX > 0 && countY > 0)) return null
  const pixels = countX * countY * level.blockWidth * level.blockHeight
  if (pixels > MAX_SOURCE_PIXELS || countX * countY > MAX_BLOCKS) {
    throw new RasterError('limit_exceeded', withoutOverview(request))
  }
  const reads = Array.from({ length: countX * countY }, (_, i) =>
    readBlock(cache, request, firstX + (i % countX), firstY + Math.floor(i / countX)),
  )
  return { level, firstX, firstY, countX, countY, blocks: await Promise.all(reads) }
}

function readBlock(
  cache: BlockCache,
  { raster, level: index, range, bands, signal }: BlockRequest,
  blockX: number,
  blockY: number,
): Promise<Block> {
  const level = raster.info.levels[index] as Level
  const top = blockY * level.blockHeight
  const available = Math.min(level.blockHeight, level.height - top)
  const needed = Math.min(available, Math.max(1, Math.ceil(range.maxY) - top))
  const rows = level.partialRows && needed < level.blockHeight * PARTIAL_SHARE ? needed : undefined
  // A planar file reads only the requested bands, so they are part of the cache key. A chunky one decodes them all, and
  // the next request may need others: all are kept.
  const isPlanar = raster.info.interleave === 'band'
  const keyOf = (x: number, y: number): string => `${raster.key}/${index}/${x}/${y}${isPlanar ? `/${bands.join()}` : ''}`
  // A user who pans a map needs the rest of a block next: beside cached blocks it is read completely.
  const isBesideKnown = (): boolean => NEIGHBOURS.some(([dx, dy]) => cache.has(keyOf(blockX + dx, blockY + dy)))
  return cache.get(
    keyOf(blockX, blockY),
    (loadSignal) =>
      raster.readBlock(index, blockX, blockY, {
        signal: loadSignal,
        ...(isPlanar ? { bands } : {}),
        ...(rows === undefined || isBesideKnown() ? {} : { rows }),
      }),
    { signal, accepts: (block) => block.height >= needed },
  )
}

/** The block itself counts too: then a part of it is cached. */
const NEIGHBOURS = [
  [0, 0],
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
] as const
