import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseInstant, parseInterval } from './interval.ts'
import { Problem } from './problem.ts'

// Goal: an interval is parsed as RFC 3339 and the STAC specification define it, and anything else is rejected.
test('intervals', () => {
  const read = (text: string) => {
    const { from, to } = parseInterval(text, 'datetime')
    return [from?.toISOString() ?? null, to?.toISOString() ?? null]
  }
  assert.deepEqual(read('2026-02-01T10:00:00Z'), ['2026-02-01T10:00:00.000Z', '2026-02-01T10:00:00.000Z'])
  assert.deepEqual(read('2026-02-01t10:00:00+10:00'), ['2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'])
  assert.deepEqual(read('2026-02-01'), ['2026-02-01T00:00:00.000Z', '2026-02-01T23:59:59.999Z'])
  assert.deepEqual(read('2026-02-01/2026-02-03'), ['2026-02-01T00:00:00.000Z', '2026-02-03T23:59:59.999Z'])
  assert.deepEqual(read('../2026-02-03'), [null, '2026-02-03T23:59:59.999Z'])
  assert.deepEqual(read('2024-02-29/'), ['2024-02-29T00:00:00.000Z', null])
  for (const wrong of [
    '',
    '..',
    '../..',
    '/',
    'x',
    '2026',
    '2026-02-30',
    '2026-13-01',
    '2026-02-01T25:00:00Z',
    '2026-02-01T10:00:00',
    '2026-02-02/2026-02-01',
    '2026-01-01/2026-01-02/2026-01-03',
    "2026-01-01' or 1=1",
  ]) {
    assert.throws(
      () => parseInterval(wrong, 'datetime'),
      (error) => error instanceof Problem && error.status === 422,
      wrong,
    )
  }
})

test('every timestamp that JavaScript writes is parsed', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
      (date) => {
        assert.equal(parseInstant(date.toISOString(), 'datetime').getTime(), date.getTime())
      },
    ),
  )
})
