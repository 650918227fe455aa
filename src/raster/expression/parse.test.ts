// Goal: any text is an expression or a refusal that points at its fault, within bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { RasterError } from '#raster/types.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { cpuTimer } from '../../../test/support/cpu.ts'
import { ExpressionError, MAX_CHARACTERS, parseExpression } from './index.ts'

const STRINGS = campaign({ short: 10_000, long: 100_000 })

function positionOf(source: string, options = {}): number {
  try {
    parseExpression(source, options)
  } catch (error) {
    assert.ok(error instanceof ExpressionError, String(error))
    return error.position
  }
  return assert.fail(`${source} was accepted`)
}

test('the bands that an expression reads are listed once, in order', () => {
  assert.deepEqual(parseExpression('(b4 - b1) / (b4 + b1)').bands, [1, 4])
  assert.deepEqual(parseExpression('b3; b2; b1').bands, [1, 2, 3])
  assert.deepEqual(parseExpression('1 + 1').bands, [])
})

test('names of a mapping stand for their band, and only own names do', () => {
  assert.deepEqual(parseExpression('(NIR - RED) / (NIR + RED)', { names: { RED: 3, NIR: 4 } }).bands, [3, 4])
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'SWIR']) {
    assert.equal(positionOf(`b1 + ${name}`, { names: { NIR: 4 } }), 6)
    assert.throws(() => parseExpression(`${name}(b1)`), /unknown function/)
  }
})

test('an error points at the character that is wrong', () => {
  const cases: [string, number, RegExp][] = [
    ['(b1 + )', 7, /Unexpected '\)' at character 7/],
    ['', 1, /Unexpected end of expression at character 1/],
    ['b1 +', 5, /end of expression/],
    ['b1 ? 2', 4, /Unexpected '\?' at character 4/],
    ['b1 & b2', 4, /Unexpected '&'/],
    ['b1 = 2', 4, /Unexpected '='/],
    ['(b1', 4, /Expected '\)' but found end/],
    ['b0', 1, /unknown name 'b0'/],
    ['b1 < b2 < b3', 9, /cannot be chained/],
    ['2 b1', 3, /Unexpected 'b1'/],
    ['min(b1)', 1, /min takes 2 to 16 arguments, not 1, at character 1/],
    ['1 + where(b1, 2)', 5, /where takes 3 arguments/],
    ['1e999', 1, /too large/],
    ['b1 + 😀', 6, /Unexpected '😀'/],
    ['b1.b', 3, /Unexpected '\.'/],
    ['b1;;b2', 4, /Unexpected ';'/],
  ]
  for (const [source, position, message] of cases) {
    assert.equal(positionOf(source), position, source)
    assert.throws(() => parseExpression(source), message)
  }
  assert.throws(() => parseExpression('b5', { bandCount: 4 }), /band 5 does not exist \(there are 4\), used at character 1/)
})

test('length and nesting are bounded', () => {
  assert.equal(positionOf('b1 '.repeat(400)), MAX_CHARACTERS + 1)
  assert.throws(() => parseExpression(`${'('.repeat(200)}b1${')'.repeat(200)}`), /nested deeper than 32/)
  assert.throws(() => parseExpression('-'.repeat(100) + 'b1'), /nested deeper/)
  assert.throws(() => parseExpression(`${'2**'.repeat(60)}2`), /nested deeper/)
  assert.equal(parseExpression(`${'b1+'.repeat(332)}b1+1`).bands.length, 1, 'as many terms as fit')
  assert.equal(parseExpression(`${' '.repeat(600)}b1`).bands.length, 1, 'between 512 and 1,000 characters')
})

test('signs, powers and chains group as in mathematics', () => {
  const shape = (source: string): string => JSON.stringify(parseExpression(source).results)
  assert.equal(shape('-b1 ** 2'), shape('-(b1 ** 2)'))
  assert.equal(shape('2 ** 3 ** 2'), shape('2 ** (3 ** 2)'))
  assert.equal(shape('b1 - b2 - b3'), shape('(b1 - b2) - b3'))
  assert.equal(shape('b1 / b2 * b3'), shape('(b1 / b2) * b3'))
  assert.equal(shape('b1 + b2 > b3 * 2'), shape('(b1 + b2) > (b3 * 2)'))
  assert.equal(shape('b1;'), shape('b1'))
})

test(`${STRINGS} random strings give an expression or a typed error, fast`, () => {
  const words = ['b1', 'b2', 'b64', 'b65', '(', ')', '+', '-', '*', '/', '**', ',', ';', '<', '<=', '==', '!=', '.', '1', '2.5', '1e3']
  const names = [
    'where',
    'clip',
    'min',
    'abs',
    'log',
    '__proto__',
    'constructor',
    ' ',
    '\t',
    '\0',
    'é',
    '𝄞',
    "'",
    '"',
    '`',
    '${',
    '[',
    ']',
    '=>',
  ]
  const random = fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.constantFrom(...words, ...names), { maxLength: 60 }).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: fc.string({ maxLength: 600 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  )
  let accepted = 0
  let slowestMs = 0
  fc.assert(
    fc.property(random, (source) => {
      const cpuMs = cpuTimer()
      try {
        parseExpression(source)
        accepted += 1
      } catch (error) {
        assert.ok(error instanceof ExpressionError && error instanceof RasterError, `${JSON.stringify(source)}: ${String(error)}`)
        assert.ok(error.position >= 1 && error.position <= source.length + 1)
      }
      slowestMs = Math.max(slowestMs, cpuMs())
    }),
    { numRuns: STRINGS },
  )
  assert.ok(accepted > STRINGS / 1_000, `only ${accepted} accepted`)
  assert.ok(slowestMs < 250, `one string took ${slowestMs} ms of computing`)
})
