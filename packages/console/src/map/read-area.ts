/** Text that means an area or a place: GeoJSON, WKT, KML, a box, coordinates in the usual notations. */
import { boxPolygon, polygonsOf, type Box, type Position } from './geo.ts'

export type ReadArea = { kind: 'area'; geometry: GeoJSON.Polygon; parts: number } | { kind: 'place'; at: Position }

export class AreaProblem extends Error {}

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?`

export async function readArea(text: string): Promise<ReadArea | null> {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (trimmed.startsWith('{')) return fromGeoJson(trimmed)
  if (trimmed.startsWith('<')) return await fromKml(trimmed)
  if (/^(MULTI)?POLYGON\s*\(/i.test(trimmed)) return fromWkt(trimmed)
  const numbers = trimmed.match(new RegExp(`^${NUMBER}(?:[\\s,;]+${NUMBER}){3}$`)) ? trimmed.split(/[\s,;]+/).map(Number) : null
  if (numbers) return area(boxPolygon(numbers as Box), 1)
  return placeOf(trimmed)
}

function area(geometry: GeoJSON.Geometry, parts: number): ReadArea {
  const polygons = polygonsOf(geometry)
  if (polygons.length === 0) throw new AreaProblem('There is no polygon in it. Lines and points do not enclose an area.')
  const largest = polygons.toSorted((a, b) => (b[0]?.length ?? 0) - (a[0]?.length ?? 0))[0]!
  const outer = largest[0]!.map(([x, y]): Position => [x, y])
  if (outer.some(([x, y]) => !(Math.abs(x) <= 180 && Math.abs(y) <= 90)))
    throw new AreaProblem('Coordinates must be longitude and latitude in degrees (EPSG:4326).')
  const first = outer[0]!
  const last = outer.at(-1)!
  const closed = first[0] === last[0] && first[1] === last[1] ? outer : [...outer, first]
  if (closed.length < 4) throw new AreaProblem('A polygon needs three corners or more.')
  return { kind: 'area', geometry: { type: 'Polygon', coordinates: [closed] }, parts: Math.max(parts, polygons.length) }
}

function fromGeoJson(text: string): ReadArea {
  let value: GeoJSON.GeoJSON
  try {
    value = JSON.parse(text) as GeoJSON.GeoJSON
  } catch {
    throw new AreaProblem('This is not valid JSON.')
  }
  const geometries =
    value.type === 'FeatureCollection'
      ? value.features.map(({ geometry }) => geometry)
      : [value.type === 'Feature' ? value.geometry : value]
  return area({ type: 'GeometryCollection', geometries: geometries.filter((geometry) => geometry !== null) }, 1)
}

async function fromKml(text: string): Promise<ReadArea> {
  const { kml, gpx } = await import('@tmcw/togeojson')
  const document = new DOMParser().parseFromString(text, 'text/xml')
  const read = document.documentElement.nodeName === 'gpx' ? gpx(document) : kml(document)
  return area({ type: 'GeometryCollection', geometries: read.features.flatMap(({ geometry }) => (geometry ? [geometry] : [])) }, 1)
}

function fromWkt(text: string): ReadArea {
  const rings = [...text.matchAll(/\(([^()]+)\)/g)].map(([, ring]) =>
    ring!.split(',').map((pair) => {
      const [x, y] = pair.trim().split(/\s+/).map(Number)
      return [x, y] as Position
    }),
  )
  if (rings.length === 0 || rings.flat().some((at) => at.some(Number.isNaN))) throw new AreaProblem('This well-known text cannot be read.')
  const geometries = rings.map((ring): GeoJSON.Polygon => ({ type: 'Polygon', coordinates: [ring] }))
  return area({ type: 'GeometryCollection', geometries }, rings.length)
}

const DMS = /(\d+(?:\.\d+)?)\s*[°d]\s*(?:(\d+(?:\.\d+)?)\s*['′m]\s*)?(?:(\d+(?:\.\d+)?)\s*["″s]\s*)?([NSEW])/gi

/** `-33.19, 137.99` is latitude first, as people write it; a first number beyond 90 can only be a longitude. */
function placeOf(text: string): ReadArea | null {
  const parts = [...text.matchAll(DMS)]
  if (parts.length === 2) {
    const read = parts.map(([, degrees, minutes, seconds, side]) => ({
      value: (Number(degrees) + Number(minutes ?? 0) / 60 + Number(seconds ?? 0) / 3600) * (/[SW]/i.test(side!) ? -1 : 1),
      isLatitude: /[NS]/i.test(side!),
    }))
    const latitude = read.find(({ isLatitude }) => isLatitude)
    const longitude = read.find(({ isLatitude }) => !isLatitude)
    return latitude && longitude ? { kind: 'place', at: [longitude.value, latitude.value] } : null
  }
  const pair = text.replace('−', '-').match(new RegExp(`^(${NUMBER})[\\s,;]+(${NUMBER})$`))
  if (!pair) return null
  const [a, b] = [Number(pair[1]), Number(pair[2])]
  if (Math.abs(a) <= 90 && Math.abs(b) <= 180) return { kind: 'place', at: [b, a] }
  return Math.abs(a) <= 180 && Math.abs(b) <= 90 ? { kind: 'place', at: [a, b] } : null
}
