import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Source } from '#ports/vendors/source.ts'
import { chargeOf, creditsFor } from './sale.ts'

const usd = { audPerUnit: 1.56, day: '2026-11-01', marginPercent: 3 }
const source = (more: Partial<Source> = {}) => ({ currency: 'USD', exchange: usd, markupPercent: 0, handlingCents: 25, ...more }) as Source

// Goal: a vendor's amount becomes credits with the rate, the margin and the markup, rounded up once; an own account pays our fee only.
test('conversion of amounts', () => {
  const credits = (cents: number | null, more: Partial<Source> = {}, accountId: string | null = null) =>
    creditsFor({ source: source(more), accountId }, cents)
  assert.equal(credits(10_000), 16_068)
  assert.equal(credits(1), 2, 'rounded up')
  assert.equal(credits(1_000.4, { markupPercent: 10 }), 1_769, '1,768.2 rounded up once, not at each step')
  assert.equal(credits(0), 0)
  assert.equal(credits(12_345, { exchange: { audPerUnit: 1, day: null, marginPercent: 0 } }), 12_345, 'our own currency')
  assert.equal(credits(null), null, 'no price, no sale')
  assert.equal(credits(100, { exchange: null }), null, 'no rate, no sale')
  assert.equal(credits(10_000, { exchange: null }, 'account'), 25)
  assert.equal(credits(null, {}, 'account'), 25)
})

test('what is kept with a group', () => {
  assert.deepEqual(chargeOf({ source: source({ markupPercent: 5 }), accountId: null }, 1_000.2), {
    accountId: null,
    currency: 'USD',
    cents: 1_001,
    exchange: usd,
    markupPercent: 5,
  })
  assert.deepEqual(chargeOf({ source: source(), accountId: 'account' }, null), {
    accountId: 'account',
    currency: 'USD',
    cents: null,
    exchange: null,
    markupPercent: null,
  })
})
