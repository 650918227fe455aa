// Goal: a compiled expression gives the number that arithmetic gives, and no data stays no data.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import type { DataType, SampleArray } from '#raster/types.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { compileExpression, parseExpression, type Node } from './index.ts'
import { MAX_CHARACTERS } from './limits.ts'
import { applyBinary, applyFunction, BINARY } from './operators.ts'

const EXPRESSIONS = campaign({ short: 2_000, long: 20_000 })

/** The plainest possible evaluator: one pixel at a time, straight from the tree. NaN is no data. */
function reference(node: Node, pixel: ReadonlyMap<number, number>): number {
  switch (node.kind) {
    case 'number':
      return node.value
    case 'band': {
      const value = pixel.get(node.band) ?? Number.NaN
      return Number.isFinite(value) ? value : Number.NaN
    }
    case 'negate':
      return -reference(node.operand, pixel)
    case 'binary':
      return applyBinary(node.operator, reference(node.left, pixel), reference(node.right, pixel))
    case 'call':
      return applyFunction(
        node.name,
        node.operands.map((operand) => reference(operand, pixel)),
      )
  }
}

function evaluate(source: string, dataType: DataType, inputs: SampleArray[], mask: Uint8Array | null = null): (number | null)[] {
  const compiled = compileExpression(parseExpression(source), { dataType })
  const { values, mask: valid } = compiled.run(inputs, mask, inputs[0]?.length ?? 1)
  return [...(values[0] ?? [])].map((value, i) => (valid[i] === 0 ? null : value))
}

test('no data never becomes a number', () => {
  const b1 = Float32Array.of(4, 0, -1, Number.NaN, Infinity)
  assert.deepEqual(evaluate('1 / b1', 'float32', [b1]), [0.25, null, -1, null, null])
  assert.deepEqual(evaluate('1 / (1 / b1)', 'float32', [b1]), [4, null, -1, null, null])
  assert.deepEqual(evaluate('sqrt(b1)', 'float32', [b1]), [2, 0, null, null, null])
  assert.deepEqual(evaluate('log(b1) * 0', 'float32', [b1]), [0, null, null, null, null])
  assert.deepEqual(evaluate('b1 < 2', 'float32', [b1]), [0, 1, 1, null, null])
  assert.deepEqual(evaluate('b1 ** 0', 'float32', [b1]), [1, 1, 1, null, null])
  assert.deepEqual(evaluate('where(b1 == 0, 7, 1 / b1)', 'float32', [b1]), [0.25, 7, -1, null, null])
  assert.deepEqual(evaluate('1 / exp(b1 * 1000)', 'float32', [Float32Array.of(0, 1)]), [1, null])
  assert.deepEqual(evaluate('b1 + 1', 'uint8', [Uint8Array.of(255, 1, 2)], Uint8Array.of(255, 0, 1)), [256, null, 3])
})

test('integers do not wrap around', () => {
  assert.deepEqual(evaluate('(b1 - b2) / (b1 + b2)', 'uint16', [Uint16Array.of(1, 65535), Uint16Array.of(3, 65535)]), [-0.5, 0])
  assert.deepEqual(evaluate('b1 * b1', 'int16', [Int16Array.of(-32768)]), [1073741824])
})

test('several results share one mask', () => {
  const compiled = compileExpression(parseExpression('b1; 1 / b1; 5'), { dataType: 'uint8' })
  const output = compiled.run([Uint8Array.of(0, 2)], null, 2)
  assert.deepEqual([...output.mask], [0, 255])
  assert.equal(output.validCount, 1)
  assert.deepEqual(
    output.values.map((values) => values[1]),
    [2, 0.5, 5],
  )
  assert.ok(Number.isNaN(output.values[0]?.[0]))
})

test('scale and offset come before the arithmetic', () => {
  const compiled = compileExpression(parseExpression('b2 * 2'), { dataType: 'int16', scales: new Map([[2, { scale: 0.5, offset: -1 }]]) })
  assert.deepEqual([...(compiled.run([Int16Array.of(4, 10)], null, 2).values[0] ?? [])], [2, 8])
})

const number = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, 1e308, 1e-308),
)
const tree = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom('b1', 'b2', 'b3', '0', '1', '2', '0.5', '1e308', '1e-300'),
    fc.tuple(tie('node'), fc.constantFrom(...BINARY), tie('node')).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    tie('node').map((a) => `-${a}`),
    fc.tuple(fc.constantFrom('abs', 'sqrt', 'log', 'log10', 'exp'), tie('node')).map(([name, a]) => `${name}(${a})`),
    fc
      .tuple(fc.constantFrom('min', 'max'), fc.array(tie('node'), { minLength: 2, maxLength: 3 }))
      .map(([name, list]) => `${name}(${list.join()})`),
    fc.tuple(fc.constantFrom('where', 'clip'), tie('node'), tie('node'), tie('node')).map(([name, a, b, c]) => `${name}(${a},${b},${c})`),
  ),
})).node

test('compiled expressions equal the reference evaluator on every sample', () => {
  let compared = 0
  const samples = fc.array(fc.oneof(number, fc.constantFrom(Number.NaN, Infinity, -Infinity)), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(
      tree,
      fc.array(samples, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('float64', 'float32', 'int16'),
      (source, pixels, dataType) => {
        if (source.length > MAX_CHARACTERS) return
        let expression
        try {
          expression = parseExpression(source)
        } catch {
          return // Too many nodes or too deep: the limits have tests of their own.
        }
        const Samples = { float64: Float64Array, float32: Float32Array, int16: Int16Array }[dataType]
        const planes = [0, 1, 2].map((band) => Samples.from(pixels.map((pixel) => pixel[band] ?? 0)))
        const compiled = compileExpression(expression, { dataType })
        const output = compiled.run(
          compiled.bands.map((band) => planes[band - 1] as SampleArray),
          null,
          pixels.length,
        )
        pixels.forEach((_, i) => {
          const pixel = new Map(planes.map((plane, band) => [band + 1, plane[i] as number]))
          const expected = reference(expression.results[0] as Node, pixel)
          assert.equal(output.mask[i] !== 0, !Number.isNaN(expected), source)
          if (!Number.isNaN(expected))
            assert.equal(output.values[0]?.[i] === expected, true, `${source}: ${output.values[0]?.[i]} !== ${expected}`)
          compared += 1
        })
      },
    ),
    { numRuns: EXPRESSIONS },
  )
  assert.ok(compared > EXPRESSIONS / 2)
})

test('long arrays are cut into segments without a seam', () => {
  const count = 70_001
  const b1 = Uint16Array.from({ length: count }, (_, i) => i % 65536)
  const output = compileExpression(parseExpression('b1 * 2 + 1'), { dataType: 'uint16' }).run([b1], null, count)
  for (let i = 0; i < count; i++) assert.equal(output.values[0]?.[i], (i % 65536) * 2 + 1)
})
