import { bandIndex } from '#raster/bands.ts'
import { takeZeros } from '#raster/buffers.ts'
import { colorTable } from '#raster/colormap/index.ts'
import { compileExpression, parseExpression, type BandScale } from '#raster/expression/index.ts'
import type { IndexedImage, RawImage } from '#raster/encode/index.ts'
import { RasterError, type DataType, type Raster, type SampleArray } from '#raster/types.ts'
import { isFloatType, loadSampleKernels } from '#raster/warp/instances.ts'
import type { WarpWindow } from '#raster/warp/plan.ts'
import { gatherNearest, samplePlanes, type Resampling, type SampledPlanes } from '#raster/warp/sample.ts'
import type { ByteScale, ValidRule } from '#raster/warp/samples.ts'

import { classColors, interleave, lookUpColors, type Size } from './color.ts'
import { byteTable, type RenderContext } from './context.ts'
import { rangeFor, type Range, type Style } from './style.ts'

/** Pixels to render, and where they are in the raster. */
interface Target extends Size {
  windows: readonly WarpWindow[]
}

interface DrawOptions {
  style: Style
  ranges: readonly Range[]
  resampling: Resampling
  /** Ranges are in physical values: sample · scale + offset. */
  unscale: boolean
  signal?: AbortSignal | undefined
}

interface Job {
  context: RenderContext
  raster: Raster
  target: Target
  options: DrawOptions
}

const BYTE_SCALE = { first: 0, last: 255 }

/** Renders a raster on the target's pixels. */
export async function draw(context: RenderContext, raster: Raster, target: Target, options: DrawOptions): Promise<RawImage | IndexedImage> {
  const job = { context, raster, target, options }
  const { style } = options
  switch (style.kind) {
    case 'rgb':
      return drawRgb(job, [
        bandIndex(raster.info, style.bands[0]),
        bandIndex(raster.info, style.bands[1]),
        bandIndex(raster.info, style.bands[2]),
      ])
    case 'single':
      return drawSingle(job, bandIndex(raster.info, style.band), style.colormap)
    case 'expression':
      return drawExpression(job, style)
    case 'palette':
      return drawPalette(job, style.colormap)
  }
}

/** The scale from samples to bytes; a range of physical values is converted to one of samples. */
function sampleScale({ raster, options }: Job, band: number, index: number, bytes: { first: number; last: number }): ByteScale {
  const [low, high, gamma] = rangeFor(options.ranges, index)
  const { scale, offset } = (options.unscale && raster.info.bands[band]) || { scale: 1, offset: 0 }
  const divisor = scale === 0 ? 1 : scale
  return { low: (low - offset) / divisor, high: (high - offset) / divisor, gamma, ...bytes }
}

async function drawRgb(job: Job, bands: readonly [number, number, number]): Promise<RawImage> {
  const { context, raster, target } = job
  const { dataType } = raster.info
  const scales = bands.map((band, index) => sampleScale(job, band, index, BYTE_SCALE))
  const [red, green, blue] = scales.map((scale) => byteTable(context, dataType, scale))
  if (job.options.resampling !== 'nearest' || !red || !green || !blue) return drawPlanes(job, bands, scales)
  const { packPixels, nodataOf } = await loadSampleKernels(dataType)
  const data = takeZeros(target.width * target.height * 4)
  const packed = {
    bands,
    tables: [red, green, blue] as const,
    pixels: new Uint32Array(data.buffer, 0, target.width * target.height),
    nodata: nodataOf(raster.info.bands, bands),
    packs: new Map(),
  }
  await gatherNearest(sampleRequest(job, bands), (block, offsets, run) => packPixels(packed, block, offsets, run))
  return { width: target.width, height: target.height, channels: 4, data }
}

async function drawPlanes(job: Job, bands: readonly number[], scales: readonly ByteScale[]): Promise<RawImage> {
  const sampled = await sample(job, bands, 'any')
  return interleave(await toBytes(sampled, job, scales), sampled.mask, job.target)
}

