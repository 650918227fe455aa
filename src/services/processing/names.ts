/** Band names of a source, and validation of expressions and indices over them. */
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

/** 422 with the position of the error in the expression. */
export function requireExpression(expression: string, source: OpenSource, field: string): void {
  try {
    parseExpression(expression, { names: namesOf(source), bandCount: source.info.bandCount })
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw invalidField(field, error.message)
  }
}

export function requireFormula(name: string, field: string): Formula {
  const formula = findFormula(name)
  if (formula) return formula
  const ids = formulas().map(({ id }) => id)
  const some = ids.slice(0, 8).join(', ')
  throw invalidField(field, `is not a known index${meant(name, ids, `${some} and others of analytics.indices.list are`)}`)
}

/** An index as an expression over band numbers; 422 if the item lacks a band. */
export function indexExpression(
  name: string,
  source: OpenSource,
  { mapping, field }: { mapping?: Readonly<Record<string, number>> | undefined; field: string },
): string {
  const formula = requireFormula(name, field)
  const proposed = () =>
    Object.fromEntries((proposeBands(source.info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : [])))
  // A scale in the file is applied before the expression.
  const isScaled = source.info.bands.some(({ scale }) => scale !== 1)
  const reflectanceScale = isScaled ? 1 : reflectanceScaleOf(source.info)
  const candidates = [mapping ?? {}, namesOf(source), ...(mapping ? [] : [proposed()])]
  for (const roles of candidates) {
    const expression = resolveFormula(formula, roles, { reflectanceScale })
    if (expression !== null) return expression
  }
  throw invalidField(
    field,
    `needs the bands ${formula.roles.join(', ').toLowerCase()}; ${listBands(namesOf(source), source.info.bandCount)}; ` +
      'set them with band_mapping',
  )
}
