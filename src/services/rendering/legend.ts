/** The legend of a styled layer, and its values at one point. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import type { Context } from '#operation.ts'
import { colorTable } from '#raster/colormap/index.ts'
import type { Range, Style } from '#raster/render/style.ts'
import type { StyledLayer } from './styled-layer.ts'
import { resultsAt } from './point.ts'
import { rangesOf } from './ranges.ts'

export const Legend = Closed(
  {
    kind: Choice(['scale', 'composite'], { description: 'Whether the legend is a colour scale or a composite' }),
    low: Nullable(Type.Number({ description: 'Value of the first colour; lower values have it too; null for a composite' })),
    high: Nullable(Type.Number({ description: 'Value of the last colour; higher values have it too; null for a composite' })),
    unit: Nullable(Type.String({ description: 'Unit of the values; null if unknown' })),
    colors: Type.Array(Type.String(), { description: 'Colours from low to high, evenly spaced, as `#rrggbb`; empty for a composite' }),
    channels: Type.Array(Type.String(), { description: 'What a composite shows as red, green and blue; empty for a scale' }),
  },
  { $id: 'Legend', description: 'Legend of a visualization' },
)

export const ValueAt = Closed({
  name: Type.String({ description: 'Band name or expression' }),
  value: Nullable(Type.Number({ description: 'Pixel value; null where there is no data' })),
})

/** Steps of a colour bar; people cannot tell more apart. */
const COLORS = 16
const GRAY = 'gray'
const BYTES: Range = [0, 255]

/** Null for categorical rasters, whose colours are in the file. */
export async function legendOf(context: Pick<Context, 'raster' | 'signal'>, styled: StyledLayer): Promise<Static<typeof Legend> | null> {
  const { style, info } = styled
  if (style.kind === 'palette') return null
  const isComposite = style.kind === 'rgb' || (style.kind === 'expression' && style.expression.includes(';'))
  if (isComposite) return { kind: 'composite', low: null, high: null, unit: null, colors: [], channels: shownBy(styled) }
  const isBytes = style.kind === 'single' && info.dataType === 'uint8' && !info.isScaled
  const [low, high] = style.ranges?.[0] ?? (isBytes ? BYTES : await measuredRange(context, styled))
  const unit = style.kind === 'single' ? unitOf(styled, style.band, style.hillshade === true) : null
  return { kind: 'scale', low, high, unit, colors: colorsOf(style.colormap ?? GRAY), channels: [] }
}

async function measuredRange(
  context: Pick<Context, 'raster' | 'signal'>,
  styled: StyledLayer,
): Promise<readonly [number | null, number | null]> {
  const { p2, p98 } = await rangesOf(context, styled, { bins: null, area: null })
  return [p2, p98]
}

/** Unscaled samples have no unit, because the unit applies to the real values. Heights without a unit are in metres. */
function unitOf({ info }: StyledLayer, band: number, isHeight: boolean): string | null {
  const { scale, offset, unit } = info.bands[band - 1] ?? { scale: 1, offset: 0, unit: null }
  return info.isScaled || (scale === 1 && offset === 0) ? (unit ?? (isHeight ? 'm' : null)) : null
}

function colorsOf(colormap: string): string[] {
  const table = colorTable(colormap)
  return Array.from({ length: COLORS }, (_, index) => {
    const at = Math.round((index * (table.length / 3 - 1)) / (COLORS - 1)) * 3
    return `#${Buffer.from(table.subarray(at, at + 3)).toString('hex')}`
  })
}

/** The band names or expressions whose values the style shows. */
export function shownBy({ style, names }: StyledLayer): string[] {
  if (style.kind === 'expression') return partsOf(style.expression)
  return bandsShown(style).map((band) => nameOf(names, band))
}

/** 1-based; an expression has its own. */
export const bandsShown = (style: Exclude<Style, { kind: 'expression' }>): readonly number[] =>
  style.kind === 'rgb' ? style.bands : style.kind === 'single' ? [style.band] : [1]

/** The values that the style uses at a point; null outside the raster. */
export async function valuesAt(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  styled: StyledLayer,
  point: { longitude: number; latitude: number },
): Promise<Static<typeof ValueAt>[] | null> {
  const { source, style, names } = styled
  const values = await raster.point(source, point, signal)
  if (!values) return null
  if (style.kind === 'expression') return resultsAt(styled, values).map(({ expression, value }) => ({ name: expression, value }))
  return bandsShown(style).map((band) => ({ name: nameOf(names, band), value: values[band - 1] ?? null }))
}

const partsOf = (expression: string): string[] => expression.split(';').map((part) => part.trim())
const nameOf = (names: Readonly<Record<string, number>>, band: number): string =>
  Object.keys(names).find((name) => names[name] === band) ?? `b${band}`
