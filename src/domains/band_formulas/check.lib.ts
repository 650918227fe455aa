import { accessDenied, invalidField, problem } from '#core/problem.ts'
import { findColormap, unknownColormap } from '#raster/colormap/index.ts'
import { ExpressionError } from '#raster/expression/index.ts'
import { findFormula } from '#raster/formulas/index.ts'
import { readFormula } from '#raster/formulas/named.ts'

/** The bands that a formula reads, or 422 with the character position of the error. */
export function requireFormula(formula: string): string[] {
  try {
    const { required, resultCount } = readFormula(formula)
    if (resultCount !== 1) throw invalidField('formula', 'must have exactly one result; save each result as its own formula')
    if (required.length === 0) throw invalidField('formula', 'must use at least one band')
    return required
  } catch (error) {
    if (error instanceof ExpressionError) throw invalidField('formula', error.message)
    throw error
  }
}

export function requireColormap(name: string): string {
  if (!findColormap(name.toLowerCase())) throw invalidField('colormap', unknownColormap(name))
  return name.toLowerCase()
}

export function requireRange([low, high]: readonly number[]): { rangeLow: number; rangeHigh: number } {
  if (!(low! < high!)) throw invalidField('value_range', 'must be ascending: the minimum, then the maximum')
  return { rangeLow: low!, rangeHigh: high! }
}

/** A saved formula with the name of a built-in one would hide it. */
export function requireOwnName(name: string): string {
  if (findFormula(name)) throw problem('bad-request', `'${name}' is a built-in formula; choose another name`)
  return name
}

/** Built-in formulas are shared by all organizations, so nobody can change them. */
export function requireSaved(id: string): string {
  if (findFormula(id)) throw accessDenied()
  return id
}
