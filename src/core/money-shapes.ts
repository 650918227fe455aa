/** Money in inputs: whole credits, or dollars with at most two decimals, always with a minimum and a maximum. */
import Type from 'typebox'
import { isWholeCents, MAX_CREDITS } from './money.ts'

/** Larger dollar amounts could not be represented exactly to the cent. */
const MAX_AUD = 1e12
const CENT = 0.01

interface MoneyOptions {
  maximum?: number
  description?: string
}

/** Marks every money input for a test; the reference shows it too. */
export const MONEY = 'x-money'

export const CreditsInput = (minimum: number, { maximum = MAX_CREDITS, ...options }: MoneyOptions = {}) =>
  Type.Integer({ minimum, maximum, [MONEY]: 'credits', ...options })

const TwoDecimals = (unit: 'aud' | 'credits', { maximum = MAX_AUD, ...options }: MoneyOptions) =>
  Type.Refine(Type.Number({ minimum: CENT, maximum, [MONEY]: unit, ...options }), isWholeCents, () => 'must have at most two decimals')

/** At least one cent. */
export const DollarsInput = (options: MoneyOptions = {}) => TwoDecimals('aud', options)

/** A price per unit, in credits: at least 0.01. */
export const RateInput = (options: MoneyOptions = {}) => TwoDecimals('credits', options)
