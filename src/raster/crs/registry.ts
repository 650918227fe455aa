import { DATUMS } from '#raster/crs/data/datums.ts'
import { GEOGRAPHIC } from '#raster/crs/data/geographic.ts'
import { PROJECTED } from '#raster/crs/data/projected.ts'
import { utmSystem } from '#raster/crs/utm.ts'
import { RasterError } from '#raster/errors.ts'
import type { Crs } from '#raster/types.ts'

/**
 * The systems we know: a curated table whose every row is tested against PROJ, and UTM zones by rule.
 * A code that is not here is an error, never a guess.
 */

const geographicByCode = new Map(GEOGRAPHIC.map((row) => [row[0], row]))
const projectedByCode = new Map(PROJECTED.map((row) => [row[0], row]))

/** Codes that other registries or older software gave to systems of ours. */
const ALIASES: ReadonlyMap<number, number> = new Map([
  [900913, 3857],
  [3785, 3857],
  [102100, 3857],
  [102113, 3857],
])

/** The proj4 name of a figure of the Earth with its datum shift, for a geographic system. */
export function datumOf(geographicCode: number): string {
  const row = geographicByCode.get(geographicCode)
  const datum = row && DATUMS[row[2]]
  if (!datum) throw unknown(geographicCode)
  return datum
}

export function hasDatum(geographicCode: number): boolean {
  return geographicByCode.has(geographicCode)
}

export function crsFromEpsg(epsg: number): Crs {
  const code = ALIASES.get(epsg) ?? epsg
  const geographic = geographicByCode.get(code)
  if (geographic) {
    return { epsg: code, name: geographic[1], kind: 'geographic', proj4: `+proj=longlat ${DATUMS[geographic[2]]} +no_defs`, unit: 1 }
  }
  const projected = projectedByCode.get(code)
  if (projected) {
    const [, name, projection, datum] = projected
    return { epsg: code, name, kind: 'projected', proj4: `${projection} ${DATUMS[datum]} +no_defs`, unit: unitOf(projection) }
  }
  const utm = utmSystem(code)
  if (utm && hasDatum(utm.geographicCode)) {
    const proj4 = `+proj=utm +zone=${utm.zone}${utm.south ? ' +south' : ''} ${datumOf(utm.geographicCode)} +no_defs`
    return { epsg: code, name: utm.name, kind: 'projected', proj4, unit: 1 }
  }
  throw unknown(epsg)
}

/** Reads "EPSG:32633" or "32633"; anything else is unknown. */
export function parseCrs(text: string): Crs {
  const match = /^(?:EPSG:)?(\d{4,6})$/i.exec(text.trim())
  if (!match) throw new RasterError('unknown_crs', `"${text.slice(0, 40)}" is not an EPSG code`)
  return crsFromEpsg(Number(match[1]))
}

export function knownEpsgCodes(): number[] {
  return [...geographicByCode.keys(), ...projectedByCode.keys()]
}

const UNITS: Readonly<Record<string, number>> = { m: 1, 'us-ft': 1200 / 3937, ft: 0.3048, km: 1000 }

function unitOf(projection: string): number {
  const named = /\+units=(\S+)/.exec(projection)?.[1]
  const given = /\+to_meter=(\S+)/.exec(projection)?.[1]
  return (named ? UNITS[named] : undefined) ?? (given ? Number(given) : 1)
}

function unknown(code: number): RasterError {
  return new RasterError('unknown_crs', `EPSG:${code} is not in the table of coordinate reference systems`)
}
