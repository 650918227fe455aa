/** Compares what a vendor says it charges with what was agreed on. */
import type { Group } from '#model/orders/order-group.ts'
import type { VendorOrder } from '#ports/vendors/shop.ts'

/** Vendors measure areas in other ways than we do. */
const TOLERANCE = 0.05

type Agreed = Pick<Group, 'hostName' | 'vendorCurrency' | 'vendorCents' | 'areaKm2'>
type Charged = Pick<VendorOrder, 'chargedCents' | 'chargedSqKm'>

/** Why the charge is not what was agreed on, so that the group fails; null if it is. */
export function wrongCharge(
  { hostName, vendorCurrency, vendorCents, areaKm2 }: Agreed,
  { chargedCents, chargedSqKm }: Charged,
): string | null {
  if (chargedCents !== null && vendorCents !== null && chargedCents > Math.ceil(vendorCents * (1 + TOLERANCE)))
    return `'${hostName}' charged ${amount(chargedCents, vendorCurrency)} instead of ${amount(vendorCents, vendorCurrency)}`
  if (chargedSqKm !== null && Math.abs(chargedSqKm - areaKm2) > areaKm2 * TOLERANCE)
    return `'${hostName}' charged for ${chargedSqKm.toFixed(2)} km² instead of ${areaKm2.toFixed(2)} km²`
  return null
}

/** A small difference is the operator's: the customer pays what was agreed on. Null if there is none. */
export function surcharge({ hostName, vendorCurrency, vendorCents }: Agreed, { chargedCents }: Charged): string | null {
  if (chargedCents === null || vendorCents === null || chargedCents <= vendorCents) return null
  return `'${hostName}' charged ${amount(chargedCents, vendorCurrency)}, more than the expected ${amount(vendorCents, vendorCurrency)}`
}

const amount = (cents: number, currency: string | null): string => `${currency ?? ''} ${(cents / 100).toFixed(2)}`.trim()
