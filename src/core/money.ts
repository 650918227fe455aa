/** Credits and Australian cents are whole numbers, and one is worth the other: 100 credits are A$1. */

/** The least that can be bought at once: A$100. */
export const MIN_TOPUP_CENTS = 10_000
/** The most that the processor charges at once: eight digits. */
export const MAX_CHARGE_CENTS = 99_999_999
/** Strictly above A$20,000 the whole purchase earns the bonus. */
const BONUS_ABOVE_CENTS = 2_000_000
const BONUS_PERCENT = 5

const GST_PERCENT = 10

/** More than this in one wallet could not be told to every client exactly. */
export const MAX_CREDITS = Number.MAX_SAFE_INTEGER

export const CURRENCY = 'AUD'

/** Rounded down: a bonus is a gift, and half a credit cannot be given. */
export function bonusCredits(cents: number): number {
  return cents > BONUS_ABOVE_CENTS ? Math.floor((cents * BONUS_PERCENT) / 100) : 0
}

/** Rounded half up, once, on the sum. */
export function gstCents(subtotalCents: number, applies: boolean): number {
  return applies ? Math.floor((subtotalCents * GST_PERCENT + 50) / 100) : 0
}

/** As JSON shows it: dollars with at most two decimals. */
export function audOf(cents: number): number {
  return cents / 100
}

/** Whether an amount has at most two decimals. */
export const isWholeCents = (amount: number): boolean => Math.round(amount * 100) / 100 === amount

/** Dollars from outside, in cents; the input stage has seen that they are whole. */
export const centsOf = (aud: number): number => Math.round(aud * 100)

/** Prices are rounded up once for each group; products of decimals that miss a whole number by a rounding error are that number. */
export function roundUpCredits(exact: number): number {
  const nearest = Math.round(exact)
  return Math.abs(exact - nearest) < 1e-6 ? nearest : Math.ceil(exact)
}
