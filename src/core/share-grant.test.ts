import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '#core/ids.ts'
import { GRANT_PREFIX, readGrant, signGrant, type Grant } from './share-grant.ts'

const scope = fc.oneof(
  fc.constant({ kind: 'link' as const }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((itemSeq) => ({ kind: 'item' as const, itemSeq })),
  fc.uuid().map((assetId) => ({ kind: 'asset' as const, assetId })),
)
const grant: fc.Arbitrary<Grant> = fc.record(
  { linkId: fc.uuid(), expiresAtSeconds: fc.integer({ min: 0, max: 253_402_300_799 }), scope },
  { noNullPrototype: true },
)

// Goal: a grant is valid exactly as signed; with one bit changed, another key or another password, it is invalid.
test('share grants', async (t) => {
  const secret = randomBytes(32)

  await t.test('a signed grant can be read, and is valid only with its own key and password', () => {
    fc.assert(
      fc.property(grant, fc.string(), fc.string(), (signed, bound, other) => {
        const read = readGrant(signGrant(secret, signed, bound))!
        assert.deepEqual(read.grant, signed)
        assert.ok(read.holds(secret, bound))
        assert.ok(!read.holds(randomBytes(32), bound))
        assert.equal(read.holds(secret, other), other === bound)
      }),
    )
  })

  await t.test('10,000 mutations: none is valid', () => {
    const bound = '$2b$10$hash'
    const text = signGrant(secret, { linkId: newId(), expiresAtSeconds: 1_900_000_000, scope: { kind: 'item', itemSeq: 42 } }, bound)
    const accepted = (mutated: string) => mutated !== text && (readGrant(mutated)?.holds(secret, bound) ?? false)
    const bytes = Buffer.from(text.slice(GRANT_PREFIX.length), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      assert.ok(!accepted(GRANT_PREFIX + flipped.toString('base64url')), `bit ${bit}`)
    }
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.nat(8),
        fc.string({ maxLength: 8 }),
        (at, removed, put) => !accepted(text.slice(0, at) + put + text.slice(at + removed)),
      ),
      { numRuns: 9_000 },
    )
    for (const odd of ['', GRANT_PREFIX, `${text}=`, `${text} `, text.toUpperCase(), `x${text}`, text + text])
      assert.ok(!accepted(odd), odd)
  })
})
