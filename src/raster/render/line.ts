import { bandIndex } from '#raster/bands.ts'
import type { Block, Level, Raster } from '#raster/types.ts'
import { withBlocks } from '#raster/warp/blocks.ts'

import type { RenderContext } from './context.ts'
import { pixelAt, valuesAt, type Place, type PointOptions } from './point.ts'

type Values = (number | null)[] | null
type Pixel = { x: number; y: number }

/**
 * The values of bands at many places in a row, each as `readPoint` returns them, from the level whose pixels are as far apart as the
 * places.
 */
export async function readLine(
  context: RenderContext,
  raster: Raster,
  places: readonly Place[],
  options: PointOptions = {},
): Promise<Values[]> {
  if (!raster.forBands) return await readPixels(context, raster, places, options)
  const { bands: described } = raster.info
  const bands = options.bands ?? described.map((_, index) => index + 1)
  // Of a stack, each band is read on its own pixels. One whose file cannot be read has no value.
  const columns = await Promise.all(
    bands.map(async (band) => {
      const index = bandIndex(raster.info, band)
      if (described[index]!.problem !== undefined) return null
      return await readPixels(context, raster.forBands!([index]), places, { ...options, bands: [band] })
    }),
  )
  return places.map((_, row) => {
    const values = columns.map((column) => column?.[row] ?? null)
    return values.every((value) => value === null) ? null : values.map((value) => value?.[0] ?? null)
  })
}

async function readPixels(
  context: RenderContext,
  raster: Raster,
  places: readonly Place[],
  { signal, ...options }: PointOptions,
): Promise<Values[]> {
  const { info } = raster
  const bands = (options.bands ?? info.bands.map((_, index) => index + 1)).map((band) => bandIndex(info, band))
  const finest = places.map((place) => pixelAt(raster, place))
  const index = levelFor(raster, finest)
  const level = info.levels[index] as Level
  const pixels = finest.map((pixel) => pixel && scaled(pixel, raster, level))
  const results: Values[] = places.map(() => null)
  // One block after the other: a line crosses few, and its neighbours on the line are in the same one.
  for (const rows of Map.groupBy(pixels.keys(), (row) => blockOf(pixels[row]!, level)).values()) {
    const inside = rows.filter((row) => pixels[row] !== null)
    if (inside.length === 0) continue
    const [xs, ys] = [inside.map((row) => pixels[row]!.x), inside.map((row) => pixels[row]!.y)]
    const range = { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs) + 1, maxY: Math.max(...ys) + 1 }
    await withBlocks(context.blocks, { raster, level: index, range, bands, signal }, ({ blocks }) => {
      for (const row of inside) results[row] = valuesAt(blocks[0] as Block, { info, level }, pixels[row]!, bands, options)
    })
  }
  return results
}

const blockOf = (pixel: Pixel | null, { blockWidth, blockHeight }: Level): string =>
  pixel ? `${Math.floor(pixel.x / blockWidth)} ${Math.floor(pixel.y / blockHeight)}` : ''

const scaled = ({ x, y }: Pixel, { info }: Raster, { width, height }: Level): Pixel => ({
  x: Math.min(width - 1, Math.floor((x * width) / info.width)),
  y: Math.min(height - 1, Math.floor((y * height) / info.height)),
})

/** The coarsest level on which two neighbours are still at least a pixel apart. */
function levelFor({ info }: Raster, pixels: readonly (Pixel | null)[]): number {
  const steps = pixels.flatMap((pixel, row) => {
    const next = pixels[row + 1]
    return pixel && next ? [Math.hypot(next.x - pixel.x, next.y - pixel.y)] : []
  })
  const step = steps.length === 0 ? 1 : steps.reduce((sum, length) => sum + length, 0) / steps.length
  return Math.max(
    0,
    info.levels.findLastIndex(({ width }) => info.width / width <= step),
  )
}
