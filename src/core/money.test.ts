import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { audOf, bonusCredits, centsOf, gstCents, isWholeCents, roundUpCredits } from './money.ts'

// Goal: amounts of money are exact to the cent in all edge cases.
test('bonus, tax and rounding', () => {
  assert.deepEqual(
    [10_000, 1_999_999, 2_000_000, 2_000_001, 2_000_019, 2_000_020, 99_999_999].map(bonusCredits),
    [0, 0, 0, 100_000, 100_000, 100_001, 4_999_999],
  )
  assert.deepEqual(
    [0, 4, 5, 14, 15, 100, 105].map((cents) => gstCents(cents, true)),
    [0, 0, 1, 1, 2, 10, 11],
  )
  assert.equal(gstCents(1_000, false), 0)
  assert.deepEqual([0.1, 19.99, 0.01, 1_234_567.89, 999_999_999_999.99].map(centsOf), [10, 1999, 1, 123_456_789, 99_999_999_999_999])
  assert.ok([1.005, 1e-9, 0.001, 10.000_000_1, Number.NaN].every((amount) => !isWholeCents(amount)))
  assert.deepEqual([0, 1.1 * 3, 0.1 * 30, 2.999999999, 3.0001].map(roundUpCredits), [0, 4, 3, 3, 4])
  fc.assert(fc.property(fc.integer({ min: 0, max: 99_999_999 }), (cents) => isWholeCents(audOf(cents)) && centsOf(audOf(cents)) === cents))
})
