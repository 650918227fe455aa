/** Places in a row, as they are measured: in the address, and what they add up to. */
import { areaOf, type Position } from './geo.ts'
import { alongGlobe, inverse, lengthM } from './geodesic.ts'

export const MAX_PATH_POINTS = 100
/** Six decimal places: a tenth of a metre. */
const DECIMALS = 6

export const roundedPlace = ([x, y]: Position): Position => [
  Number((((((x + 180) % 360) + 360) % 360) - 180).toFixed(DECIMALS)),
  Number(Math.max(-90, Math.min(90, y)).toFixed(DECIMALS)),
]

export const formatPath = (points: readonly Position[]): string => points.map((place) => roundedPlace(place).join(',')).join(';')

/** Text that is not a place is left out. */
export const parsePath = (text: string | undefined): Position[] =>
  (text ?? '')
    .split(';')
    .slice(0, MAX_PATH_POINTS)
    .flatMap((part): Position[] => {
      const [x, y, ...rest] = part.split(',').map((number) => (number.trim() === '' ? Number.NaN : Number(number)))
      const isPlace = rest.length === 0 && Math.abs(x ?? Number.NaN) <= 180 && Math.abs(y ?? Number.NaN) <= 90
      return isPlace ? [[x!, y!]] : []
    })

/** The polygon with these corners; null if they enclose nothing. */
export function polygonOf(points: readonly Position[]): GeoJSON.Polygon | null {
  const turned = alongTurn(points)
  return turned.length < 3 ? null : { type: 'Polygon', coordinates: [[...turned, turned[0]!]] }
}

/** Neighbours are less than half a turn apart, so that a shape across the antimeridian is in one piece. */
function alongTurn(points: readonly Position[]): Position[] {
  const turned: Position[] = []
  for (const [x, y] of points) turned.push([x + 360 * Math.round(((turned.at(-1)?.[0] ?? x) - x) / 360), y])
  return turned
}

export interface Measured {
  lengthM: number
  /** Of a closed path. */
  areaM2: number
  /** Of the last segment, in degrees clockwise from north; null for fewer than two places. */
  bearing: number | null
}

export function measure(points: readonly Position[], isClosed: boolean): Measured {
  const line = isClosed && points.length > 2 ? [...points, points[0]!] : points
  const [from, to] = points.slice(-2)
  return {
    lengthM: lengthM(line),
    areaM2: isClosed && points.length > 2 ? areaOf({ type: 'Polygon', coordinates: [alongGlobe(line, EDGE_PART_M)] }) : 0,
    bearing: from && to ? inverse(from, to).bearing : null,
  }
}

/** Edges are the shortest lines between corners; in parts of this length, they are so to a millionth of the area. */
const EDGE_PART_M = 1_000

/** As it is drawn. */
export function pathFeatures(points: readonly Position[], isClosed: boolean): GeoJSON.FeatureCollection {
  const features: GeoJSON.Feature[] = []
  const ring = isClosed && points.length > 2 ? [...points, points[0]!] : points
  if (points.length > 1) features.push({ type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: alongGlobe(ring) } })
  if (isClosed && points.length > 2)
    features.push({ type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [alongGlobe(ring)] } })
  return { type: 'FeatureCollection', features }
}
