// Goal: timestamps and lists are parsed exactly as pg parses them, for anything our sessions can receive.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { getTypeParser } from './parsers.ts'

const TEXT_ARRAY = 1009
const FLOAT8_ARRAY = 1022
const same = (oid: number, text: string) =>
  assert.deepEqual(getTypeParser(oid, 'text')(text), pg.types.getTypeParser(oid, 'text')(text), text)

test('times of every year, with any fraction and zone', () => {
  const fraction = fc.option(fc.stringMatching(/^\d{1,6}$/), { nil: null })
  const zone = fc.constantFrom('+00', '-08', '+05:30')
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
      fraction,
      zone,
      (date, part, zone) => {
        same(pg.types.builtins.TIMESTAMPTZ, `${date.toISOString().slice(0, 19).replace('T', ' ')}${part === null ? '' : `.${part}`}${zone}`)
      },
    ),
  )
  for (const text of ['infinity', '-infinity', '0044-03-15 12:00:00+00 BC', '10000-01-01 00:00:00+00', '0099-01-01 00:00:00+00'])
    same(pg.types.builtins.TIMESTAMPTZ, text)
})

test('lists of strings, quoted and plain, and of numbers', () => {
  const quoted = (text: string) =>
    /^[^\s{},"\\]+$/.test(text) && text.toUpperCase() !== 'NULL' ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  const texts = fc.array(fc.option(fc.oneof(fc.string(), fc.constantFrom('NULL', '', '{}', '{', 'a,b')), { nil: null }), { maxLength: 5 })
  fc.assert(fc.property(texts, (list) => same(TEXT_ARRAY, `{${list.map((each) => (each === null ? 'NULL' : quoted(each))).join(',')}}`)))
  const numbers = fc.array(fc.option(fc.double({ noDefaultInfinity: true }), { nil: null }), { maxLength: 6 })
  fc.assert(fc.property(numbers, (list) => same(FLOAT8_ARRAY, `{${list.map((each) => each ?? 'NULL').join(',')}}`)))
  same(FLOAT8_ARRAY, '{{1,2},{3,4}}')
  same(FLOAT8_ARRAY, '{Infinity,-Infinity,NaN}')
  same(TEXT_ARRAY, '{{a,b},{c,d}}')
  same(TEXT_ARRAY, '[2:3]={a,b}')
})
