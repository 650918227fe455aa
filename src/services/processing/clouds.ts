/** Clouds of a scene by its colours: which bands that takes, and what is asked of the raster library. */
import { invalidField } from '#core/problem.ts'
import { normalizeRoles } from '#raster/formulas/index.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { namesOf } from './names.ts'
import type { OpenSource } from './process.ts'

const NEEDED = ['BLUE', 'GREEN', 'RED', 'NIR'] as const

interface CloudTerms {
  /** From samples to reflectances; what is usual for the data type by default. */
  readonly scale?: number | undefined
  readonly brightness?: number | undefined
}

/** 422 at `field` where the scene has not the bands. */
export function cloudRequest(source: OpenSource, field: string, { scale, brightness }: CloudTerms = {}) {
  const { dataType } = source.info
  const usual = dataType === 'uint8' ? 1 / 255 : dataType.startsWith('float') ? 1 : 0.0001
  const options = { bands: cloudBandsOf(source, field), scale: scale ?? usual, brightness }
  return { method: 'clouds', sources: [source.source], options, outputs: ['data.tif'] }
}

export function cloudBandsOf(source: OpenSource, field: string): { blue: number; green: number; red: number; nir: number; swir?: number } {
  const guessed = () =>
    normalizeRoles(
      Object.fromEntries((proposeBands(source.info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : []))),
    )
  const named = normalizeRoles(namesOf(source))
  const roles = NEEDED.every((role) => named.has(role)) ? named : guessed()
  const missing = NEEDED.filter((role) => !roles.has(role))
  if (missing.length > 0)
    throw invalidField(field, `needs the bands blue, green, red and nir; ${missing.join(', ').toLowerCase()} is not among them`)
  const swir = roles.get('SWIR1')
  return {
    blue: roles.get('BLUE')!,
    green: roles.get('GREEN')!,
    red: roles.get('RED')!,
    nir: roles.get('NIR')!,
    ...(swir === undefined ? {} : { swir }),
  }
}
