// Goal: every index formula parses, stays in range and gives the published values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFileSync } from 'node:fs'

import { findColormap } from '#raster/colormap/index.ts'
import { compileExpression, parseExpression } from '#raster/expression/index.ts'
import { findFormula, formulas, formulasFor, resolveFormula, type Formula } from './index.ts'

/**
 * What each index gives for one set of reflectances and backscatters. The values were computed in Python from the formulas as
 * the community's list of spectral indices writes them (and from the papers where that list has none, or a slip), never from
 * the expressions here.
 */
const REFERENCE = JSON.parse(readFileSync(new URL('./reference.json', import.meta.url), 'utf8')) as {
  bands: Record<string, number>
  values: Record<string, number>
}

const SENTINEL_2 = {
  coastal: 1,
  blue: 2,
  green: 3,
  red: 4,
  rededge071: 5,
  rededge075: 6,
  rededge078: 7,
  nir: 8,
  nir08: 9,
  swir16: 10,
  swir22: 11,
}
/** A leaf canopy's reflectances, in the order of the mapping above. */
const CANOPY = [0.03, 0.03, 0.06, 0.04, 0.1, 0.3, 0.36, 0.4, 0.41, 0.2, 0.1]

function valueOf(expression: string): number | undefined {
  const compiled = compileExpression(parseExpression(expression), { dataType: 'float64' })
  return compiled.run(
    compiled.bands.map((band) => Float64Array.of(CANOPY[band - 1] ?? 0)),
    null,
    1,
  ).values[0]?.[0]
}

const find = (id: string): Formula => findFormula(id) ?? assert.fail(`no formula ${id}`)

test('there are at least 150 indices, each complete and each parsable', () => {
  assert.ok(formulas().length >= 150, `${formulas().length}`)
  assert.equal(new Set(formulas().map((formula) => formula.id)).size, formulas().length)
  for (const { id, name, reference, range, colormap, roles } of formulas()) {
    assert.ok(name.length > 3 && /\d{4}$/.test(reference), id)
    assert.ok(range[0] < range[1], id)
    assert.ok(findColormap(colormap), `${id} names the unknown colormap ${colormap}`)
    assert.ok(roles.length >= 1, id)
  }
})

test('band roles become band numbers', () => {
  assert.equal(resolveFormula(find('ndvi'), { RED: 3, NIR: 4 }), '(b4 - b3) / (b4 + b3)')
  assert.equal(resolveFormula(find('NDVI'), { red: 1, green: 2 }), null)
  assert.equal(
    resolveFormula(find('savi'), { R: 1, N: 2 }, { reflectanceScale: 0.0001 }),
    '1.5 * ((b2 * 0.0001) - (b1 * 0.0001)) / ((b2 * 0.0001) + (b1 * 0.0001) + 0.5)',
  )
  assert.equal(resolveFormula(find('ndvi'), { R: 1, N: 2 }, { reflectanceScale: 0.0001 }), '(b2 - b1) / (b2 + b1)')
})

test('every optical formula stays within the limits after scaling, and gives a number for a canopy', () => {
  const usable = formulasFor(SENTINEL_2)
  assert.ok(usable.length >= 60)
  for (const formula of usable) {
    const plain = resolveFormula(formula, SENTINEL_2) ?? assert.fail(formula.id)
    assert.ok(Number.isFinite(valueOf(plain)), formula.id)
    parseExpression(resolveFormula(formula, SENTINEL_2, { reflectanceScale: 0.0001 }) ?? '')
  }
})

test('well-known values are right', () => {
  const value = (id: string): number => valueOf(resolveFormula(find(id), SENTINEL_2) ?? '') ?? Number.NaN
  const near = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} is not ${expected}`)
  near(value('ndvi'), 0.36 / 0.44)
  near(value('evi'), (2.5 * 0.36) / (0.4 + 0.24 - 0.225 + 1))
  near(value('ndwi'), -0.34 / 0.46)
  near(value('nbr'), 0.3 / 0.5)
  near(value('ndmi'), 0.2 / 0.6)
})

test('every index gives the value of an independent implementation', () => {
  const roles = Object.fromEntries(Object.keys(REFERENCE.bands).map((role, index) => [role, index + 1]))
  const inputs = Object.values(REFERENCE.bands)
  assert.deepEqual(
    Object.keys(REFERENCE.values).toSorted(),
    formulas()
      .map(({ id }) => id)
      .toSorted(),
  )
  for (const formula of formulas()) {
    const compiled = compileExpression(parseExpression(resolveFormula(formula, roles) ?? assert.fail(formula.id)), { dataType: 'float64' })
    const { values } = compiled.run(
      compiled.bands.map((band) => Float64Array.of(inputs[band - 1]!)),
      null,
      1,
    )
    const [actual, expected] = [values[0]![0]!, REFERENCE.values[formula.id]!]
    assert.ok(Math.abs(actual - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `${formula.id}: ${actual} is not ${expected}`)
  }
})
