/**
 * Several files as one raster. Files on the grid of the finest used one are read block by block, without a copy; others are
 * sampled on it, each at its own nearest level. So a file of 10 m and one of 20 m mix in any computation, and a stack of files
 * with equal grids gives the same pixels as one file with the same bands.
 */
import { giveBack } from '#raster/buffers.ts'
import { bandIndex } from '#raster/bands.ts'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import type { ExactRaster, ReadExactOptions } from '#raster/tiff/raster.ts'
import { toNumbers } from '#raster/tiff/masks.ts'
import { assembleWindow } from '#raster/tiff/window.ts'
import type {
  Affine,
  Block,
  ExactSampleArray,
  GridBands,
  Level,
  PixelWindow,
  Raster,
  RasterInfo,
  ReadBlockOptions,
  ReadOptions,
} from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import type { BlockCache } from '#raster/warp/blocks.ts'
import { sampleArray } from '#raster/warp/instances.ts'
import { planTarget } from '#raster/warp/plan.ts'
import { samplePlanes } from '#raster/warp/sample.ts'
import { assetOf, namingAsset, type StackBand } from './band.ts'
import { isSameBlocks, isSameGrid } from './grid.ts'
import { bandOf, describeStack, levelAt, type StackHeader } from './info.ts'

/** The open file of each band; null if the band is not used; or why it cannot be read. */
export type StackFile = ExactRaster | { readonly problem: string } | null

interface StackOptions {
  readonly bands: readonly StackBand[]
  readonly files: readonly StackFile[]
  /** Identity of the used content. */
  readonly key: string
  /** Decoded blocks of files on other grids. */
  readonly blocks: BlockCache
  /** As described earlier for the same bands and files. */
  readonly info?: RasterInfo | undefined
  /** Samples are physical values, as floats. */
  readonly isPhysical?: boolean
}

/** Samples of one band on the pixels of a block of the stack. */
interface Plane {
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

interface Place {
  readonly level: number
  readonly blockX: number
  readonly blockY: number
  /** Number of rows needed, from the top. */
  readonly rows: number
  readonly signal: AbortSignal | undefined
}

/** Descriptions of the parts of a stack, which are collected with that of the stack. Each has at most some dozen. */
const partInfos = new WeakMap<RasterInfo, Map<string, RasterInfo>>()

/** Parts of the same file serve several bands. It owns none of its files: `close` closes them for a caller that opened them for it. */
export class StackRaster implements ExactRaster {
  readonly info: RasterInfo
  readonly key: string
  readonly geoKeys: ExactRaster['geoKeys']
  readonly #options: StackOptions

  constructor(options: StackOptions) {
    this.#options = options
    this.key = options.key
    const info = options.info ?? describeStack(options.bands, options.files.map(headerOf))
    this.info = options.isPhysical ? physicalInfo(info) : info
    this.geoKeys = options.files.find(isOpen)?.geoKeys ?? { directory: [], doubles: [], ascii: '' }
  }

