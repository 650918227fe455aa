import { bandIndex } from '#raster/bands.ts'
import type { RawGeoKeys } from '#raster/crs/geokeys.ts'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { readMaskUnder, readPlane, type BlockAddress, type TiffImage } from '#raster/tiff/blocks.ts'
import { sparseFill } from '#raster/tiff/bands.ts'
import { blockMask, toNumbers } from '#raster/tiff/masks.ts'
import { assembleWindow } from '#raster/tiff/window.ts'
import type {
  Block,
  ExactSampleArray,
  PixelWindow,
  Raster,
  RasterInfo,
  ReadBlockOptions,
  ReadOptions,
  SampleArray,
  Source,
} from '#raster/types.ts'

/** A resolution of the raster, with the mask that belongs to it. */
export interface TiffLevel extends TiffImage {
  readonly mask: TiffImage | null
}

export interface ReadExactOptions extends ReadOptions {
  readonly interleaved?: boolean
}

interface BlockPlace {
  readonly offset: number
  readonly length: number
}

export interface StoredBlocks {
  readonly blocks: readonly { readonly image: BlockPlace; readonly mask: BlockPlace | null }[]
  readonly fetch: Source['fetch']
}

interface RasterFiles {
  readonly source: Source
  readonly overviews: Source | undefined
}

/** A raster whose samples can be copied without loss: an open TIFF, or a stack of them. */
export interface ExactRaster extends Raster {
  /** The tags that define the CRS, as stored. */
  readonly geoKeys: RawGeoKeys
  /** Like `readBlock`, with exact 64-bit integers. */
  readExactBlock(level: number, blockX: number, blockY: number, options?: ReadBlockOptions): Promise<Block<ExactSampleArray>>
  /** Like `readWindow`, with exact 64-bit integers, and optionally pixel-interleaved. */
  readExactWindow(level: number, window: PixelWindow, options?: ReadExactOptions): Promise<Block<ExactSampleArray>>
}

/** An open TIFF. It caches nothing: callers that read many tiles cache decoded blocks by `key`. */
export class TiffRaster implements ExactRaster {
  readonly info: RasterInfo
  readonly key: string
  readonly geoKeys: RawGeoKeys
  readonly #files: RasterFiles
  readonly #levels: readonly TiffLevel[]
  readonly #sparseFill: number | null

  constructor(files: RasterFiles, info: RasterInfo, levels: readonly TiffLevel[], geoKeys: RawGeoKeys) {
    this.#files = files
    this.#levels = levels
    this.info = info
    this.#sparseFill = sparseFill(info.dataType, info.declaredNodata)
    this.geoKeys = geoKeys
    this.key = files.overviews ? `${files.source.key}+${files.overviews.key}` : files.source.key
  }

  async readBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block> {
    const exact = await this.readExactBlock(level, blockX, blockY, options)
    return { ...exact, data: shareConverted(exact.data) }
  }

  async readExactBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block<ExactSampleArray>> {
    throwIfAborted(options.signal)
    const image = this.#level(level)
    const { directory, mask } = image
    const { grid } = directory
    if (!isIndex(blockX, grid.blocksX) || !isIndex(blockY, grid.blocksY)) {
      throw new RasterError('invalid_argument', `Level ${level} has no block ${blockX}, ${blockY}`)
    }
    const bands = this.#bands(options.bands)
    const rows = Math.min(grid.rowsOf(blockY), Math.max(1, Math.ceil(options.rows ?? Infinity)))
    const address: BlockAddress = { blockX, blockY, rows, firstRow: options.firstRow ?? 0, signal: options.signal }
    const needed = directory.planar ? withAlpha(bands, this.info) : [0]
    const [planes, maskSamples] = await Promise.all([
      Promise.all(needed.map((plane) => readPlane(image, plane, address, this.#sparseFill))),
      mask ? readMaskUnder(mask, directory, address) : null,
    ])
    const stride = directory.planar ? 1 : directory.bandCount
    const data = directory.planar ? planes.slice(0, bands.length) : bands.map(() => first(planes))
    const starts = directory.planar ? bands.map(() => 0) : [...bands]
    const pixelMask = maskSamples ?? blockMask(this.info, { planes, wanted: needed, stride, count: grid.blockWidth * rows })
    // The memory that the planes hold, which is more than their samples if rows were skipped or buffers are reused.
    const byteLength = planes.reduce((sum, plane) => sum + plane.buffer.byteLength, pixelMask?.byteLength ?? 0)
    return { width: grid.blockWidth, height: rows, bands, data, starts, stride, mask: pixelMask, byteLength }
  }

  async readWindow(level: number, window: PixelWindow, options: ReadOptions = {}): Promise<Block> {
    const exact = await this.readExactWindow(level, window, options)
    return { ...exact, data: exact.data.map(toNumbers) }
  }

  async readExactWindow(level: number, window: PixelWindow, options: ReadExactOptions = {}): Promise<Block<ExactSampleArray>> {
    const bands = this.#bands(options.bands)
    return assembleWindow(this, { level, window, bands, interleaved: options.interleaved ?? false, signal: options.signal })
  }

  /** The blocks of a level in the order of the file, each mask block after its image block, for copying without decoding. */
  async storedBlocks(level: number): Promise<StoredBlocks> {
    const { source, directory, mask } = this.#level(level)
    const { blocksX, blocksY } = directory.grid
    const blocks: { image: BlockPlace; mask: BlockPlace | null }[] = []
    for (let y = 0; y < blocksY; y++)
      for (let x = 0; x < blocksX; x++)
        blocks.push({ image: await directory.grid.place(0, x, y), mask: mask ? await mask.directory.grid.place(0, x, y) : null })
    return { blocks, fetch: (offset, length, signal) => source.fetch(offset, length, signal) }
  }

  async close(): Promise<void> {
    await this.#files.source.close?.()
    await this.#files.overviews?.close?.()
  }

  #level(level: number): TiffLevel {
    const directory = this.#levels[level]
    if (!directory) throw new RasterError('invalid_argument', `The raster has no level ${level}`)
    return directory
  }

  #bands(bands: readonly number[] | undefined): readonly number[] {
    if (!bands) return Array.from({ length: this.info.bandCount }, (_, band) => band)
    return bands.map((band) => bandIndex(this.info, band + 1))
  }
}

function isIndex(value: number, count: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < count
}

/** A planar file must also read its alpha plane where that is the mask. */
function withAlpha(bands: readonly number[], info: RasterInfo): number[] {
  const alpha = info.maskKind === 'alpha' ? info.alphaBand : null
  return alpha === null || bands.includes(alpha) ? [...bands] : [...bands, alpha]
}

function first<T>(items: readonly T[]): T {
  const item = items[0]
  if (item === undefined) throw new RasterError('corrupt', 'The raster has no samples')
  return item
}

/** Converts each array once even where all bands share it. */
function shareConverted(data: readonly ExactSampleArray[]): SampleArray[] {
  const converted = new Map<ExactSampleArray, SampleArray>()
  return data.map((samples) => {
    const known = converted.get(samples) ?? toNumbers(samples)
    converted.set(samples, known)
    return known
  })
}
