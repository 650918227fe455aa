import { RasterError } from '#raster/errors.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { Block, ExactSampleArray, RasterInfo } from '#raster/types.ts'
import { writeCog, type WriteOptions, type WrittenCog } from '#raster/write/cog.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import type { CogSpec, CogCompression, OverviewMethod } from '#raster/write/spec.ts'

export interface ConvertOptions extends WriteOptions {
  readonly blockSize?: number
  readonly compression?: CogCompression
  readonly compressionLevel?: number
  readonly overviews?: OverviewMethod
}

/**
 * Rewrites any readable TIFF as a COG with the same samples, mask, georeference, palette and
 * descriptions. Odd widths become whole types (4-bit to uint8, half floats to float32).
 */
export async function convertToCog(raster: TiffRaster, sink: ByteSink, options: ConvertOptions = {}): Promise<WrittenCog> {
  const spec = specOf(raster, options)
  const rows = new RowBuffer(raster)
  return writeCog(sink, spec, (y, count, signal) => rows.read(y, count, signal), options)
}

function specOf(raster: TiffRaster, options: ConvertOptions): CogSpec {
  const { info } = raster
  if (info.colorTable && info.dataType !== 'uint8') throw new RasterError('unsupported', 'Palettes of more than 8 bits are not supported')
  const isClasses = info.colorTable !== null || info.bitsPerSample === 1
  return {
    width: info.width,
    height: info.height,
    dataType: info.dataType === 'float16' ? 'float32' : info.dataType,
    bandCount: info.bandCount,
    transform: info.transform,
    geoKeys: raster.geoKeys.directory.length > 0 ? raster.geoKeys : null,
    nodata: info.bands[0]?.nodata ?? null,
    hasMask: info.maskKind === 'internal',
    bands: info.bands,
    colorTable: info.colorTable,
    metadata: metadataOf(info),
    overviews: options.overviews ?? (isClasses ? 'mode' : 'average'),
    ...(options.blockSize === undefined ? {} : { blockSize: options.blockSize }),
    ...(options.compression === undefined ? {} : { compression: options.compression }),
    ...(options.compressionLevel === undefined ? {} : { compressionLevel: options.compressionLevel }),
  }
}

/** Ground control points are replaced by their fit, whose quality stays on record. */
function metadataOf(info: RasterInfo): Record<string, string> {
  const residual = info.gcpResidualPx === null ? {} : { GCP_RESIDUAL_PX: info.gcpResidualPx.toFixed(3) }
  return { ...info.metadata, ...residual }
}

/** Some rows of a raster, interleaved. */
interface Rows {
  readonly y: number
  readonly height: number
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

/**
 * Rows of a raster whose blocks are cut otherwise than the ones to write: blocks are decoded once,
 * a row of blocks at a time, and rows that were decoded too early wait here.
 */
class RowBuffer {
  readonly #raster: TiffRaster
  readonly #bands: readonly number[]
  #held: Rows | null = null

  constructor(raster: TiffRaster) {
    this.#raster = raster
    this.#bands = raster.info.bands.map((_, band) => band)
  }

  async read(y: number, rows: number, signal: AbortSignal | undefined): Promise<Block<ExactSampleArray>> {
    const held = this.#held
    const end = y + rows
    const heldEnd = held ? held.y + held.height : y
    if (held && end <= heldEnd) return this.#block(this.#cut(held, y, end))
    const fresh = await this.#readAhead(Math.max(y, heldEnd), end, signal)
    this.#held = fresh
    if (!held || heldEnd <= y) return this.#block(this.#cut(fresh, y, end))
    return this.#block(this.#join(this.#cut(held, y, heldEnd), this.#cut(fresh, heldEnd, end)))
  }

  /** From a row to the end of the row of blocks that the last wanted row is in. */
  async #readAhead(y: number, end: number, signal: AbortSignal | undefined): Promise<Rows> {
    const { width, height, levels } = this.#raster.info
    const blockHeight = levels[0]?.blockHeight ?? 1
    const to = Math.min(height, Math.ceil(end / blockHeight) * blockHeight)
    const { data, mask } = await this.#raster.readExactWindow(0, { x: 0, y, width, height: to - y }, { interleaved: true, signal })
    return { y, height: to - y, samples: data[0] ?? new Uint8Array(0), mask }
  }

  /** A view, not a copy. */
  #cut({ y, samples, mask }: Rows, from: number, to: number): Rows {
    const { width, bandCount } = this.#raster.info
    return {
      y: from,
      height: to - from,
      samples: samples.subarray((from - y) * width * bandCount, (to - y) * width * bandCount),
      mask: mask?.subarray((from - y) * width, (to - y) * width) ?? null,
    }
  }

  #join(a: Rows, b: Rows): Rows {
    const { width, dataType } = this.#raster.info
    const samples = new EXACT_ARRAY[dataType](a.samples.length + b.samples.length)
    ;(samples as Uint8Array).set(a.samples as Uint8Array)
    ;(samples as Uint8Array).set(b.samples as Uint8Array, a.samples.length)
    const opaque = ({ height }: Rows): Uint8Array => new Uint8Array(width * height).fill(255)
    const mask = a.mask || b.mask ? Buffer.concat([a.mask ?? opaque(a), b.mask ?? opaque(b)]) : null
    return { y: a.y, height: a.height + b.height, samples, mask }
  }

  #block({ height, samples, mask }: Rows): Block<ExactSampleArray> {
    const bands = this.#bands
    return {
      width: this.#raster.info.width,
      height,
      bands,
      data: bands.map(() => samples),
      starts: bands,
      stride: bands.length,
      mask,
      byteLength: samples.byteLength + (mask?.byteLength ?? 0),
    }
  }
}