  forBands(bands: readonly number[]): Raster {
    const files = this.#options.files.map((file, index) => (bands.includes(index) ? file : null))
    for (const band of bands) this.#file(band)
    const isWhole = files.every((file, index) => file === this.#options.files[index])
    return isWhole
      ? this
      : new StackRaster({ ...this.#options, files, key: `${this.key}/${bands.join()}`, info: this.#infoFor(bands, files) })
  }

  byGrid(bands: readonly number[]): readonly GridBands[] {
    const groups: { bands: number[]; info: RasterInfo }[] = []
    for (const band of new Set(bands)) {
      const { info } = this.#file(band)
      const group = groups.find((other) => isSameGrid(other.info, levelAt(other.info, 0), info, levelAt(info, 0)))
      if (group) group.bands.push(band)
      else groups.push({ bands: [band], info })
    }
    const isOwn = (info: RasterInfo) => isSameGrid(this.info, levelAt(this.info, 0), info, levelAt(info, 0))
    return groups.map((group) => ({ bands: group.bands, raster: isOwn(group.info) ? this : this.forBands(group.bands) }))
  }

  /** The same object for the same bands, because what is derived from a description is cached with it. */
  #infoFor(bands: readonly number[], files: readonly StackFile[]): RasterInfo {
    const known = partInfos.get(this.info) ?? new Map<string, RasterInfo>()
    partInfos.set(this.info, known)
    const name = bands.toSorted((a, b) => a - b).join()
    const info = known.get(name) ?? describeStack(this.#options.bands, files.map(headerOf))
    known.set(name, info)
    return info
  }

  /** The same with scale and offset applied, for computations with samples of several scenes. */
  physical(): StackRaster {
    return this.info.isScaled ? new StackRaster({ ...this.#options, key: `${this.key}/physical`, isPhysical: true }) : this
  }

  async readBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block> {
    const exact = await this.readExactBlock(level, blockX, blockY, options)
    return { ...exact, data: exact.data.map(toNumbers) }
  }

  async readExactBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block<ExactSampleArray>> {
    throwIfAborted(options.signal)
    const { blockWidth, blockHeight, blocksX, blocksY, height } = levelAt(this.info, level)
    if (!(blockX >= 0 && blockX < blocksX && blockY >= 0 && blockY < blocksY))
      throw new RasterError('invalid_argument', `Level ${level} has no block ${blockX}, ${blockY}`)
    const rows = Math.min(blockHeight, height - blockY * blockHeight, Math.max(1, Math.ceil(options.rows ?? Infinity)))
    const bands = this.#bands(options.bands)
    const place = { level, blockX, blockY, rows, signal: options.signal }
    const planes = await Promise.all(bands.map((band) => this.#plane(band, place)))
    const mask = joined(planes, blockWidth * rows)
    const byteLength = planes.reduce((sum, { samples }) => sum + samples.buffer.byteLength, mask?.byteLength ?? 0)
    const data = planes.map(({ samples }) => samples)
    return { width: blockWidth, height: rows, bands, data, starts: bands.map(() => 0), stride: 1, mask, byteLength }
  }

  async readWindow(level: number, window: PixelWindow, options: ReadOptions = {}): Promise<Block> {
    const exact = await this.readExactWindow(level, window, options)
    return { ...exact, data: exact.data.map(toNumbers) }
  }

  async readExactWindow(level: number, window: PixelWindow, options: ReadExactOptions = {}): Promise<Block<ExactSampleArray>> {
    const bands = this.#bands(options.bands)
    return assembleWindow(this, { level, window, bands, interleaved: options.interleaved ?? false, signal: options.signal })
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.#options.files.filter(isOpen))].map((file) => file.close()))
  }

  #bands(bands: readonly number[] | undefined): readonly number[] {
    if (!bands) return Array.from({ length: this.info.bandCount }, (_, band) => band)
    return bands.map((band) => bandIndex(this.info, band + 1))
  }

  /** The file of a band, which is open if the band was announced as used. */
  #file(band: number): ExactRaster {
    const file = this.#options.files[band]
    if (file && isOpen(file)) return file
    throw new RasterError('invalid_argument', file?.problem ?? `The band '${this.info.bands[band]?.name}' is not open`)
  }

  #plane(band: number, place: Place): Promise<Plane> {
    const stated = this.#options.bands[band]!
    const file = this.#file(band)
    return namingAsset(assetOf(stated), async () => {
      const own = bandIndex(file.info, stated.band ?? 1)
      const level = levelAt(this.info, place.level)
      const theirs = file.info.levels[place.level]
      const plane =
        theirs && isSameGrid(this.info, level, file.info, theirs)
          ? await (isSameBlocks(level, theirs) ? sameBlock(file, own, place) : sameWindow(file, own, place, level))
          : await this.#sampled(file, own, place, level)
      return { ...plane, samples: this.#options.isPhysical ? this.#physical(plane.samples, band) : this.#converted(plane.samples) }
    })
  }

  /** The pixels of a file on another grid: the nearest one of the level that fits. */
  async #sampled(file: ExactRaster, band: number, { blockX, blockY, rows, signal }: Place, level: Level): Promise<Plane> {
    const { crs } = this.info
    if (!crs || !level.transform) throw new RasterError('no_georeference', 'The raster has no georeference')
    const transform = movedTo(level.transform, blockX * level.blockWidth, blockY * level.blockHeight)
    const grid = { crs, transform, width: level.blockWidth, height: rows }
    // The mask says where the file has pixels; nodata is compared later, as for one file.
    const { planes, mask } = await samplePlanes({
      raster: file,
      ignoresNodata: true,
      blocks: this.#options.blocks,
      windows: planTarget(file, grid),
      bands: [band],
      width: grid.width,
      height: grid.height,
      resampling: 'nearest',
      rule: 'all',
      signal,
    })
    return { samples: planes[0]!, mask: mask.includes(0) ? mask : null }
  }

  #physical(samples: ExactSampleArray, band: number): ExactSampleArray {
    const { bands, files } = this.#options
    const { nodata, scale, offset } = bandOf(bands[band]!, headerOf(files[band]!))
    const numbers = toNumbers(samples)
    const values = sampleArray(this.info.dataType, numbers.length)
    for (let i = 0; i < numbers.length; i++) values[i] = numbers[i] === nodata ? Number.NaN : numbers[i]! * scale + offset
    giveBack(numbers)
    return values
  }

  /** In the type of the stack, which holds the samples of all its files. */
  #converted(samples: ExactSampleArray): ExactSampleArray {
    const { dataType } = this.info
    const numbers = toNumbers(samples)
    const out = sampleArray(dataType, 0)
    if (out.constructor === numbers.constructor) return is64(dataType) ? samples : numbers
    const converted = sampleArray(dataType, numbers.length)
    converted.set(numbers)
    giveBack(numbers)
    return converted
  }
}

function physicalInfo(info: RasterInfo): RasterInfo {
  const bands = info.bands.map((band) => ({ ...band, scale: 1, offset: 0, nodata: Number.NaN }))
  const dataType = info.dataType === 'float64' || info.dataType.endsWith('32') || info.dataType.endsWith('64') ? 'float64' : 'float32'
  return { ...info, bands, dataType: info.dataType === 'float32' ? 'float32' : dataType, isScaled: false, maskKind: 'nodata' }
}

const is64 = (dataType: RasterInfo['dataType']): boolean => dataType === 'uint64' || dataType === 'int64'

export const isOpen = (file: StackFile | undefined): file is ExactRaster => file != null && 'readBlock' in file

const headerOf = (file: StackFile): StackHeader => (isOpen(file) ? file.info : file)

/** One band of a block that lies in the file as in the stack. */
async function sameBlock(file: ExactRaster, band: number, { level, blockX, blockY, rows, signal }: Place): Promise<Plane> {
  const block = await file.readExactBlock(level, blockX, blockY, { bands: [band], rows, signal })
  return { samples: planeOf(block, block.width * rows), mask: block.mask }
}

/** Files with other blocks on the same pixels. The part of a block beyond the edge of the raster is never read. */
async function sameWindow(file: ExactRaster, band: number, { level, blockX, blockY, rows, signal }: Place, own: Level): Promise<Plane> {
  const [x, y] = [blockX * own.blockWidth, blockY * own.blockHeight]
  const window = { x, y, width: Math.min(own.blockWidth, own.width - x), height: rows }
  const read = await file.readExactWindow(level, window, { bands: [band], signal })
  const samples = planeOf(read, window.width * rows)
  if (window.width === own.blockWidth) return { samples, mask: read.mask }
  return {
    samples: widened(samples, window.width, own.blockWidth, rows),
    mask: read.mask && (widened(read.mask, window.width, own.blockWidth, rows) as Uint8Array),
  }
}

function widened(samples: ExactSampleArray, width: number, blockWidth: number, rows: number): ExactSampleArray {
  const out = new (samples.constructor as new (length: number) => ExactSampleArray)(blockWidth * rows)
  for (let row = 0; row < rows; row++) out.set(samples.subarray(row * width, (row + 1) * width) as never, row * blockWidth)
  return out
}

/** The only band of a block, planar. */
function planeOf({ data, starts, stride }: Block<ExactSampleArray>, count: number): ExactSampleArray {
  const [samples] = data
  const [start = 0] = starts
  if (!samples) throw new RasterError('corrupt', 'The raster has no samples')
  if (stride === 1) return start === 0 && samples.length === count ? samples : (samples.subarray(start, start + count) as ExactSampleArray)
  const plane = new (samples.constructor as new (length: number) => ExactSampleArray)(count)
  for (let i = 0, at = start; i < count; i++, at += stride) plane[i] = samples[at]!
  giveBack(samples)
  return plane
}

/** A pixel is data where every used file has it. Null if all pixels are. */
function joined(planes: readonly Plane[], count: number): Uint8Array | null {
  let mask: Uint8Array | null = null
  for (const { mask: other } of planes) {
    if (!other) continue
    if (!mask) mask = other.slice(0, count)
    else for (let i = 0; i < count; i++) if (other[i]! < mask[i]!) mask[i] = other[i]!
  }
  return mask
}

const movedTo = (transform: Affine, x: number, y: number): Affine => {
  const [left, top] = applyAffine(transform, x, y)
  return [left, transform[1], transform[2], top, transform[4], transform[5]]
}