async function drawSingle(job: Job, band: number, colormap: string | undefined): Promise<RawImage | IndexedImage> {
  const { context, raster, target, options } = job
  const { width, height } = target
  const palette = colormap === undefined ? null : colorTable(colormap)
  const scale = sampleScale(job, band, 0, BYTE_SCALE)
  const table = options.resampling === 'nearest' ? byteTable(context, raster.info.dataType, scale) : null
  let values: Uint8Array<ArrayBuffer>
  let mask: Uint8Array
  if (table) {
    const { lookUpPixels } = await loadSampleKernels(raster.info.dataType)
    values = takeZeros(width * height)
    mask = takeZeros(width * height)
    const looked = { band, nodata: raster.info.bands[band]?.nodata ?? null, table, values, mask }
    await gatherNearest(sampleRequest(job, [band]), (block, offsets, run) => lookUpPixels(looked, block, offsets, run))
  } else {
    const sampled = await sample(job, [band], 'all')
    mask = sampled.mask
    values = (await toBytes(sampled, job, [scale]))[0]!
  }
  return palette ? { width, height, indices: values, mask, palette } : interleave([values], mask, target)
}

async function drawExpression(job: Job, style: Extract<Style, { kind: 'expression' }>): Promise<RawImage | IndexedImage> {
  const { raster, target, options } = job
  const { info } = raster
  const expression = parseExpression(style.expression, { bandCount: info.bandCount, ...(style.names ? { names: style.names } : {}) })
  const count = expression.results.length
  if (count !== 1 && count !== 3)
    throw new RasterError('invalid_argument', `An expression for an image must have one or three results, not ${count}`)
  if (expression.bands.length === 0) throw new RasterError('invalid_argument', 'The expression must use at least one band')
  const bands = expression.bands.map((band) => band - 1)
  const sampled = await sample(job, bands, 'all')
  const scales = new Map<number, BandScale>(
    options.unscale ? expression.bands.map((band) => [band, info.bands[band - 1] ?? { scale: 1, offset: 0 }]) : [],
  )
  const compiled = compileExpression(expression, { dataType: planeType(sampled, info.dataType), scales })
  const { values, mask } = compiled.run(sampled.planes, sampled.mask, target.width * target.height)
  const palette = style.colormap === undefined || count === 3 ? null : colorTable(style.colormap)
  const { scalePlane } = await loadSampleKernels('float64')
  const bytes = values.map((plane, index) => {
    const [low, high] = rangeFor(options.ranges, index)
    const out = new Uint8Array(plane.length)
    scalePlane(plane, mask, { low, high, ...BYTE_SCALE }, out)
    return out
  })
  return palette ? { width: target.width, height: target.height, indices: bytes[0]!, mask, palette } : interleave(bytes, mask, target)
}

async function drawPalette(job: Job, colormap: string | undefined): Promise<RawImage> {
  const table = job.raster.info.colorTable ?? (colormap === undefined ? null : classColors(colormap))
  if (!table) throw new RasterError('invalid_argument', 'The raster has no colour table')
  // Class codes cannot be interpolated.
  const nearest = { ...job, options: { ...job.options, resampling: 'nearest' as const } }
  const { planes, mask } = await sample(nearest, [0], 'all')
  return lookUpColors(planes[0] as SampleArray, mask, table, job.target)
}

const sampleRequest = ({ context, raster, target, options }: Job, bands: readonly number[]) => ({
  raster,
  blocks: context.blocks,
  windows: target.windows,
  bands,
  width: target.width,
  height: target.height,
  signal: options.signal,
})

const sample = (job: Job, bands: readonly number[], rule: ValidRule): Promise<SampledPlanes> =>
  samplePlanes({ ...sampleRequest(job, bands), rule, resampling: job.options.resampling })

/** Resampled planes are floats, whatever the source type. */
function planeType({ planes }: SampledPlanes, dataType: DataType): DataType {
  if (isFloatType(dataType)) return dataType
  return planes[0] instanceof Float64Array ? 'float64' : planes[0] instanceof Float32Array ? 'float32' : dataType
}

async function toBytes(sampled: SampledPlanes, { raster }: Job, scales: readonly ByteScale[]): Promise<Uint8Array<ArrayBuffer>[]> {
  const { scalePlane } = await loadSampleKernels(planeType(sampled, raster.info.dataType))
  return sampled.planes.map((plane, index) => {
    const bytes = new Uint8Array(plane.length)
    scalePlane(plane, sampled.mask, scales[index] as ByteScale, bytes)
    return bytes
  })
}
