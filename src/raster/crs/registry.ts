import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { RasterError } from '#raster/errors.ts'
import type { Crs } from '#raster/types.ts'
import { titled } from './datums.ts'

/**
 * The EPSG registry, from a table that `tools/projected.ts` generates and that is loaded with the first lookup. Every row was
 * compared with PROJ. A code that is missing or not supported is an error, never a guess.
 */

/** Users who measure on a map should know about inaccuracy above this. */
const NOTED_M = 5

/** Codes of other registries or older software for the same systems. */
const ALIASES: ReadonlyMap<number, number> = new Map([
  [900913, 3857],
  [3785, 3857],
  [102100, 3857],
  [102113, 3857],
])

interface Table {
  /** Ellipsoids with their shift to WGS 84, in proj4's notation. */
  readonly datums: readonly string[]
  /** The line of each code: code, name, projection, index of the datum, accuracy and distance from PROJ in metres. */
  readonly lines: ReadonlyMap<number, string>
  /** Codes of geographic systems by their ArcGIS names. */
  readonly names: ReadonlyMap<string, number>
}

interface Row {
  readonly name: string
  /** Empty for a geographic system. */
  readonly projection: string
  readonly datum: string
  readonly accuracyM: number | null
  readonly deviationM: number
}

/** A constant that is loaded from its file on first use. */
let table: Table | null = null

function loaded(): Table {
  if (table) return table
  const file = new URL('data/epsg.txt.br', import.meta.url)
  const [datums = '', rows = '', names = ''] = brotliDecompressSync(readFileSync(file)).toString('utf8').split('\n\n')
  const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
  table = {
    datums: datums.split('\n'),
    lines: new Map(linesOf(rows).map((line) => [Number.parseInt(line, 10), line])),
    names: new Map(linesOf(names).map((line) => [plainName(line.split('\t')[0] ?? ''), Number(line.split('\t')[1])])),
  }
  return table
}

/** Names are compared without case, punctuation and the prefix of ArcGIS. */
const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^gcs_/, '')
    .replaceAll(/[^a-z0-9]/g, '')

/** The code of a geographic system by its ArcGIS or EPSG name; null if unknown. */
export function geographicCodeOf(name: string): number | null {
  const { names, lines } = loaded()
  const plain = plainName(name)
  const known = names.get(plain)
  if (known !== undefined) return known
  for (const [code, line] of lines) {
    const [, own = '', projection] = line.split('\t')
    if (projection === '' && plainName(own) === plain) return code
  }
  return null
}

const CONVERSION_COLUMN = 6

/** The projection of an EPSG conversion (such as a State Plane zone) without its unit; null if no system uses it. */
export function projectionOfConversion(conversion: number): string | null {
  const code = String(conversion)
  for (const line of loaded().lines.values()) {
    const fields = line.split('\t')
    if (fields[CONVERSION_COLUMN] === code && !fields[2]?.startsWith('!'))
      return (fields[2] ?? '').replaceAll(/\s*\+(units|to_meter|axis)=\S+/g, '')
  }
  return null
}

function rowOf(code: number): Row {
  const { datums, lines } = loaded()
  const line = lines.get(code)
  if (line === undefined) throw new RasterError('unknown_crs', `Unknown code EPSG:${code}`)
  const [, name = '', projection = '', datum = '', accuracy = '', deviation = ''] = line.split('\t')
  if (projection.startsWith('!')) throw new RasterError('unknown_crs', `EPSG:${code} (${name}) cannot be used: ${projection.slice(1)}`)
  return {
    name,
    projection,
    datum: titled(datums[Number(datum)] ?? '', name),
    accuracyM: accuracy === '' ? null : Number(accuracy),
    deviationM: deviation === '' ? 0 : Number(deviation),
  }
}

/** Ellipsoid and datum shift of a geographic system. */
export function datumOf(geographicCode: number): Pick<Crs, 'accuracyM' | 'note'> & { figure: string } {
  const row = rowOf(geographicCode)
  if (row.projection !== '') throw new RasterError('unknown_crs', `EPSG:${geographicCode} is not a geographic coordinate reference system`)
  return { figure: row.datum, ...qualityOf(geographicCode, row) }
}

export function hasDatum(geographicCode: number): boolean {
  const line = loaded().lines.get(geographicCode)
  return line !== undefined && line.split('\t')[2] === ''
}

export function crsFromEpsg(epsg: number): Crs {
  const code = ALIASES.get(epsg) ?? epsg
  const row = rowOf(code)
  const quality = qualityOf(code, row)
  const common = { epsg: code, name: row.name, ...quality }
  if (row.projection === '') return { ...common, kind: 'geographic', proj4: `+proj=longlat ${row.datum} +no_defs`, unit: 1 }
  return { ...common, kind: 'projected', proj4: `${row.projection} ${row.datum} +no_defs`, unit: unitOf(row.projection) }
}

/** Datums on the ellipsoids of satellites agree with WGS 84 within a few metres, published or not. */
const GEOCENTRIC = /\+(?:ellps=(?:GRS80|WGS84)|datum=WGS84)\b/

/** The accuracy of coordinates, and a note if it is unexpectedly low. */
function qualityOf(code: number, { accuracyM, deviationM, datum }: Row): Pick<Crs, 'accuracyM' | 'note'> {
  if (accuracyM === null && deviationM === 0 && GEOCENTRIC.test(datum)) return { accuracyM: null, note: null }
  if (accuracyM === null && deviationM === 0) {
    const note =
      `No shift from the datum of EPSG:${code} to WGS 84 is published: positions are used unchanged and may be hundreds ` + `of metres off`
    return { accuracyM: null, note }
  }
  const worst = Math.max(accuracyM ?? 0, deviationM)
  const note = `Positions in EPSG:${code} are accurate to about ${worst} m: a more accurate shift to WGS 84 needs a grid file`
  return { accuracyM: worst, note: worst > NOTED_M ? note : null }
}

/** Reads "EPSG:32633" or "32633"; anything else is unknown. */
export function parseCrs(text: string): Crs {
  const match = /^(?:EPSG:)?(\d{4,6})$/i.exec(text.trim())
  if (!match) throw new RasterError('unknown_crs', `"${text.slice(0, 40)}" is not an EPSG code`)
  return crsFromEpsg(Number(match[1]))
}

/** All supported codes, and those listed with the reason why they are not supported. */
export function registryCodes(): { known: number[]; refused: number[] } {
  const codes: { known: number[]; refused: number[] } = { known: [], refused: [] }
  for (const [code, line] of loaded().lines) codes[line.split('\t')[2]?.startsWith('!') ? 'refused' : 'known'].push(code)
  return codes
}

const UNITS: Readonly<Record<string, number>> = { m: 1, 'us-ft': 1200 / 3937, ft: 0.3048, km: 1000 }

function unitOf(projection: string): number {
  const named = /\+units=(\S+)/.exec(projection)?.[1]
  const given = /\+to_meter=(\S+)/.exec(projection)?.[1]
  return (named ? UNITS[named] : undefined) ?? (given ? Number(given) : 1)
}
