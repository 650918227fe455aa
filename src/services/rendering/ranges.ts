import type { AreaGeometry } from '#core/geometry.ts'
import { problem } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import { NATURAL_PERCENTILES, naturalRanges, RANGE_PERCENTILES, RANGE_SIDE_PX, rescaleText } from '#raster/render/style.ts'
import type { StyledLayer } from './styled-layer.ts'

interface ItemRange {
  p2: number | null
  p98: number | null
  min: number | null
  max: number | null
}

interface RangeOptions {
  /** Number of histogram bins; null for no histogram. */
  bins: number | null
  /** Limits the statistics to an area; null for the whole raster. */
  area: AreaGeometry | null
}

/** Statistics of the values that a style shows, over the raster or an area. Over the raster, tiles are stretched to the same numbers. */
export async function rangesOf(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  { source, style, names }: StyledLayer,
  { bins, area }: RangeOptions,
) {
  if (style.kind === 'palette') throw problem('bad-request', 'A categorical raster has no range; set bands or expression')
  const bands = style.kind === 'rgb' ? [...style.bands] : style.kind === 'single' ? [style.band] : null
  const values = style.kind === 'expression' ? { expression: style.expression, names: style.names ?? names } : { bands: bands! }
  const { bands: measured } = await raster.statistics(
    source,
    {
      ...values,
      percentiles: [...RANGE_PERCENTILES, ...NATURAL_PERCENTILES],
      binCount: bins ?? 1,
      ...(area ? { geometry: area } : { minSidePx: RANGE_SIDE_PX }),
    },
    signal,
  )
  const labels = style.kind === 'expression' ? style.expression.split(';').map((part) => part.trim()) : bands!.map((band) => `b${band}`)
  const results = measured.map(({ min, max, percentiles: [p2 = null, p98 = null], histogram }, index) => ({
    name: labels[index] ?? `result ${index + 1}`,
    p2,
    p98,
    min,
    max,
    ...(bins === null ? {} : { histogram }),
  }))
  const isNatural = style.kind === 'rgb' && style.natural === true
  const pairs = isNatural
    ? naturalRanges(measured.map(({ percentiles }) => percentiles.slice(RANGE_PERCENTILES.length))).map(
        ([low, high]) => [low, high] as const,
      )
    : results.map(({ p2, p98 }) => (p2 === null || p98 === null ? null : ([p2, p98] as const)))
  return { ...combined(results), rescale: rescaleText(pairs), results }
}

/** The lowest and the highest values of several results. */
function combined(results: readonly ItemRange[]): ItemRange {
  const least = (pick: (range: ItemRange) => number | null) => extreme(results.map(pick), Math.min)
  const most = (pick: (range: ItemRange) => number | null) => extreme(results.map(pick), Math.max)
  return { p2: least(({ p2 }) => p2), p98: most(({ p98 }) => p98), min: least(({ min }) => min), max: most(({ max }) => max) }
}

function extreme(values: readonly (number | null)[], of: (...values: number[]) => number): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : of(...known)
}
