/** Goal: metadata survives writing and reading, and no text can make the parser fail or hang. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cpuTimer } from '../../../test/support/cpu.ts'
import { formatGdalMetadata, parseGdalMetadata, type MetadataItem } from './gdal-metadata.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 30 })
const item: fc.Arbitrary<MetadataItem> = fc.record(
  {
    name: text,
    sample: fc.option(fc.nat(63)),
    role: fc.option(fc.constantFrom('description', 'scale', 'offset')),
    domain: fc.option(text),
    value: text,
  },
  { noNullPrototype: true },
)

test('any item round-trips', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), (items) => {
      assert.deepEqual(parseGdalMetadata(formatGdalMetadata(items)), items)
    }),
  )
})

test('any text is parsed without an exception', () => {
  const pieces = fc.array(
    fc.constantFrom('<Item', ' name="', '"', '>', '</Item>', '/>', '&amp;', '&#', '&#x10ffffff;', 'sample="9999999"', '<', 'x'),
    { maxLength: 40 },
  )
  fc.assert(fc.property(pieces, (parts) => void parseGdalMetadata(parts.join(''))))
  const long = `<Item ${'a="'.repeat(200_000)}`
  const cpuMs = cpuTimer()
  parseGdalMetadata(`${long}></Item>`)
  assert.ok(cpuMs() < 2000)
})
