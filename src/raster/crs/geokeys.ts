import type { Fields } from '#raster/tiff/fields.ts'
import { TAG } from '#raster/tiff/tags.ts'

/** GeoTIFF keys that define a CRS, by number. */
export const KEY = {
  modelType: 1024,
  rasterType: 1025,
  citation: 1026,
  geographicType: 2048,
  geodeticDatum: 2050,
  primeMeridian: 2051,
  angularUnits: 2054,
  angularUnitSize: 2055,
  ellipsoid: 2056,
  semiMajorAxis: 2057,
  semiMinorAxis: 2058,
  inverseFlattening: 2059,
  primeMeridianLongitude: 2061,
  toWgs84: 2062,
  projectedType: 3072,
  projectedCitation: 3073,
  projection: 3074,
  coordinateTransformation: 3075,
  linearUnits: 3076,
  linearUnitSize: 3077,
  standardParallel1: 3078,
  standardParallel2: 3079,
  naturalOriginLongitude: 3080,
  naturalOriginLatitude: 3081,
  falseEasting: 3082,
  falseNorthing: 3083,
  falseOriginLongitude: 3084,
  falseOriginLatitude: 3085,
  falseOriginEasting: 3086,
  falseOriginNorthing: 3087,
  centerLongitude: 3088,
  centerLatitude: 3089,
  centerEasting: 3090,
  centerNorthing: 3091,
  scaleAtNaturalOrigin: 3092,
  scaleAtCenter: 3093,
  azimuth: 3094,
  straightVerticalPoleLongitude: 3095,
  rectifiedGridAngle: 3096,
} as const

/** User-defined: other keys contain the definition. */
export const USER_DEFINED = 32767

/** Numeric keys only. Citations are free text and not evaluated, except where two writers put definitions there. */
export type GeoKeys = ReadonlyMap<number, readonly number[]>

const HEADER_VALUES = 4
const ENTRY_VALUES = 4

/** The tags as stored, for copying to another file. */
export interface RawGeoKeys {
  readonly directory: readonly number[]
  readonly doubles: readonly number[]
  readonly ascii: string
}

export async function readRawGeoKeys(fields: Fields): Promise<RawGeoKeys> {
  return {
    directory: (await fields.numbers(TAG.geoKeyDirectory)) ?? [],
    doubles: (await fields.numbers(TAG.geoDoubleParams)) ?? [],
    ascii: (await fields.text(TAG.geoAsciiParams)) ?? '',
  }
}

export function parseGeoKeys(directory: readonly number[], doubles: readonly number[]): GeoKeys {
  const keys = new Map<number, readonly number[]>()
  const count = Math.min(directory[3] ?? 0, Math.floor((directory.length - HEADER_VALUES) / ENTRY_VALUES))
  for (let i = 0; i < count; i++) {
    const at = HEADER_VALUES + i * ENTRY_VALUES
    const [key = 0, location = 0, size = 0, value = 0] = directory.slice(at, at + ENTRY_VALUES)
    if (location === 0) keys.set(key, [value])
    else if (location === TAG.geoDoubleParams) keys.set(key, doubles.slice(value, value + size))
    else if (location === TAG.geoKeyDirectory) keys.set(key, directory.slice(value, value + size))
  }
  return keys
}

/** ASCII values by key; they are concatenated, each terminated by a vertical bar. */
export function parseCitations({ directory, ascii }: RawGeoKeys): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  const count = Math.min(directory[3] ?? 0, Math.floor((directory.length - HEADER_VALUES) / ENTRY_VALUES))
  for (let i = 0; i < count; i++) {
    const at = HEADER_VALUES + i * ENTRY_VALUES
    const [key = 0, location = 0, size = 0, value = 0] = directory.slice(at, at + ENTRY_VALUES)
    if (location === TAG.geoAsciiParams) texts.set(key, ascii.slice(value, value + size).replace(/\|$/, ''))
  }
  return texts
}

/** First value of a key, or null. */
export function key(keys: GeoKeys, id: number): number | null {
  return keys.get(id)?.[0] ?? null
}

export function isPixelPoint(keys: GeoKeys): boolean {
  return key(keys, KEY.rasterType) === 2
}
