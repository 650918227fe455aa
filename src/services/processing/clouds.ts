/** Cloud detection by reflectance: the required bands, and the request to the raster library. */
import { invalidField } from '#core/problem.ts'
import { normalizeRoles } from '#raster/formulas/index.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { namesOf } from './names.ts'
import type { OpenSource } from './process.ts'

const REQUIRED_ROLES = ['BLUE', 'GREEN', 'RED', 'NIR'] as const

interface CloudTerms {
  /** Factor from samples to reflectance; by default, the usual one for the data type. Values of a scaled stack are reflectances. */
  readonly scale?: number | undefined
  readonly brightness?: number | undefined
}

interface MaskTerms {
  readonly band: number
  readonly values: readonly number[]
}

/** The same from a mask that came with the scene. 422 for `field` if it lacks the band. */
export function cloudClassRequest(source: OpenSource, field: string, { band, values }: MaskTerms) {
  const { bandCount } = source.info
  if (band > bandCount) throw invalidField(field, `must be a band of the mask, which has ${bandCount}`)
  return { method: 'cloudClasses', sources: [source.source], options: { band, values }, outputs: ['data.tif'] }
}

/** 422 for `field` if the scene lacks a band. */
export function cloudRequest(source: OpenSource, field: string, { scale, brightness }: CloudTerms = {}) {
  const { dataType, isScaled } = source.info
  const usual = isScaled ? 1 : dataType === 'uint8' ? 1 / 255 : dataType.startsWith('float') ? 1 : 0.0001
  const options = { bands: cloudBandsOf(source, field), scale: scale ?? usual, brightness }
  return { method: 'clouds', sources: [source.source], options, outputs: ['data.tif'] }
}

export function cloudBandsOf(source: OpenSource, field: string): { blue: number; green: number; red: number; nir: number; swir?: number } {
  const proposed = () =>
    normalizeRoles(
      Object.fromEntries((proposeBands(source.info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : []))),
    )
  const named = normalizeRoles(namesOf(source))
  const roles = REQUIRED_ROLES.every((role) => named.has(role)) ? named : proposed()
  const missing = REQUIRED_ROLES.filter((role) => !roles.has(role))
  if (missing.length > 0)
    throw invalidField(field, `requires the bands blue, green, red and nir; missing: ${missing.join(', ').toLowerCase()}`)
  const swir = roles.get('SWIR1')
  return {
    blue: roles.get('BLUE')!,
    green: roles.get('GREEN')!,
    red: roles.get('RED')!,
    nir: roles.get('NIR')!,
    ...(swir === undefined ? {} : { swir }),
  }
}
