import type { RowSpans } from '#raster/geometry/rasterize.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, PixelWindow, RasterInfo } from '#raster/types.ts'
import type { PullRows } from '#raster/write/cog.ts'
import { interleavedBlock, RowBuffer } from '#raster/write/rows.ts'
import type { CogSpec } from '#raster/write/spec.ts'

interface ClipSource {
  raster: ExactRaster
  window: PixelWindow
  /** Zero-based. */
  bands: readonly number[]
  /** The pixels of the window that are kept; null if all are. */
  spans: RowSpans | null
  spec: CogSpec
}

/**
 * Whether pixels can be copied unchanged. Floats cannot: non-finite values become nodata. And if bands have
 * different nodata values, or alpha beside them, a pixel that is missing in all bands is rewritten.
 */
export function isCopied(info: RasterInfo, bands: readonly number[]): boolean {
  const nodata = new Set(bands.map((band) => info.bands[band]?.nodata ?? null))
  return !info.dataType.startsWith('float') && nodata.size === 1 && (nodata.has(null) || info.alphaBand === null)
}

/** Rows of a raster's own pixels, without those outside the spans. Only columns that the spans touch are read. */
export function clippedRows({ raster, window, bands, spans, spec }: ClipSource): PullRows {
  const { x, y: top, width, height } = window
  const columns = spans && ((y: number, end: number) => touched(spans, y - top, end - top))
  const rows = new RowBuffer({ raster, x, width, bands, endY: top + height, columns })
  const fills = bands.map((band) => (band === raster.info.alphaBand ? 0 : (spec.nodata ?? 0)))
  return async (y, count, signal) => {
    const { samples, mask: known } = await rows.read(top + y, count, signal)
    const mask = known ?? (spec.hasMask && spans ? new Uint8Array(width * count).fill(255) : null)
    if (known) fillHidden(samples, known, fills)
    if (spans) fillOutside({ samples, mask }, { spans, y, count, width }, fills)
    return interleavedBlock(
      { height: count, samples, mask: spec.hasMask ? (mask ?? new Uint8Array(width * count).fill(255)) : null },
      width,
      bands.length,
    )
  }
}

/** The column range (exclusive end) that spans of some rows touch; null if none does. */
function touched({ starts, edges }: RowSpans, y: number, end: number): [number, number] | null {
  let [from, to] = [Infinity, -Infinity]
  for (let k = starts[y]!; k < starts[end]!; k++) {
    from = Math.min(from, edges[2 * k]!)
    to = Math.max(to, edges[2 * k + 1]!)
  }
  return from < to ? [from, to] : null
}

function fillHidden(samples: ExactSampleArray, mask: Uint8Array, fills: readonly number[]): void {
  for (let pixel = mask.indexOf(0); pixel >= 0; pixel = mask.indexOf(0, pixel + 1)) fillPixels(samples, pixel, pixel + 1, fills)
}

function fillOutside(
  { samples, mask }: { samples: ExactSampleArray; mask: Uint8Array | null },
  part: { spans: RowSpans; y: number; count: number; width: number },
  fills: readonly number[],
): void {
  const { spans, y, count, width } = part
  for (let row = 0; row < count; row++) {
    let done = 0
    for (let k = spans.starts[y + row]!; k <= spans.starts[y + row + 1]!; k++) {
      const isLast = k === spans.starts[y + row + 1]!
      const [from, to] = [row * width + done, row * width + (isLast ? width : spans.edges[2 * k]!)]
      fillPixels(samples, from, to, fills)
      mask?.fill(0, from, to)
      if (!isLast) done = spans.edges[2 * k + 1]!
    }
  }
}

function fillPixels(samples: ExactSampleArray, from: number, to: number, fills: readonly number[]): void {
  const bandCount = fills.length
  if (isBigArray(samples)) {
    for (let i = from * bandCount; i < to * bandCount; i++) samples[i] = BigInt(fills[i % bandCount]!)
  } else if (fills.every((fill) => fill === fills[0])) {
    samples.fill(fills[0]!, from * bandCount, to * bandCount)
  } else {
    for (let i = from * bandCount; i < to * bandCount; i++) samples[i] = fills[i % bandCount]!
  }
}
