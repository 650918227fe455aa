// Goal: what the viewer computes itself is right: zones in the address, the stretch, histograms, tables and formulas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { areaOf, boxOf, boxPolygon, type Box } from '../../packages/console/src/map/geo.ts'
import { colourOf } from '../../packages/console/src/screens/viewer/band.ts'
import { BINS, distributionOf } from '../../packages/console/src/screens/viewer/distribution.ts'
import { formulaForItem, formulaWithRoles } from '../../packages/console/src/screens/viewer/formula-bands.ts'
import { csvRows, statisticsTable } from '../../packages/console/src/screens/viewer/statistics-table.ts'
import { chartRange, moveEdge, rangeOf, stretchMode } from '../../packages/console/src/screens/viewer/stretch-range.ts'
import { seriesRows } from '../../packages/console/src/screens/viewer/time-series-rows.ts'
import { centreOf, formatZones, MAX_ZONES, measureOf, parseZones } from '../../packages/console/src/screens/viewer/zones.ts'
import { styleFromUrl } from '../../packages/console/src/state/style.ts'

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const boxes = fc
  .tuple(number(-179, 170), number(-80, 70), number(0.001, 8))
  .map(([west, south, size]): Box => [west, south, west + size, south + size])

test('zones are the same after their way through the address, at most six', () => {
  fc.assert(
    fc.property(fc.array(boxes, { maxLength: MAX_ZONES + 3 }), (given) => {
      const text = formatZones(given.map(boxPolygon))
      const zones = parseZones(text)
      assert.equal(zones.length, Math.min(MAX_ZONES, given.length))
      assert.equal(zones.map(({ name }) => name).join(''), 'ABCDEF'.slice(0, zones.length))
      assert.equal(new Set(zones.map(({ colour }) => colour)).size, zones.length)
      zones.forEach(({ shape }, index) => {
        boxOf(shape)!.forEach((edge, side) => assert.ok(Math.abs(edge - given[index]![side]!) < 6e-6))
      })
      assert.equal(formatZones(zones.map(({ shape }) => shape)), text)
    }),
  )
  assert.deepEqual(parseZones(''), [])
  assert.deepEqual(parseZones(';;not a zone;'), [])
})

test('zones in the centre lie within the item and beside each other', () => {
  fc.assert(
    fc.property(boxes, (box) => {
      const centres = [0, 1, 2, 3, 4, 5].map((index) => centreOf(box, index))
      for (const [west, south, east, north] of centres) {
        assert.ok(west >= box[0] && south >= box[1] && east <= box[2] && north <= box[3])
        assert.ok(west < east && south < north)
      }
      assert.equal(new Set(centres.map(String)).size, centres.length)
      assert.ok(areaOf(boxPolygon(centres[0]!)) < areaOf(boxPolygon(box)) / 20)
    }),
  )
})

test('a time series measures the expression, or the first band', () => {
  assert.equal(measureOf(styleFromUrl({ expr: 'b2/b1' }, [], null)), 'b2/b1')
  assert.equal(measureOf(styleFromUrl({ bands: '4,3,2' }, [], null)), 'b4')
  assert.equal(measureOf(styleFromUrl({}, [], null)), 'b1')
})

const VALUES = { min: 0, max: 1000, p2: 20, p98: 800 }

test('a stretch knows its mode, and a mode its range', () => {
  assert.equal(stretchMode(VALUES, [20, 800]), 'percentiles')
  assert.equal(stretchMode(VALUES, [0, 1000]), 'minmax')
  assert.equal(stretchMode(VALUES, [20, 801]), 'custom')
  assert.equal(rangeOf('percentiles', VALUES, [3, 4]), null)
  assert.deepEqual(rangeOf('minmax', VALUES, [3, 4]), [0, 1000])
  assert.deepEqual(rangeOf('custom', VALUES, [3, 4]), [3, 4])
  fc.assert(
    fc.property(number(-1e4, 1e4), number(1, 1e4), (low, span) => {
      const values = { min: low, p2: low + span * 0.1, p98: low + span * 0.9, max: low + span }
      for (const mode of ['percentiles', 'minmax'] as const)
        assert.equal(stretchMode(values, rangeOf(mode, values, [0, 1]) ?? [values.p2, values.p98]), mode)
    }),
  )
})

test('the chart shows all values and the whole range, and is never without width', () => {
  fc.assert(
    fc.property(number(-1e4, 1e4), number(0, 1e4), number(-1e4, 1e4), number(0, 1e4), (min, width, low, span) => {
      const range: [number, number] = [low, low + span]
      const [left, right] = chartRange({ min, max: min + width, p2: min, p98: min + width }, range)
      assert.ok(left <= Math.min(min, range[0]) && right >= Math.max(min + width, range[1]) && left < right)
    }),
  )
})

test('a handle never passes the other', () => {
  fc.assert(
    fc.property(
      number(-100, 100),
      number(0.1, 100),
      fc.constantFrom(0 as const, 1 as const),
      number(-300, 300),
      (low, span, edge, value) => {
        const next = moveEdge([low, low + span], edge, value)
        if (next) {
          assert.ok(next[0] < next[1])
          assert.equal(next[edge], value)
        } else assert.ok(edge === 0 ? value >= low + span : value <= low)
      },
    ),
  )
})

