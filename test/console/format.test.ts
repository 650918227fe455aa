import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as format from '../../packages/console/src/ui/format.ts'

// Goal: numbers, money, areas and times have one spelling, and no rounding makes them unreadable.
test('sizes have a number below 1,000 and a unit', () => {
  const cases: [number, string][] = [
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1 kB'],
    [1_550, '1.6 kB'],
    [123_456, '123 kB'],
    [999_999, '1 MB'],
    [99_960, '100 kB'],
    [5e9, '5 GB'],
  ]
  for (const [bytes, text] of cases) assert.equal(format.bytes(bytes), text)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9e17 }), (bytes) => {
      const [, number, unit] = /^([\d.]+) (B|kB|MB|GB|TB|PB)$/.exec(format.bytes(bytes)) ?? []
      assert.ok(number !== undefined && Number(number) < 1_000, format.bytes(bytes))
      const shown = Number(number) * 1000 ** ['B', 'kB', 'MB', 'GB', 'TB', 'PB'].indexOf(unit!)
      assert.ok(Math.abs(shown - bytes) <= bytes * 0.05 + 0.5, `${bytes} is shown as ${number} ${unit}`)
    }),
  )
})

test('money, areas and lengths', () => {
  assert.equal(format.count(1_234_567), '1,234,567')
  assert.equal(format.aud(3.1), 'A$3.10')
  assert.equal(format.audOfCredits(310), 'A$3.10')
  assert.equal(format.area(1e6), '1 km²')
  assert.equal(format.area(25_000), '2.5 ha')
  assert.deepEqual([0.1, 0.025, 1, 50_000].map(format.squareKilometres), ['0.1 km²', '0.025 km²', '1 km²', '50,000 km²'])
  assert.deepEqual([0.05, 0.5, 10, null].map(format.metres), ['5 cm', '0.5 m', '10 m', '–'])
  assert.deepEqual([12.34, null].map(format.percent), ['12.3%', '–'])
  assert.deepEqual(
    [1, 2, 1_000].map((number) => format.plural(number, 'item')),
    ['1 item', '2 items', '1,000 items'],
  )
  assert.equal(format.plural(2, 'study', 'studies'), '2 studies')
})

test('a measured value has the digits that tell something', () => {
  assert.deepEqual([0, 0.12, -0.12, 0.001, 12.34, 4_116.4, null].map(format.value), [
    '0',
    '0.120',
    '-0.120',
    '0.00100',
    '12.3',
    '4,116',
    '–',
  ])
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 1e9, noNaN: true }), (number) => {
      const shown = Number(format.value(number).replaceAll(',', ''))
      assert.ok(Math.abs(shown - number) <= Math.abs(number) * 0.05 + 1e-9, `${number} is shown as ${shown}`)
      assert.equal(format.value(-number), `-${format.value(number)}`)
    }),
  )
})

test('dates are in UTC and have one form', () => {
  const at = '2026-11-16T23:59:30Z'
  assert.equal(format.date(at), '16 Nov 2026')
  assert.equal(format.dateShort(at), '16 Nov')
  assert.equal(format.dateTime(at), '16 Nov 2026, 23:59 UTC')
  assert.equal(format.dateTimeShort(at), '16 Nov, 23:59')
  for (const text of [format.date, format.dateShort, format.dateTime]) assert.equal(text(null), '–')
})

test('how long ago', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-16T12:00:00Z') })
  const cases = { '12:00:10': 'just now', '11:59:40': 'just now', '11:48:00': '12 min ago', '11:00:20': '1 h ago', '09:00:00': '3 h ago' }
  for (const [time, text] of Object.entries(cases)) assert.equal(format.ago(`2026-11-16T${time}Z`), text)
  assert.equal(format.ago('2026-11-14T12:00:00Z'), '14 Nov 2026')
})

test('initials are of the first and the last word, and never half a character', () => {
  assert.deepEqual(['Inês Duarte', 'ana', 'Ana Maria Lopes', '', '  ', '👩‍🚀 Crew'].map(format.initials), ['ID', 'AN', 'AL', '', '', '👩‍🚀C'])
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (name) => assert.ok(format.initials(name).isWellFormed())))
})

test('long IDs are shortened', () => {
  assert.equal(format.shortId('01a1e424-7c1f-7000-8000-000000000000'), '01a1e424-7c1f…')
  assert.equal(format.shortId('pm_card_visa'), 'pm_card_visa')
})
