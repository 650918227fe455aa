/** Formulas over names of bands, in any usual spelling: `(nir - Red) / (nir + RED)`. */
import { parseExpression, type Expression } from '#raster/expression/index.ts'

import { BAND_ROLES, normalizeRoles, type BandRole } from './roles.ts'

interface NamedFormula {
  /** What the formula reads, as roles and as `bN`, in the order of the roles. */
  required: string[]
  roles: BandRole[]
  /** How many results it has; more than one are separated by `;`. */
  resultCount: number
}

/** Beyond every band of a file, so that a role is never taken for a band. */
const FIRST_ROLE_NUMBER = 1_001
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g

const roleOf = (name: string): BandRole | null => [...normalizeRoles({ [name]: 1 }).keys()][0] ?? null

/** The names in a formula that are roles, as they are spelled there. */
function rolesIn(formula: string): Map<string, BandRole> {
  const byName = new Map<string, BandRole>()
  for (const [name] of formula.matchAll(NAME)) {
    const role = roleOf(name)
    if (role !== null) byName.set(name, role)
  }
  return byName
}

/** Reads a formula, or throws an ExpressionError that points at the character. */
export function readFormula(formula: string): NamedFormula {
  const names = rolesIn(formula)
  const numbers = Object.fromEntries([...names].map(([name, role]) => [name, FIRST_ROLE_NUMBER + BAND_ROLES.indexOf(role)]))
  const expression: Expression = parseExpression(formula, { names: numbers, bandCount: FIRST_ROLE_NUMBER + BAND_ROLES.length })
  const roles = expression.bands.filter((band) => band >= FIRST_ROLE_NUMBER).map((band) => BAND_ROLES[band - FIRST_ROLE_NUMBER]!)
  const bands = expression.bands.filter((band) => band < FIRST_ROLE_NUMBER).map((band) => `b${band}`)
  return { required: [...bands, ...roles], roles, resultCount: expression.results.length }
}

/**
 * What the names of a formula stand for in one raster: those of its bands first, roles in any spelling after them. A role that
 * the raster lacks is left out, and the parser says which.
 */
export function namesFor(formula: string, bandNames: Readonly<Record<string, number>>): Record<string, number> {
  const known = normalizeRoles(bandNames)
  const spelled = [...rolesIn(formula)].flatMap(([name, role]) => (known.has(role) ? [[name, known.get(role)!] as const] : []))
  return { ...Object.fromEntries(spelled), ...bandNames }
}
