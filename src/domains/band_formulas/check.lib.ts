import { accessDenied, invalidField, problem } from '#core/problem.ts'
import { findColormap, unknownColormap } from '#raster/colormap/index.ts'
import { ExpressionError } from '#raster/expression/index.ts'
import { findFormula } from '#raster/formulas/index.ts'
import { readFormula } from '#raster/formulas/named.ts'

/** What a formula reads, or 422 that points at the character. */
export function requireFormula(formula: string): string[] {
  try {
    const { required, resultCount } = readFormula(formula)
    if (resultCount !== 1) throw invalidField('formula', 'must have one result; save one formula for each')
    if (required.length === 0) throw invalidField('formula', 'uses no band')
    return required
  } catch (error) {
    if (error instanceof ExpressionError) throw invalidField('formula', error.message)
    throw error
  }
}

export function requireColormap(name: string): string {
  const found = findColormap(name.toLowerCase())
  if (!found) throw invalidField('colormap', unknownColormap(name))
  return name.toLowerCase()
}

export function requireRange([low, high]: readonly number[]): { rangeLow: number; rangeHigh: number } {
  if (!(low! < high!)) throw invalidField('value_range', 'must ascend')
  return { rangeLow: low!, rangeHigh: high! }
}

/** A name that a built-in formula has would hide it. */
export function requireOwnName(name: string): string {
  if (findFormula(name)) throw problem('bad-request', `'${name}' is a built-in formula; choose another name`)
  return name
}

/** Built-in formulas are for everybody, so nobody changes them. */
export function requireSaved(id: string): string {
  if (findFormula(id)) throw accessDenied()
  return id
}
