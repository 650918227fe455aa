/** Coordinates as people write them: in degrees, on a grid in metres, or as a military grid reference. */
import type { Position } from './geo.ts'

export const NOTATIONS = ['degrees', 'dms', 'mercator', 'utm', 'mgrs', 'item'] as const
export type Notation = (typeof NOTATIONS)[number]

/** A system with a grid of its own; degrees have none. */
export interface Projection {
  name: string
  forward(at: Position): Position
  inverse(at: Position): Position
}

/** Of the library that is loaded when a notation needs it. */
export interface Converter {
  project(definition: string): Omit<Projection, 'name'>
  mgrs(at: Position): string
}

export async function loadConverter(): Promise<Converter> {
  const { default: proj4 } = await import('proj4')
  return {
    project: (definition) => {
      const { forward, inverse } = proj4('EPSG:4326', definition)
      return { forward: (at) => forward([...at]) as Position, inverse: (at) => inverse([...at]) as Position }
    },
    mgrs: (at) => proj4.mgrs.forward([...at]),
  }
}

const MAX_MERCATOR_LATITUDE = 85.051_128_78
const MERCATOR_M = 20_037_508.342_789_244
const radians = (degrees: number) => (degrees * Math.PI) / 180

const MERCATOR: Projection = {
  name: 'EPSG:3857',
  forward: ([x, y]) => [
    (x / 180) * MERCATOR_M,
    (Math.log(Math.tan(Math.PI / 4 + radians(Math.max(-MAX_MERCATOR_LATITUDE, Math.min(MAX_MERCATOR_LATITUDE, y))) / 2)) / Math.PI) *
      MERCATOR_M,
  ],
  inverse: ([x, y]) => [(x / MERCATOR_M) * 180, ((2 * Math.atan(Math.exp((y / MERCATOR_M) * Math.PI)) - Math.PI / 2) * 180) / Math.PI],
}

/** Between 80° south and 84° north, with the wider zones of Norway and Svalbard. */
export function utmZone([x, y]: Position): { zone: number; isSouth: boolean } | null {
  if (y < -80 || y > 84) return null
  const longitude = ((((x + 180) % 360) + 360) % 360) - 180
  const isSouth = y < 0
  if (y >= 56 && y < 64 && longitude >= 3 && longitude < 12) return { zone: 32, isSouth }
  if (y >= 72 && longitude >= 0 && longitude < 42)
    return { zone: longitude < 9 ? 31 : longitude < 21 ? 33 : longitude < 33 ? 35 : 37, isSouth }
  return { zone: Math.floor((longitude + 180) / 6) + 1, isSouth }
}

const utm = (zone: number, isSouth: boolean, ellipsoid: string) =>
  `+proj=utm +zone=${zone}${isSouth ? ' +south' : ''} ${ellipsoid} +units=m +no_defs`

/** Families of grids by their codes: all are UTM, on datums within two metres of WGS 84. */
const FAMILIES: readonly { first: number; zones: readonly [number, number]; isSouth: boolean; ellipsoid: string }[] = [
  { first: 32_600, zones: [1, 60], isSouth: false, ellipsoid: '+datum=WGS84' },
  { first: 32_700, zones: [1, 60], isSouth: true, ellipsoid: '+datum=WGS84' },
  { first: 25_800, zones: [28, 38], isSouth: false, ellipsoid: '+ellps=GRS80 +towgs84=0,0,0' },
  { first: 26_900, zones: [1, 23], isSouth: false, ellipsoid: '+ellps=GRS80 +towgs84=0,0,0' },
  { first: 28_300, zones: [46, 59], isSouth: true, ellipsoid: '+ellps=GRS80 +towgs84=0,0,0' },
  { first: 7_800, zones: [46, 59], isSouth: true, ellipsoid: '+ellps=GRS80 +towgs84=0,0,0' },
]

/** The definition of a code that can be shown; null for degrees and for other systems. */
export function definitionOf(epsg: number | null): string | null {
  for (const { first, zones, isSouth, ellipsoid } of FAMILIES) {
    const zone = (epsg ?? 0) - first
    if (zone >= zones[0] && zone <= zones[1]) return utm(zone, isSouth, ellipsoid)
  }
  return null
}

/** The grid of a notation at a place; null for degrees, and where it has none. */
export function projectionFor(notation: Notation, at: Position, epsg: number | null, converter: Converter | null): Projection | null {
  if (notation === 'mercator' || (notation === 'item' && epsg === 3857)) return MERCATOR
  if (!converter) return null
  if (notation === 'item') {
    const definition = definitionOf(epsg)
    return definition === null ? null : { name: `EPSG:${epsg}`, ...converter.project(definition) }
  }
  const zone = notation === 'utm' || notation === 'mgrs' ? utmZone(at) : null
  if (!zone) return null
  return {
    name: `UTM ${zone.zone}${zone.isSouth ? 'S' : 'N'}`,
    ...converter.project(utm(zone.zone, zone.isSouth, '+datum=WGS84')),
  }
}

/** Whether a notation needs the library. */
export const needsConverter = (notation: Notation, epsg: number | null): boolean =>
  notation === 'utm' || notation === 'mgrs' || (notation === 'item' && definitionOf(epsg) !== null)

const SECOND_DECIMALS = 1

/** 48° 12′ 0.0″ N */
export function dms(degrees: number, sides: readonly [string, string], decimals = SECOND_DECIMALS): string {
  const scale = 10 ** decimals
  // Rounded first: 59.97″ is the next minute, not 60.0″.
  const units = Math.round(Math.abs(degrees) * 3600 * scale)
  const [whole, minutes] = [Math.floor(units / (3600 * scale)), Math.floor(units / (60 * scale)) % 60]
  const seconds = ((units % (60 * scale)) / scale).toFixed(decimals)
  return `${whole}° ${minutes}′ ${seconds}″ ${degrees < 0 ? sides[1] : sides[0]}`
}

const LATITUDE_SIDES = ['N', 'S'] as const
const LONGITUDE_SIDES = ['E', 'W'] as const
const DEGREE_DECIMALS = 6

/** A place in a notation; null where the notation has none. */
export function formatPlace(notation: Notation, at: Position, epsg: number | null, converter: Converter | null): string | null {
  const [x, y] = at
  if (notation === 'dms') return `${dms(y, LATITUDE_SIDES)}, ${dms(x, LONGITUDE_SIDES)}`
  if (notation === 'mgrs') return converter && utmZone(at) ? spaced(converter.mgrs(at)) : null
  const projection = projectionFor(notation, at, epsg, converter)
  if (projection) {
    const [east, north] = projection.forward(at)
    return `${projection.name} ${east.toFixed(1)}, ${north.toFixed(1)}`
  }
  return notation === 'degrees' || (notation === 'item' && epsg === 4326)
    ? `${y.toFixed(DEGREE_DECIMALS)}, ${x.toFixed(DEGREE_DECIMALS)}`
    : null
}

/** 31U DP 47985 38767 */
const spaced = (reference: string) => reference.replace(/^(\d+[A-Z])([A-Z]{2})(\d{5})(\d{5})$/, '$1 $2 $3 $4')

export const labelOf = (notation: Notation, epsg: number | null): string =>
  ({
    degrees: 'WGS 84, decimal degrees',
    dms: 'WGS 84, degrees, minutes, seconds',
    mercator: 'Web Mercator (EPSG:3857)',
    utm: 'UTM zone of the position',
    mgrs: 'MGRS',
    item: `System of the item (EPSG:${epsg})`,
  })[notation]

export { LATITUDE_SIDES, LONGITUDE_SIDES }
