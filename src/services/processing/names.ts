/** Names of bands as people and files give them, and expressions over them that were found to make sense. */
import { meant } from '#core/nearest.ts'
import { invalidField } from '#core/problem.ts'
import { listBands } from '#raster/expression/bands.ts'
import { ExpressionError, parseExpression } from '#raster/expression/index.ts'
import { findFormula, formulas, resolveFormula, type Formula } from '#raster/formulas/index.ts'
import { reflectanceScaleOf } from '#raster/formulas/reflectance.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { bandNames, type BandNames } from '#raster/render/request.ts'
import type { OpenSource } from './process.ts'

export const namesOf = ({ info, bandNames: given }: Pick<OpenSource, 'info' | 'bandNames'>): BandNames => bandNames(info, given)

/** 422 that names the place where an expression stops making sense. */
export function requireExpression(expression: string, source: OpenSource, field: string): void {
  try {
    parseExpression(expression, { names: namesOf(source), bandCount: source.info.bandCount })
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw invalidField(field, error.message)
  }
}

export function requireFormula(name: string, field: string): Formula {
  const found = findFormula(name)
  if (found) return found
  const ids = formulas().map(({ id }) => id)
  const some = ids.slice(0, 8).join(', ')
  throw invalidField(field, `is not an index that we know${meant(name, ids, `${some} and others of analytics.indices.list are`)}`)
}

/** An index as an expression over the numbers of bands; 422 where the item has not the bands that it needs. */
export function indexExpression(
  name: string,
  source: OpenSource,
  { mapping, field }: { mapping?: Readonly<Record<string, number>> | undefined; field: string },
): string {
  const formula = requireFormula(name, field)
  const guessed = () =>
    Object.fromEntries((proposeBands(source.info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : [])))
  // What a file says of its scale is applied before the expression.
  const isScaled = source.info.bands.some(({ scale }) => scale !== 1)
  const reflectanceScale = isScaled ? 1 : reflectanceScaleOf(source.info)
  const known = [mapping ?? {}, namesOf(source), ...(mapping ? [] : [guessed()])]
  for (const roles of known) {
    const expression = resolveFormula(formula, roles, { reflectanceScale })
    if (expression !== null) return expression
  }
  throw invalidField(
    field,
    `needs the bands ${formula.roles.join(', ').toLowerCase()}; ${listBands(namesOf(source), source.info.bandCount)}; ` +
      'name them with band_mapping',
  )
}
