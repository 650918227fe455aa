/** Australian Business Numbers, as the register checks them. */

const WEIGHTS = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19] as const
const MODULUS = 89

/** Eleven digits without spaces; null unless they are the number of a business. */
export function parseAbn(text: string): string | null {
  const digits = text.replaceAll(/\s/g, '')
  if (!/^[1-9]\d{10}$/.test(digits)) return null
  const sum = WEIGHTS.reduce((total, weight, index) => total + weight * (Number(digits[index]) - (index === 0 ? 1 : 0)), 0)
  return sum % MODULUS === 0 ? digits : null
}

/** As people write it: `51 824 753 556`. */
export function formatAbn(digits: string): string {
  return digits.replace(/^(\d{2})(\d{3})(\d{3})(\d{3})$/, '$1 $2 $3 $4')
}
