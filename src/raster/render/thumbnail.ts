import { encodeImage, type EncodeOptions } from '#raster/encode/index.ts'
import { summarizeSamples } from '#raster/statistics/summarize.ts'
import { RasterError, type Raster, type SampleArray } from '#raster/types.ts'
import { orientationOf, planPreview } from '#raster/warp/plan.ts'
import { samplePlanes } from '#raster/warp/sample.ts'

import type { RenderContext } from './context.ts'
import { draw } from './render.ts'
import { defaultStyle, NATURAL_PERCENTILES, naturalRanges, RANGE_PERCENTILES, type Range, type Style } from './style.ts'

export interface ThumbnailOptions {
  /** The image fits this box and keeps the raster's proportions. Default 256. */
  width?: number
  height?: number
  style?: Style | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_SIDE_PX = 256
const MAX_SIDE_PX = 2048

/** A small image of the whole raster, in its own CRS. Samples other than bytes are stretched from 2% to 98%. */
export async function renderThumbnail(context: RenderContext, raster: Raster, options: ThumbnailOptions & EncodeOptions): Promise<Buffer> {
  const { style = defaultStyle(raster.info), signal } = options
  const { width, height } = fit(raster, options.width ?? DEFAULT_SIDE_PX, options.height ?? DEFAULT_SIDE_PX)
  const windows = planPreview(raster, width, height)
  const resampling = style.kind === 'palette' ? ('nearest' as const) : ('average' as const)
  const target = { windows, width, height }
  const ranges = await stretch(context, raster, { style, target, signal })
  // A range of its own is one of samples.
  const unscale = raster.info.isScaled === true && (style.kind === 'expression' || ranges === ownRanges(style))
  return encodeImage(await draw(context, raster, target, { style, ranges, resampling, unscale, signal }), options)
}

const ownRanges = (style: Style): readonly Range[] | undefined => (style.kind === 'palette' ? undefined : style.ranges)

function fit(raster: Raster, boxWidth: number, boxHeight: number): { width: number; height: number } {
  for (const side of [boxWidth, boxHeight]) {
    if (!Number.isInteger(side) || side < 1 || side > MAX_SIDE_PX) {
      throw new RasterError('invalid_argument', `width and height must be between 1 and ${MAX_SIDE_PX}`)
    }
  }
  const { width, height } = raster.info
  const [across, down] = orientationOf(raster.info).isTransposed ? [height, width] : [width, height]
  const factor = Math.min(boxWidth / across, boxHeight / down)
  return { width: Math.max(1, Math.round(across * factor)), height: Math.max(1, Math.round(down * factor)) }
}

interface Stretching {
  style: Style
  target: { windows: ReturnType<typeof planPreview>; width: number; height: number }
  signal: AbortSignal | undefined
}

/** The thumbnail holds the whole image, so its own samples give the range. */
async function stretch(context: RenderContext, raster: Raster, { style, target, signal }: Stretching): Promise<readonly Range[]> {
  if (style.kind === 'palette' || style.kind === 'expression') return style.kind === 'expression' ? (style.ranges ?? [[-1, 1]]) : []
  if (style.ranges && style.ranges.length > 0) return style.ranges
  if (raster.info.dataType === 'uint8') return [[0, 255]]
  const bands = (style.kind === 'rgb' ? style.bands : [style.band]).map((band) => band - 1)
  const { planes, mask } = await samplePlanes({
    raster,
    blocks: context.blocks,
    ...target,
    bands,
    resampling: 'average',
    rule: 'any',
    signal,
  })
  if (style.kind === 'rgb' && style.natural) return naturalRanges(planes.map((plane) => percentilesOf(plane, mask, NATURAL_PERCENTILES)))
  return planes.map((plane) => {
    const [low = 0, high = 1] = percentilesOf(plane, mask, RANGE_PERCENTILES)
    return high > low ? [low, high] : [low, low + 1]
  })
}

function percentilesOf(plane: SampleArray, mask: Uint8Array, wanted: readonly number[]): number[] {
  const values = Float64Array.from(plane).filter((value, i) => mask[i] !== 0 && Number.isFinite(value))
  const { percentiles } = summarizeSamples({ values, weights: null, count: values.length }, { percentiles: wanted, binCount: 1 })
  return percentiles.map((value) => value ?? 0)
}
