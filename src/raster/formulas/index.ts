import { parseExpression } from '#raster/expression/index.ts'

import { BURN } from './burn.ts'
import { STRUCTURE } from './structure.ts'
import { STRESS } from './stress.ts'
import { SOIL_COLOUR } from './soil-colour.ts'
import { RED_EDGE } from './red-edge.ts'
import { POLARIMETRY } from './polarimetry.ts'
import { INLAND_WATER } from './inland-water.ts'
import { ICE } from './ice.ts'
import { GREENNESS } from './greenness.ts'
import { CLOUDS } from './clouds.ts'
import { BURN_HEAT } from './burn-heat.ts'
import { BUILT_UP } from './built-up.ts'
import { MOISTURE } from './moisture.ts'
import { PIGMENTS } from './pigments.ts'
import { RADAR } from './radar.ts'
import { BAND_ROLES, normalizeRoles, type BandRole, type BandRoles } from './roles.ts'
import { SNOW } from './snow.ts'
import { SOIL } from './soil.ts'
import type { FormulaSource } from './source.ts'
import { URBAN } from './urban.ts'
import { VEGETATION } from './vegetation.ts'
import { WATER } from './water.ts'

export { normalizeRoles, type BandRole, type BandRoles }

type FormulaCategory = 'vegetation' | 'pigments' | 'moisture' | 'water' | 'burn' | 'urban' | 'soil' | 'snow' | 'clouds' | 'radar'

export interface Formula extends FormulaSource {
  category: FormulaCategory
  /** The roles that the expression uses. */
  roles: readonly BandRole[]
}

const SOURCES: Record<FormulaCategory, readonly FormulaSource[]> = {
  vegetation: [...VEGETATION, ...GREENNESS, ...STRUCTURE],
  pigments: [...PIGMENTS, ...RED_EDGE],
  moisture: [...MOISTURE, ...STRESS],
  water: [...WATER, ...INLAND_WATER],
  burn: [...BURN, ...BURN_HEAT],
  urban: [...URBAN, ...BUILT_UP],
  soil: [...SOIL, ...SOIL_COLOUR],
  snow: [...SNOW, ...ICE],
  clouds: CLOUDS,
  radar: [...RADAR, ...POLARIMETRY],
}

/** A unique band number for each role, so that the parser reports which roles an expression uses. */
const ROLE_NUMBERS = Object.fromEntries(BAND_ROLES.map((role, index) => [role, index + 1]))

const FORMULAS: readonly Formula[] = Object.entries(SOURCES).flatMap(([category, sources]) =>
  sources.map((source) => ({ ...source, category: category as FormulaCategory, roles: rolesOf(source.expression) })),
)
const BY_ID: ReadonlyMap<string, Formula> = new Map(FORMULAS.map((formula) => [formula.id, formula]))

/** Every spectral index, by category. */
export function formulas(): readonly Formula[] {
  return FORMULAS
}

export function findFormula(id: string): Formula | null {
  return BY_ID.get(id.toLowerCase()) ?? null
}

/** The formulas for which all roles are available. */
export function formulasFor(roles: BandRoles): Formula[] {
  const known = normalizeRoles(roles)
  return FORMULAS.filter((formula) => formula.roles.every((role) => known.has(role)))
}

/**
 * Writes a formula with band numbers, for example `(b4 - b3) / (b4 + b3)`, or returns null if a role is missing.
 * `reflectanceScale` (0.0001 for Sentinel-2 and most 16-bit products) converts samples to reflectances, for formulas
 * with constants that require them.
 */
export function resolveFormula(formula: Formula, roles: BandRoles, options: { reflectanceScale?: number } = {}): string | null {
  const known = normalizeRoles(roles)
  if (!formula.roles.every((role) => known.has(role))) return null
  const { reflectanceScale = 1 } = options
  const scaled = formula.reflectance === true && reflectanceScale !== 1
  return formula.expression.replaceAll(/[A-Z][A-Z0-9]*/g, (role) => {
    const band = `b${known.get(role as BandRole)}`
    return scaled ? `(${band} * ${reflectanceScale})` : band
  })
}

function rolesOf(expression: string): BandRole[] {
  return parseExpression(expression, { names: ROLE_NUMBERS }).bands.map((number) => BAND_ROLES[number - 1] as BandRole)
}
