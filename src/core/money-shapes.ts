/** One rule for money in inputs: whole credits, or dollars with at most two decimals, between a minimum and a maximum that both exist. */
import Type from 'typebox'
import { isWholeCents, MAX_CREDITS } from './money.ts'

/** Larger amounts in dollars could not be kept exactly to the cent. */
const MAX_AUD = 1e12
const CENT = 0.01

interface MoneyOptions {
  maximum?: number
  description?: string
}

/** The mark by which a test finds every money input; the reference shows it too. */
export const MONEY = 'x-money'

export const CreditsInput = (minimum: number, { maximum = MAX_CREDITS, ...options }: MoneyOptions = {}) =>
  Type.Integer({ minimum, maximum, [MONEY]: 'credits', ...options })

const TwoDecimals = (unit: 'aud' | 'credits', { maximum = MAX_AUD, ...options }: MoneyOptions) =>
  Type.Refine(Type.Number({ minimum: CENT, maximum, [MONEY]: unit, ...options }), isWholeCents, () => 'must have at most two decimals')

/** At least one cent. */
export const DollarsInput = (options: MoneyOptions = {}) => TwoDecimals('aud', options)

/** A price per unit, in credits: at least a hundredth of one. */
export const RateInput = (options: MoneyOptions = {}) => TwoDecimals('credits', options)
