import assert from 'node:assert/strict'
import { test } from 'node:test'
import { surcharge, wrongCharge } from './charge.lib.ts'

// Goal: what a vendor charges is compared with what was agreed on, with a tolerance for other ways to measure areas.
test('charges of vendors', () => {
  const group = { hostName: 'vendor', vendorCurrency: 'USD', vendorCents: 1_000, areaKm2: 10 }
  const charged = (chargedCents: number | null, chargedSqKm: number | null = null) => ({ chargedCents, chargedSqKm })
  for (const fine of [charged(null), charged(1_000, 10), charged(0), charged(1_050, 10.4), charged(990, 9.6)])
    assert.equal(wrongCharge(group, fine), null, JSON.stringify(fine))
  assert.equal(wrongCharge(group, charged(1_051)), "'vendor' charged USD 10.51 instead of USD 10.00")
  assert.equal(wrongCharge(group, charged(1_000, 11)), "'vendor' charged for 11.00 km² instead of 10.00 km²")
  assert.equal(wrongCharge(group, charged(1_000, 9)), "'vendor' charged for 9.00 km² instead of 10.00 km²")
  assert.equal(wrongCharge({ ...group, vendorCents: null }, charged(9_999)), null, 'a contract decides')
  assert.equal(surcharge(group, charged(1_000)), null)
  assert.equal(surcharge(group, charged(1_040)), "'vendor' charged USD 10.40, more than the expected USD 10.00")
})
