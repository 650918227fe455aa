import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isWellFormed, newSecret } from '#model/identity/api-key.ts'
import { checksumBase62, isUuid, newId, randomBase62 } from './ids.ts'

const BASE62 = /^[0-9A-Za-z]*$/

test('IDs are version 7 UUIDs that sort by creation time', () => {
  const ids = Array.from({ length: 1_000 }, newId)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const stamps = ids.map((id) => id.slice(0, 13))
  assert.deepEqual(stamps, stamps.toSorted())
  fc.assert(
    fc.property(fc.uuid(), (id) =>
      assert.ok(isUuid(id) && isUuid(id.toUpperCase()) && !isUuid(`${id}0`) && !isUuid(` ${id}`) && !isUuid(id.replaceAll('-', ''))),
    ),
  )
})

test('random strings have the requested length and use the whole alphabet', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), (length) => {
      const text = randomBase62(length)
      assert.ok(text.length === length && BASE62.test(text))
    }),
  )
  assert.equal(new Set(randomBase62(10_000)).size, 62)
})

// Goal: a mistyped, truncated or concatenated key is recognized without the database.
test('the checksum of a key', async (t) => {
  await t.test('six characters of the alphabet, the same for the same text', () =>
    fc.assert(
      fc.property(fc.string(), (text) => {
        const sum = checksumBase62(text)
        assert.ok(sum.length === 6 && BASE62.test(sum) && sum === checksumBase62(text))
      }),
    ),
  )
  await t.test('fits its own key, and no key with one character changed', () => {
    const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
    fc.assert(
      fc.property(fc.nat({ max: 52 }), character, (at, replacement) => {
        const secret = newSecret()
        assert.ok(isWellFormed(secret))
        assert.match(secret, /^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{40}$/)
        const changed = secret.slice(0, at) + replacement + secret.slice(at + 1)
        assert.equal(isWellFormed(changed), changed === secret)
      }),
      { numRuns: 1_000 },
    )
  })
  await t.test('no truncated, longer, swapped or invented text passes', () => {
    const secret = newSecret()
    for (let length = 0; length < secret.length; length++) assert.equal(isWellFormed(secret.slice(0, length)), false)
    for (const text of [`${secret}x`, ` ${secret}`, `${secret}\n`, secret.toLowerCase(), secret.replace('svc_', 'SVC_'), `svc_${secret}`])
      assert.equal(isWellFormed(text), false)
    fc.assert(fc.property(fc.string(), (text) => assert.equal(isWellFormed(text), false)))
  })
})
