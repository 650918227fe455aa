import { crsFromEpsg } from '#raster/crs/registry.ts'
import { sampleArray } from '#raster/warp/instances.ts'
import type { Affine, Band, Block, DataType, Level, MaskKind, PixelWindow, Raster, RasterInfo, ReadOptions } from '#raster/types.ts'

/** What a raster of the tests looks like; its pixels are a function of their place. */
export interface MemoryRasterOptions {
  width: number
  height: number
  epsg: number
  transform: Affine
  dataType?: DataType
  bandCount?: number
  nodata?: number | null
  /** Overviews, as factors: 2 halves both sides. An overview's pixel is the full-size pixel at its upper left corner. */
  overviews?: readonly number[]
  blockSize?: number
  interleave?: 'pixel' | 'band'
  scale?: number
  offset?: number
  colorTable?: Uint8Array
  /** Sample of a zero-based band at a full-size pixel. */
  value: (x: number, y: number, band: number) => number
  /** 0 where there is no data, as an internal mask gives it. */
  mask?: (x: number, y: number) => number
}

let rasterCount = 0

/** A raster that lives in memory, for tests that must not depend on files. Counts its block reads. */
export class MemoryRaster implements Raster {
  readonly info: RasterInfo
  readonly key: string
  reads = 0
  readonly #options: MemoryRasterOptions

  constructor(options: MemoryRasterOptions) {
    this.#options = options
    this.key = `memory:${rasterCount++}`
    this.info = infoOf(options)
  }

  async readBlock(levelIndex: number, blockX: number, blockY: number, options: ReadOptions = {}): Promise<Block> {
    this.reads += 1
    const level = this.info.levels[levelIndex] as Level
    const window = { x: blockX * level.blockWidth, y: blockY * level.blockHeight, width: level.blockWidth, height: level.blockHeight }
    return only(this.#block(levelIndex, window), options.bands)
  }

  async readWindow(levelIndex: number, window: PixelWindow, options: ReadOptions = {}): Promise<Block> {
    return only(this.#block(levelIndex, window), options.bands)
  }

  async close(): Promise<void> {}

  #block(levelIndex: number, { x, y, width, height }: PixelWindow): Block {
    const { value, mask, interleave = 'pixel' } = this.#options
    const { bandCount, dataType } = this.info
    const factor = this.info.width / (this.info.levels[levelIndex] as Level).width
    const bands = Array.from({ length: bandCount }, (_, band) => band)
    const isPlanar = interleave === 'band'
    const stride = isPlanar ? 1 : bandCount
    const shared = sampleArray(dataType, width * height * bandCount)
    const data = bands.map(() => (isPlanar ? sampleArray(dataType, width * height) : shared))
    const starts = bands.map((band) => (isPlanar ? 0 : band))
    const valid = mask ? new Uint8Array(width * height) : null
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const pixel = row * width + column
        const [px, py] = [Math.floor((x + column) * factor), Math.floor((y + row) * factor)]
        for (const band of bands) data[band]![pixel * stride + starts[band]!] = value(px, py, band)
        if (valid && mask) valid[pixel] = mask(px, py)
      }
    }
    return { width, height, bands, data, starts, stride, mask: valid, byteLength: shared.byteLength }
  }
}

/** As a reader does: a block tells of the bands that were asked for, and of no others. */
function only(block: Block, wanted: readonly number[] | undefined): Block {
  if (!wanted) return block
  return { ...block, bands: wanted, data: wanted.map((band) => block.data[band]!), starts: wanted.map((band) => block.starts[band]!) }
}

function infoOf(options: MemoryRasterOptions): RasterInfo {
  const { width, height, transform, dataType = 'uint8', bandCount = 1, nodata = null, overviews = [], mask, interleave = 'pixel' } = options
  const band: Band = { name: null, color: 'undefined', nodata, scale: options.scale ?? 1, offset: options.offset ?? 0, unit: null }
  const maskKind: MaskKind = mask ? 'internal' : nodata === null ? 'none' : 'nodata'
  return {
    width,
    height,
    bandCount,
    dataType,
    bitsPerSample: 8,
    bands: Array.from({ length: bandCount }, () => band),
    levels: [1, ...overviews].map((factor) => levelOf(options, factor)),
    transform,
    gcps: [],
    gcpResidualPx: null,
    placedBy: 'transform',
    times: { items: [], tag: null },
    crs: crsFromEpsg(options.epsg),
    crsProblem: null,
    maskKind,
    declaredNodata: nodata,
    alphaBand: null,
    colorTable: options.colorTable ?? null,
    metadata: {},
    compression: 'none',
    interleave,
    byteOrder: 'little',
    bigTiff: false,
  }
}

function levelOf({ width, height, transform, blockSize = 64 }: MemoryRasterOptions, factor: number): Level {
  const levelWidth = Math.ceil(width / factor)
  const levelHeight = Math.ceil(height / factor)
  const [x0, a, b, y0, c, d] = transform
  const [fx, fy] = [width / levelWidth, height / levelHeight]
  return {
    width: levelWidth,
    height: levelHeight,
    blockWidth: blockSize,
    blockHeight: blockSize,
    blocksX: Math.ceil(levelWidth / blockSize),
    blocksY: Math.ceil(levelHeight / blockSize),
    transform: [x0, a * fx, b * fy, y0, c * fx, d * fy],
    partialRows: false,
  }
}