test('a histogram of several bands has every pixel once, in bins of one width', () => {
  const band = fc
    .tuple(number(-1e3, 1e3), number(0, 1e3), fc.array(fc.nat({ max: 1e6 }), { minLength: 1, maxLength: BINS }))
    .map(([min, span, counts]) => ({
      min,
      max: min + span,
      histogram: { counts, edges: [...counts, 0].map((_, index) => min + (span * index) / counts.length) },
    }))
  fc.assert(
    fc.property(fc.array(band, { minLength: 1, maxLength: 4 }), (bands) => {
      const { low, high, counts } = distributionOf(bands as never)!
      const sum = (numbers: readonly number[]) => numbers.reduce((total, amount) => total + amount, 0)
      assert.equal(counts.length, BINS)
      assert.equal(sum(counts), sum(bands.flatMap(({ histogram }) => histogram.counts)))
      assert.equal(low, Math.min(...bands.map(({ min }) => min)))
      assert.equal(high, Math.max(...bands.map(({ max }) => max)))
    }),
  )
  assert.equal(distributionOf([]), null)
  assert.equal(distributionOf([{ min: null, max: null, histogram: null } as never]), null)
})

const result = (name: string, mean: number | null) => ({
  name,
  mean,
  std: 1,
  min: 0,
  max: 9,
  count: 10.4,
  percentiles: [{ percentile: 50, value: mean }],
})

test('statistics have a row for each measure and a column for each zone', () => {
  const statistics = { zones: [{ results: [result('red', 2), result('nir', 5)] }, { results: [result('red', null), result('nir', 6)] }] }
  const table = statisticsTable(statistics, 1)
  assert.deepEqual(
    table.map(({ measure }) => measure),
    ['Mean', 'Std dev', 'Min', 'Max', 'P50', 'Pixels'],
  )
  assert.deepEqual(table[0]!.values, [5, 6])
  assert.deepEqual(table.at(-1)!.values, [10, 10])
  const rows = csvRows(statistics, parseZones(formatZones([boxPolygon([0, 0, 1, 1]), boxPolygon([2, 2, 3, 3])])))
  assert.deepEqual(rows[0], ['result', 'measure', 'A', 'B'])
  assert.deepEqual(rows[1], ['red', 'Mean', 2, ''], 'a cell without a value is empty')
  assert.equal(rows.length, 1 + 2 * 6)
  assert.deepEqual(statisticsTable({ zones: [] }, 0), [])
})

test('a time series has a row for each scene, oldest first, with gaps', () => {
  const point = (item_id: string, datetime: string | null, mean: number, valid_fraction = 1) => ({
    item_id,
    datetime,
    mean,
    valid_fraction,
  })
  const rows = seriesRows([
    { points: [point('b', '2025-02-01', 2), point('a', '2025-01-01', 1), point('undated', null, 9)], skipped: [] },
    undefined,
    { points: [point('b', '2025-02-01', 4, 0.4), point('c', '2025-03-01', 5)], skipped: [] },
  ])
  assert.deepEqual(rows, [
    { itemId: 'a', datetime: '2025-01-01', means: [1, null, null] },
    { itemId: 'b', datetime: '2025-02-01', means: [2, null, null] },
    { itemId: 'c', datetime: '2025-03-01', means: [null, null, 5] },
  ])
})

const BANDS = ['blue', 'green', 'red', 'nir'].map((role, index) => ({ index: index + 1, role }))

test('a formula fits other sensors by the roles of its bands', () => {
  assert.equal(formulaWithRoles('(b4 - b3) / (b4 + b3)', BANDS), '(NIR - RED) / (NIR + RED)')
  assert.equal(formulaForItem('(NIR - RED) / (NIR + RED)', BANDS), '(b4 - b3) / (b4 + b3)')
  assert.equal(formulaForItem('(SWIR - RED)', BANDS), null, 'no such band')
  assert.equal(formulaForItem('b5 + 1', BANDS), null, 'too few bands')
  assert.equal(formulaWithRoles('b1 + b9', BANDS), 'BLUE + b9')
  const expressions = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom('+', '-', '*', '/')), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.map(([band, operator]) => `b${band} ${operator} `).join('') + '1')
  fc.assert(fc.property(expressions, (expression) => assert.equal(formulaForItem(formulaWithRoles(expression, BANDS), BANDS), expression)))
})

test('a band has the colour of its role or name, and any other band one of the series', () => {
  const red = colourOf({ role: 'red', name: 'B04' }, 0)
  assert.equal(colourOf({ role: null, name: 'Red' }, 3), red)
  const colours = ['blue', 'green', 'red', 'rededge', 'nir', 'swir16'].map((role) => colourOf({ role, name: 'x' }, 0))
  assert.equal(new Set(colours).size, colours.length, 'all different')
  assert.match(colourOf({ role: null, name: null }, 8), /^var\(--c\d\)$/)
})
