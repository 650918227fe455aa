// Goal: what the console applies to samples by itself is what the service would: the same bytes from the same values, the same results
// of an expression, and what it cannot do is refused rather than drawn differently.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ChannelRange, DataHeader, DataStyle } from '../../packages/console/src/map/live/data-tile.ts'
import { readDataTile } from '../../packages/console/src/map/live/data-tile.ts'
import { evaluate } from '../../packages/console/src/map/live/evaluate.ts'
import { NotTranslated, shaderOf } from '../../packages/console/src/map/live/shader.ts'
import { byteOfChannel, thresholdsOf } from '../../packages/console/src/map/live/thresholds.ts'
import { encodeDataTile, sampleTypeOf } from '../../src/raster/encode/data-tile.ts'
import { compileExpression, parseExpression, postfixOf } from '../../src/raster/expression/index.ts'
import { campaign } from '../support/campaign.ts'
import { expressions } from '../support/expressions.ts'

const RUNS = campaign({ short: 300, long: 5_000 })

const headerOf = (style: DataStyle, more: Partial<DataHeader> = {}): DataHeader => ({
  width: 4,
  height: 4,
  type: 'uint16',
  bands: [1, 2, 3],
  predictor: 2,
  data: 'all',
  scales: null,
  ranges: [[0, 1]],
  style,
  ...more,
})
const single: DataStyle = { kind: 'single', band: 1, colormap: null, hillshade: false }

const found = (thresholds: Float32Array, value: number) => thresholds.findLastIndex((threshold) => value >= threshold)

test('thresholds give the same byte as the arithmetic of the service, for every 32-bit value', () => {
  const number = fc.float({ noNaN: true, noDefaultInfinity: true, min: -70_000, max: 70_000 })
  const gamma = fc.constantFrom(null, 1, 1.3, 2)
  fc.assert(
    fc.property(
      fc.tuple(number, number, gamma),
      fc.constantFrom<DataHeader['type']>('uint16', 'float32'),
      fc.array(number),
      ([a, b, curve], type, values) => {
        fc.pre(a !== b)
        const range: ChannelRange = [Math.min(a, b), Math.max(a, b), curve]
        const byteOf = byteOfChannel(headerOf(single, { type }), 0, range)!
        const thresholds = thresholdsOf(byteOf)
        const near = [...thresholds].flatMap((value) => [value, Math.fround(value * (1 + 1e-7)), Math.fround(value * (1 - 1e-7))])
        for (const value of [...values, ...near, range[0], range[1]].map(Math.fround).filter(Number.isFinite))
          assert.equal(found(thresholds, value), byteOf(value))
      },
    ),
    { numRuns: Math.ceil(RUNS / 3) },
  )
})

test('a range that descends has no thresholds', () => {
  assert.equal(byteOfChannel(headerOf(single), 0, [3, 3]), null)
  const negative = headerOf(single, { bands: [1], scales: [{ scale: -2, offset: 1 }] })
  assert.equal(byteOfChannel(negative, 0, [0, 10]), null)
})

test('an expression has the results of the service, with no data where the service has none', () => {
  fc.assert(
    fc.property(expressions(['b1', 'b2', 'b3']), fc.array(fc.double(), { minLength: 3, maxLength: 3 }), (source, samples) => {
      const expression = parseExpression(source)
      const compiled = compileExpression(expression, { dataType: 'float64' })
      const inputs = compiled.bands.map((band) => Float64Array.of(samples[band - 1]!))
      const { values, mask } = compiled.run(inputs, null, 1)
      const steps = JSON.parse(JSON.stringify(postfixOf(expression.results[0]!))) as string[]
      const result = evaluate(steps, (band) => samples[band - 1]!)
      assert.equal(Number.isNaN(result), mask[0] === 0, source)
      if (mask[0] !== 0) assert.ok(result === values[0]![0], `${source}: ${result} is not ${values[0]![0]}`)
    }),
    { numRuns: RUNS },
  )
})

test('samples of every type arrive as they were', async () => {
  const arrays = [Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float32Array, Float64Array]
  for (const array of arrays) {
    const planes = [0, 1].map((band) => (array as Uint8ArrayConstructor).from({ length: 64 }, (_, i) => (i - 20) * 7.25 * (band + 1)))
    const copies = planes.map((plane) => plane.slice())
    const mask = Uint8Array.from({ length: 64 }, (_, i) => (i % 7 === 0 ? 0 : i % 5 === 0 ? 128 : 255))
    const type = sampleTypeOf(planes[0]!)
    const style = { kind: 'rgb', bands: [1, 2, 2] } as const
    const bytes = encodeDataTile({ width: 8, height: 8, type, bands: [1, 2], scales: null, style, ranges: [] }, planes, mask)
    const tile = await readDataTile(Uint8Array.from(bytes).buffer)
    assert.deepEqual([...tile.mask!], [...mask])
    for (const [band, plane] of tile.planes.entries()) {
      assert.equal(plane.constructor, array)
      for (const [i, value] of plane.entries()) assert.equal(value, mask[i] === 0 ? 0 : copies[band]![i], `${type} ${i}`)
    }
  }
  await assert.rejects(readDataTile(new TextEncoder().encode('PNG and more').buffer), /Not a data tile/)
})

test('what cannot be the same is not translated', () => {
  const shader = (source: string) =>
    shaderOf(headerOf({ kind: 'expression', results: parseExpression(source).results.map(postfixOf), colormap: null }))
  assert.match(shader('b1 > 2'), /x0 > 2\.0\) \?/, 'integers are compared as they are')
  assert.match(shader('b1 / 3 > 0.3'), /isNear/, 'rounded values are not')
  assert.throws(() => shader('b1 * 1e39'), NotTranslated)
  assert.throws(() => shader('b1 * 1e-39'), NotTranslated)
  assert.throws(() => shader('b1; b2'), NotTranslated)
  assert.throws(() => shader('b9'), NotTranslated)
  assert.throws(() => shaderOf(headerOf({ kind: 'palette' })), NotTranslated)
  assert.throws(() => shaderOf(headerOf({ ...single, hillshade: true })), NotTranslated)
})
