/** Formulas with band names in any common spelling: `(nir - Red) / (nir + RED)`. */
import { parseExpression, type Expression } from '#raster/expression/index.ts'

import { BAND_ROLES, normalizeRoles, type BandRole } from './roles.ts'

interface NamedFormula {
  /** The bands that the formula uses, as roles and as `bN`, in the order of the roles. */
  required: string[]
  roles: BandRole[]
  /** Number of results; several are separated by `;`. */
  resultCount: number
}

/** Above any band number of a file, so that a role is never mistaken for a band. */
const FIRST_ROLE_NUMBER = 1_001
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g

const roleOf = (name: string): BandRole | null => [...normalizeRoles({ [name]: 1 }).keys()][0] ?? null

/** The role names in a formula, as spelled there. */
function rolesIn(formula: string): Map<string, BandRole> {
  const byName = new Map<string, BandRole>()
  for (const [name] of formula.matchAll(NAME)) {
    const role = roleOf(name)
    if (role !== null) byName.set(name, role)
  }
  return byName
}

/** Parses a formula; throws an ExpressionError with the character position. */
export function readFormula(formula: string): NamedFormula {
  const names = rolesIn(formula)
  const numbers = Object.fromEntries([...names].map(([name, role]) => [name, FIRST_ROLE_NUMBER + BAND_ROLES.indexOf(role)]))
  const expression: Expression = parseExpression(formula, { names: numbers, bandCount: FIRST_ROLE_NUMBER + BAND_ROLES.length })
  const roles = expression.bands.filter((band) => band >= FIRST_ROLE_NUMBER).map((band) => BAND_ROLES[band - FIRST_ROLE_NUMBER]!)
  const bands = expression.bands.filter((band) => band < FIRST_ROLE_NUMBER).map((band) => `b${band}`)
  return { required: [...bands, ...roles], roles, resultCount: expression.results.length }
}

/**
 * Resolves the names of a formula for one raster: band names first, then roles in any spelling. A role that the raster lacks is
 * omitted, so that the parser reports it.
 */
export function namesFor(formula: string, bandNames: Readonly<Record<string, number>>): Record<string, number> {
  const known = normalizeRoles(bandNames)
  const spelled = [...rolesIn(formula)].flatMap(([name, role]) => (known.has(role) ? [[name, known.get(role)!] as const] : []))
  return { ...Object.fromEntries(spelled), ...bandNames }
}
