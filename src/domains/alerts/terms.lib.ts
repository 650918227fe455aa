import { requireArea } from '#core/geometry.ts'
import { invalidField, problem } from '#core/problem.ts'
import { ALERT_COMPARISONS, type AlertComparison } from '#core/vocabulary.ts'
import * as collections from '#model/imagery/collection.ts'
import type { RuleTerms } from '#model/events/alert-rule.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/errors.ts'
import { parseExpression } from '#raster/expression/index.ts'

const BAND_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/
const MAX_BAND_NAMES = 64

/** Checks the terms of a rule against each other; returns them with the area as it is stored. */
export async function requireTerms({ db, principal }: Pick<Context, 'db' | 'principal'>, terms: RuleTerms): Promise<RuleTerms> {
  requireComparison(terms)
  requireExpression(terms.expression)
  const names = Object.keys(terms.bandMapping)
  if (names.length > MAX_BAND_NAMES || !names.every((name) => BAND_NAME.test(name)))
    throw invalidField('band_mapping', `must have at most ${MAX_BAND_NAMES} names, each of letters, digits and underscores`)
  const aoiGeometry = terms.aoiGeometry && { ...requireArea(terms.aoiGeometry, 'aoi_geometry') }
  if (terms.collectionId) await collections.requireReader(db, principal, terms.collectionId)
  return { ...terms, aoiGeometry }
}

export function comparisonOf(text: string): AlertComparison {
  const comparison = ALERT_COMPARISONS.find((known) => known === text)
  if (!comparison) throw problem('bad-request', `comparison must be one of ${ALERT_COMPARISONS.join(', ')}`)
  return comparison
}

function requireComparison({ comparison, threshold, thresholdUpper }: RuleTerms): void {
  if (comparison !== 'between') return
  if (thresholdUpper === null) throw problem('bad-request', "comparison 'between' requires threshold_upper")
  if (threshold > thresholdUpper) throw problem('bad-request', 'threshold must not be greater than threshold_upper')
}

/** The rule may be about files that do not exist yet, so any band name is accepted; everything else must be valid. */
function requireExpression(expression: string): void {
  const names = Object.fromEntries(Array.from(expression.matchAll(/[A-Za-z_][A-Za-z0-9_]*/g), ([name]) => [name, 1]))
  try {
    const { results } = parseExpression(expression, { names })
    if (results.length !== 1) throw invalidField('expression', 'must have exactly one result')
  } catch (error) {
    if (error instanceof RasterError) throw invalidField('expression', error.message)
    throw error
  }
}
