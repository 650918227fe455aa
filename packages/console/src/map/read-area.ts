/** Text that means an area or a place: GeoJSON, WKT, KML, GPX, a bounding box, or coordinates in the usual notations. */
import { areaOf, boxPolygon, MAX_KEPT_VERTICES, polygonsOf, type Box, type Position } from './geo.ts'

/** `geometry` is the outer ring of the largest polygon; `polygons` are all of them, with holes. */
export type ReadArea =
  | { kind: 'area'; geometry: GeoJSON.Polygon; parts: number; polygons: Position[][][] }
  | { kind: 'place'; at: Position }

/** Its message says what to change. */
export class AreaProblem extends Error {}

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?`

export async function readArea(text: string): Promise<ReadArea | null> {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('{')) return fromGeoJson(trimmed)
  if (trimmed.startsWith('<')) return await fromKml(trimmed)
  if (WKT_NAME.test(trimmed)) return fromWkt(trimmed)
  const numbers = trimmed.match(new RegExp(`^${NUMBER}(?:[\\s,;]+${NUMBER}){3}$`)) ? trimmed.split(/[\s,;]+/).map(Number) : null
  return numbers ? fromBox(numbers as Box) : placeOf(trimmed)
}

function fromBox(box: Box): ReadArea {
  const [west, south, east, north] = box
  if (west >= east || south >= north)
    throw new AreaProblem('A bounding box is west, south, east, north, with west < east and south < north.')
  return areaFrom([boxPolygon(box).coordinates as Position[][]])
}

const isPosition = (value: unknown) => Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1])
const isRing = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isPosition)
const isPolygon = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isRing)

export function areaFrom(polygons: readonly Position[][][]): ReadArea {
  if (polygons.length === 0) throw new AreaProblem('No polygon found. Lines and points do not enclose an area.')
  if (!polygons.every(isPolygon)) throw new AreaProblem('The coordinates of a polygon must be rings of [longitude, latitude].')
  const outers = polygons.map(([outer]) => outer!.map(([x, y]): Position => [x, y]))
  if (outers.flat().some(([x, y]) => Math.abs(x) > 180 || Math.abs(y) > 90))
    throw new AreaProblem('Coordinates must be longitude and latitude in degrees (EPSG:4326).')
  const rings = outers.map(closed).map((ring) => ({ ring, size: areaOf({ type: 'Polygon', coordinates: [ring] }) }))
  const { ring } = rings.reduce((largest, next) => (next.size > largest.size ? next : largest))
  if (ring.length < 4) throw new AreaProblem('A polygon needs at least three corners.')
  if (ring.length - 1 > MAX_KEPT_VERTICES)
    throw new AreaProblem('The polygon has more than 5,000 points. Simplify it first: ogr2ogr -simplify 0.001 smaller.geojson area.geojson')
  const all = polygons.map((rings) =>
    rings.map((each) => closed(each.map(([x, y]): Position => [x, y]))).filter((each) => each.length >= 4),
  )
  return {
    kind: 'area',
    geometry: { type: 'Polygon', coordinates: [ring] },
    parts: polygons.length,
    polygons: all.filter(([outer]) => outer),
  }
}

function closed(ring: Position[]): Position[] {
  const [first, last] = [ring[0]!, ring.at(-1)!]
  return first[0] === last[0] && first[1] === last[1] ? ring : [...ring, first]
}

function fromGeoJson(text: string): ReadArea {
  let value: GeoJSON.GeoJSON
  try {
    value = JSON.parse(text) as GeoJSON.GeoJSON
  } catch {
    throw new AreaProblem('This is not valid JSON.')
  }
  return areaFrom(polygonsIn(value))
}

/** The polygons of any GeoJSON object; what is not GeoJSON has none. */
function polygonsIn(value: GeoJSON.GeoJSON | null | undefined): Position[][][] {
  if (value?.type === 'FeatureCollection') return listed(value.features).flatMap(polygonsIn)
  if (value?.type === 'GeometryCollection') return listed(value.geometries).flatMap(polygonsIn)
  if (value?.type === 'Feature') return polygonsIn(value.geometry)
  if (value?.type === 'MultiPolygon') return listed(polygonsOf(value))
  return polygonsOf(value)
}
const listed = <T>(value: T[]): T[] => (Array.isArray(value) ? value : [])

async function fromKml(text: string): Promise<ReadArea> {
  const read = await parseXml(text)
  return areaFrom(read.features.flatMap(({ geometry }) => polygonsOf(geometry)))
}

/** The features of a KML or GPX document. */
export async function parseXml(text: string) {
  // Entities have no place in an area; what they expand to is not known before.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new AreaProblem('The file declares XML entities, which are not supported. Export it again.')
  const { kml, gpx } = await import('@tmcw/togeojson')
  const document = new DOMParser().parseFromString(text, 'text/xml')
  return document.documentElement.nodeName === 'gpx' ? gpx(document) : kml(document)
}

const WKT_NAME = /^(MULTI)?POLYGON\s*(?:ZM?|M)?\s*\(/i
const WKT_NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`
const WKT_POSITION = new RegExp(String.raw`(${WKT_NUMBER})\s+(${WKT_NUMBER})(?:\s+${WKT_NUMBER}){0,2}`, 'gi')

/** With brackets for parentheses and `[x,y]` for `x y`, well-known text is JSON: the coordinates of GeoJSON. */
function fromWkt(text: string): ReadArea {
  const json = text
    .slice(text.indexOf('('))
    .replaceAll(WKT_POSITION, (_, x: string, y: string) => `[${Number(x)},${Number(y)}]`)
    .replaceAll('(', '[')
    .replaceAll(')', ']')
  let coordinates: unknown
  try {
    coordinates = JSON.parse(json)
  } catch {
    throw new AreaProblem('This is not valid WKT. Write a polygon as POLYGON ((137.9 -33.2, 138.1 -33.2, 138 -33.1, 137.9 -33.2)).')
  }
  return areaFrom((/^MULTI/i.test(text) ? coordinates : [coordinates]) as Position[][][])
}

const DMS = /(\d+(?:\.\d+)?)\s*[°d]\s*(?:(\d+(?:\.\d+)?)\s*['′m]\s*)?(?:(\d+(?:\.\d+)?)\s*["″s]\s*)?([NSEW])/gi

/** `-33.19, 137.99` is latitude first, as people write it; a first number beyond 90 can only be a longitude. */
function placeOf(text: string): ReadArea | null {
  const parts = [...text.matchAll(DMS)]
  if (parts.length === 2) {
    const angles = parts.map(([, degrees, minutes, seconds, side]) => ({
      value: (Number(degrees) + Number(minutes ?? 0) / 60 + Number(seconds ?? 0) / 3600) * (/[SW]/i.test(side!) ? -1 : 1),
      isLatitude: /[NS]/i.test(side!),
    }))
    const latitude = angles.find(({ isLatitude }) => isLatitude)
    const longitude = angles.find(({ isLatitude }) => !isLatitude)
    if (!latitude || !longitude || Math.abs(latitude.value) > 90 || Math.abs(longitude.value) > 180) return null
    return { kind: 'place', at: [longitude.value, latitude.value] }
  }
  const pair = text.replace('−', '-').match(new RegExp(`^(${NUMBER})[\\s,;]+(${NUMBER})$`))
  if (!pair) return null
  const [a, b] = [Number(pair[1]), Number(pair[2])]
  if (Math.abs(a) <= 90 && Math.abs(b) <= 180) return { kind: 'place', at: [b, a] }
  return Math.abs(a) <= 180 && Math.abs(b) <= 90 ? { kind: 'place', at: [a, b] } : null
}
