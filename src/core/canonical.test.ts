import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson, fingerprint } from './canonical.ts'

/** The same value with the members of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, child]) => [key, shuffled(child)]),
  )
}

const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

// Goal: equal values have the same canonical form, different values never do, and it parses back to the original.
test('canonical JSON', async (t) => {
  await t.test('parses back to the same value', () =>
    fc.assert(fc.property(json, (value) => assert.deepEqual(JSON.parse(canonicalJson(value)), value))),
  )
  await t.test('does not depend on the order of members', () =>
    fc.assert(
      fc.property(json, (value) => {
        assert.equal(canonicalJson(shuffled(value)), canonicalJson(value))
        assert.ok(fingerprint(shuffled(value)).equals(fingerprint(value)))
      }),
    ),
  )
  await t.test('differs for different values', () =>
    fc.assert(
      fc.property(json, json, (a, b) => {
        let equal = true
        try {
          assert.deepStrictEqual(a, b)
        } catch {
          equal = false
        }
        assert.equal(canonicalJson(a) === canonicalJson(b), equal)
      }),
    ),
  )
  await t.test('is a fixed point without white space', () =>
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        assert.equal(canonicalJson(JSON.parse(text)), text)
        assert.equal(text.length, JSON.stringify(value).length)
      }),
    ),
  )
  await t.test('the example of RFC 8785', () => {
    const given = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    ) as unknown
    assert.equal(
      canonicalJson(given),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })
  await t.test('members are sorted by UTF-16 code units', () =>
    assert.equal(
      canonicalJson({ '\u{1f600}': 1, '\ufb33': 2, a: 3, '': 4, '1': 5, '\r': 6 }),
      '{"":4,"\\r":6,"1":5,"a":3,"\u{1f600}":1,"\ufb33":2}',
    ),
  )
})
