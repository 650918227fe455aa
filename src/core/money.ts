/** Credits and Australian cents are integers of the same value: 100 credits are A$1. */

/** The minimum purchase: A$100. */
export const MIN_TOPUP_CENTS = 10_000
/** The processor's maximum charge: eight digits. */
export const MAX_CHARGE_CENTS = 99_999_999
/** Above A$20,000, the whole purchase earns the bonus. */
const BONUS_ABOVE_CENTS = 2_000_000
const BONUS_PERCENT = 5

const GST_PERCENT = 10

/** A larger balance could not be represented exactly by every client. */
export const MAX_CREDITS = Number.MAX_SAFE_INTEGER

export const CURRENCY = 'AUD'

/** Rounded down, because credits are whole. */
export function bonusCredits(cents: number): number {
  return cents > BONUS_ABOVE_CENTS ? Math.floor((cents * BONUS_PERCENT) / 100) : 0
}

/** Rounded half up, once, on the sum. */
export function gstCents(subtotalCents: number, applies: boolean): number {
  return applies ? Math.floor((subtotalCents * GST_PERCENT + 50) / 100) : 0
}

/** For JSON: dollars with at most two decimals. */
export function audOf(cents: number): number {
  return cents / 100
}

/** Whether an amount has at most two decimals. */
export const isWholeCents = (amount: number): boolean => Math.round(amount * 100) / 100 === amount

/** Dollars from input, in cents; the input stage has checked that they are whole cents. */
export const centsOf = (aud: number): number => Math.round(aud * 100)

/** Prices are rounded up once per group. A product that misses an integer by a rounding error is that integer. */
export function roundUpCredits(exact: number): number {
  const nearest = Math.round(exact)
  return Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact)
}
