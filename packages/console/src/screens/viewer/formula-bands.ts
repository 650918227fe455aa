/** Formulas of the organization name bands by their role, so that they fit other sensors; an item has numbers. */
import type { Band } from './band.ts'

const ROLE = /\b[A-Z][A-Z0-9]+\b/g
const NUMBER = /\bb(\d+)\b/gi

type RoleBand = Pick<Band, 'index' | 'role'>

/** The formula with the numbers of this item's bands; null where one is missing. */
export function formulaForItem(formula: string, bands: readonly RoleBand[]): string | null {
  const numbers = new Map(bands.flatMap(({ role, index }) => (role ? [[role.toUpperCase(), `b${index}`] as const] : [])))
  const hasBands = [...formula.matchAll(NUMBER)].every(([, number]) => Number(number) <= bands.length)
  const roles = [...formula.matchAll(ROLE)].map(([role]) => role).filter((role) => !/^B\d+$/.test(role))
  if (!hasBands || roles.some((role) => !numbers.has(role))) return null
  return formula.replaceAll(ROLE, (role) => numbers.get(role) ?? role)
}

/** The expression with roles instead of numbers, where the role of a band is known. */
export const formulaWithRoles = (expression: string, bands: readonly RoleBand[]): string =>
  expression.replaceAll(NUMBER, (text, number) => bands.find(({ index }) => index === Number(number))?.role?.toUpperCase() ?? text)
