import { compileExpression, parseExpression } from '#raster/expression/index.ts'
import type { StyledLayer } from './styled-layer.ts'

/** Evaluates the style's expression for the band values of one pixel; empty for styles without an expression. */
export function resultsAt(
  { style, info, names }: StyledLayer,
  values: readonly (number | null)[] | null,
): { expression: string; value: number | null }[] {
  if (style.kind !== 'expression') return []
  const expression = parseExpression(style.expression, { bandCount: info.bandCount, names: style.names ?? names })
  const labels = style.expression.split(';').map((part) => part.trim())
  const inputs = expression.bands.map((band) => values?.[band - 1] ?? null)
  const isData = inputs.every((value) => value !== null)
  const output = isData
    ? compileExpression(expression, { dataType: 'float64' }).run(
        inputs.map((value) => Float64Array.of(value!)),
        null,
        1,
      )
    : null
  return expression.results.map((_, index) => ({
    expression: labels[index] ?? style.expression,
    value: output && output.mask[0] !== 0 ? output.values[index]![0]! : null,
  }))
}
