// Goal: an item is shown as its address says, the address says what is shown, and tiles are asked for accordingly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Visualization, VisualizationProfile } from '../../packages/console/src/api/contract.ts'
import {
  contentOf,
  formatRange,
  initialPreset,
  parseRange,
  presetsOf,
  styleFromUrl,
  tileQuery,
  tileUrl,
  urlFromStyle,
  valuesInput,
  type Style,
} from '../../packages/console/src/state/style.ts'

const visualization = (id: string, fields: Partial<Visualization> = {}) =>
  ({
    id,
    label: id.toUpperCase(),
    description: '',
    bands: null,
    expression: null,
    colormap: null,
    rescale: null,
    is_default: false,
    ...fields,
  }) as Visualization
const profile = (id: string, fields: Partial<VisualizationProfile> = {}) =>
  ({ id, name: id, bands: null, expression: null, colormap: null, rescale: null, is_default: false, ...fields }) as VisualizationProfile

const RGB = visualization('rgb', { bands: [4, 3, 2], is_default: true })
const NDVI = visualization('ndvi', { expression: '(b8-b4)/(b8+b4)', colormap: 'rdylgn', rescale: '-1,1' })
const FIRST = visualization('first', { bands: [1], colormap: 'gray' })
const PRESETS = presetsOf([], [RGB, NDVI, FIRST])
const INITIAL = initialPreset(PRESETS)
const shown = (url: Parameters<typeof styleFromUrl>[0]) => styleFromUrl(url, PRESETS, INITIAL)

test('presets have a kind, and profiles of the item come first', () => {
  assert.deepEqual(
    PRESETS.map(({ style }) => style.kind),
    ['colour', 'expression', 'band'],
  )
  const withProfile = presetsOf([profile('vigour', { expression: 'b1', is_default: true }), profile('other')], [RGB])
  assert.deepEqual(
    withProfile.map(({ id, isProfile }) => [id, isProfile]),
    [
      ['vigour', true],
      ['other', true],
      ['rgb', false],
    ],
  )
})

test('an item opens in its default profile, the default visualization, or the first', () => {
  assert.equal(initialPreset(presetsOf([profile('a'), profile('b', { is_default: true })], [RGB]))?.id, 'b')
  assert.equal(initialPreset(presetsOf([profile('a')], [NDVI, RGB]))?.id, 'rgb')
  assert.equal(initialPreset(presetsOf([], [NDVI, FIRST]))?.id, 'ndvi')
  assert.equal(initialPreset([]), null)
})

test('the address wins over the preset', () => {
  assert.equal(shown({}).id, 'rgb')
  assert.equal(shown({ style: 'ndvi' }).expression, NDVI.expression)
  assert.equal(shown({ style: 'gone' }).id, 'rgb', 'a style that is gone counts as absent')
  assert.deepEqual(shown({ style: 'ndvi', cmap: 'magma', range: '0,0.5' }), {
    ...shown({ style: 'ndvi' }),
    colormap: 'magma',
    rescale: '0,0.5',
  })
  assert.deepEqual(shown({ expr: 'b1*2', style: 'ndvi' }), {
    kind: 'expression',
    id: null,
    bands: null,
    expression: 'b1*2',
    colormap: 'rdylgn',
    rescale: null,
  })
  assert.equal(shown({ expr: 'b1' }).colormap, 'viridis')
  assert.deepEqual([shown({ bands: '8,4,3' }).kind, shown({ bands: '8' }).kind], ['colour', 'band'])
  assert.equal(styleFromUrl({}, [], null).kind, 'colour', 'without presets, too')
})

test('text that is not a style counts as absent', () => {
  for (const bands of ['', 'x', '1,x', '0', '-1', '1.5', 'Infinity']) assert.deepEqual(shown({ bands }), shown({}), bands)
  for (const range of ['', '1', '1,', ',', '1,x', '1,2,3', '1,Infinity']) assert.deepEqual(shown({ range }), shown({}), range)
})

const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })

test('a range is the same after its way through text, to six digits', () => {
  fc.assert(
    fc.property(finite, finite, (low, high) => {
      const text = formatRange([low, high])
      const range = parseRange(text)!
      assert.equal(formatRange(range), text)
      assert.deepEqual(range, [Number(low.toPrecision(6)), Number(high.toPrecision(6))])
    }),
  )
  assert.equal(parseRange(null), null)
  assert.equal(parseRange(undefined), null)
})

test('a change and the address that it makes give the same style', () => {
  const colormap = fc.constantFrom('viridis', 'magma')
  const rescale = fc.option(fc.tuple(finite, finite).map(formatRange))
  const expressions = fc.record({ expression: fc.string({ minLength: 1 }), colormap, rescale })
  const bands = fc.record({ bands: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 }), colormap, rescale })
  const read = (style: Style, change: Parameters<typeof urlFromStyle>[1]) => {
    const url = Object.entries(urlFromStyle(style, change)).filter(([, text]) => text !== null)
    return shown(Object.fromEntries(url) as Record<string, string>)
  }
  fc.assert(
    fc.property(fc.oneof(expressions, bands), (change) => {
      const style = read(shown({}), change)
      const { kind, id, ...fields } = style
      assert.deepEqual({ bands: null, expression: null, ...change }, fields)
      assert.equal(id, null)
      assert.ok(kind)
      assert.deepEqual(read(style, { ...contentOf(style), colormap: style.colormap, rescale: style.rescale }), style, 'and once more')
    }),
  )
  for (const { id, style } of PRESETS) assert.deepEqual(read(shown({ expr: 'b1' }), { preset: id }), style)
})

test('tiles are asked for with what the style needs and nothing else', () => {
  assert.equal(tileQuery(shown({}), null), '?bands=4%2C3%2C2')
  assert.equal(tileQuery(shown({ bands: '4,3,2', cmap: 'magma' }), null), '?bands=4%2C3%2C2', 'three bands have no colormap')
  assert.equal(tileQuery(shown({ style: 'first' }), 'visual'), '?asset_key=visual&bands=1&colormap=gray')
  const ndvi = new URLSearchParams(tileQuery(shown({ style: 'ndvi' }), null))
  assert.deepEqual(Object.fromEntries(ndvi), { expression: '(b8-b4)/(b8+b4)', colormap: 'rdylgn', rescale: '-1,1' })
  assert.equal(tileQuery(styleFromUrl({}, [], null), null), '')
})

test('the tiles of an item are on this service, whatever its id', (t) => {
  Object.defineProperty(globalThis, 'location', { value: { origin: 'https://maps.example' }, configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'location'))
  assert.equal(tileUrl('a/b?c', '?bands=1'), 'https://maps.example/api/v1/items/a%2Fb%3Fc/tiles/{z}/{x}/{y}.webp?bands=1')
})

test('values are read of what is shown', () => {
  assert.deepEqual(valuesInput(shown({ style: 'ndvi' }), 'data'), { expression: '(b8-b4)/(b8+b4)', asset_key: 'data' })
  assert.deepEqual(valuesInput(shown({}), null), { bands: '4,3,2' })
  assert.deepEqual(valuesInput(styleFromUrl({}, [], null), null), {})
})
