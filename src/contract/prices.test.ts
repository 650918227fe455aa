// Goal: clients can request the price before they spend: every operation that spends has an estimate, or says why not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRICED } from '#contract/prices.ts'
import { operations } from '#registry.ts'

test('every operation that spends can be priced, and no other', () => {
  const spending = [...operations.values()].filter(({ tier }) => tier === 'external_spend').map(({ id }) => id)
  assert.deepEqual(PRICED.toSorted(), spending.toSorted())
})
