/** Geometry that the screens need: sizes, bounding boxes, coverage, and areas in URLs. */
export type Box = [west: number, south: number, east: number, north: number]
export type Position = [number, number]

/** An area of one or several polygons, which can have holes. */
export type AreaShape = GeoJSON.Polygon | GeoJSON.MultiPolygon

const EARTH_RADIUS_M = 6_371_008.8
const radians = (degrees: number) => (degrees * Math.PI) / 180

export const MAX_VERTICES = 999
/** A larger area than MAX_VERTICES is still shown, with an offer to simplify it. */
export const MAX_KEPT_VERTICES = 5_000
export const MAX_AREA_M2 = 50_000e6
/** Polygons of one area: each is searched by itself. */
export const MAX_POLYGONS = 10

const SEMI_MAJOR_M = 6_378_137
const ECCENTRICITY_SQUARED = 0.006_694_379_990_14
const ECCENTRICITY = Math.sqrt(ECCENTRICITY_SQUARED)

/** Twice the area between the equator and a latitude, per radian of longitude, on an ellipsoid with semi-major axis 1. */
function beltTo(latitude: number): number {
  const sin = Math.sin(radians(latitude))
  const e = ECCENTRICITY
  return (1 - ECCENTRICITY_SQUARED) * (sin / (1 - ECCENTRICITY_SQUARED * sin * sin) + Math.log((1 + e * sin) / (1 - e * sin)) / (2 * e))
}

/** Square metres on the WGS 84 ellipsoid, as the service measures them: what is shown while drawing is what is billed. */
function ringArea(ring: readonly Position[]): number {
  if (ring.length === 0) return 0
  const start = beltTo(ring[0]![1])
  let sum = 0
  for (let index = 0; index < ring.length - 1; index++) {
    const [x1, y1] = ring[index]!
    const [x2, y2] = ring[index + 1]!
    sum += radians(x2 - x1) * (beltTo(y1) - start + (beltTo(y2) - start))
  }
  return Math.abs((sum * SEMI_MAJOR_M ** 2) / 4)
}

export function polygonsOf(geometry: GeoJSON.Geometry | null | undefined): Position[][][] {
  if (!geometry) return []
  if (geometry.type === 'Polygon') return [geometry.coordinates as Position[][]]
  if (geometry.type === 'MultiPolygon') return geometry.coordinates as Position[][][]
  return geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(polygonsOf) : []
}

export function areaOf(geometry: GeoJSON.Geometry | null): number {
  return polygonsOf(geometry).reduce(
    (sum, [outer, ...holes]) => sum + ringArea(outer ?? []) - holes.reduce((hole, ring) => hole + ringArea(ring), 0),
    0,
  )
}

function positionsOf(geometry: GeoJSON.Geometry | null | undefined): Position[] {
  if (!geometry) return []
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(positionsOf)
  return flat(geometry.coordinates)
}

function flat(value: unknown): Position[] {
  if (!Array.isArray(value)) return []
  return typeof value[0] === 'number' ? [value.slice(0, 2) as Position] : value.flatMap(flat)
}

export function boxOf(geometry: GeoJSON.Geometry | null | undefined): Box | null {
  let box: Box | null = null
  for (const [x, y] of positionsOf(geometry))
    box = box ? [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)] : [x, y, x, y]
  return box
}

/** Corners of a footprint from the top left, clockwise: where its quicklook goes. */
export function cornersOf(geometry: GeoJSON.Geometry | null): [Position, Position, Position, Position] | null {
  const all = positionsOf(geometry)
  if (all.length < 4) return null
  const pick = (score: (at: Position) => number) => all.reduce((best, at) => (score(at) > score(best) ? at : best))
  return [pick(([x, y]) => y - x), pick(([x, y]) => x + y), pick(([x, y]) => x - y), pick(([x, y]) => -x - y)]
}

export const boxPolygon = ([west, south, east, north]: Box): GeoJSON.Polygon => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

/** A circle around a point, as a polygon of 64 corners. */
export function circle([longitude, latitude]: Position, radiusM: number): GeoJSON.Polygon {
  const dy = (radiusM / EARTH_RADIUS_M) * (180 / Math.PI)
  const dx = dy / Math.max(0.01, Math.cos(radians(latitude)))
  const ring = Array.from({ length: 65 }, (_, index): Position => {
    const angle = ((index % 64) / 64) * 2 * Math.PI
    return [longitude + dx * Math.cos(angle), latitude + dy * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [ring] }
}

/** The share of the area that a footprint covers, by counting points of a grid: exact to one or two percent, as it is shown. */
export function coverage(area: GeoJSON.Geometry, footprint: GeoJSON.Geometry | null): number {
  const box = boxOf(area)
  if (!box || !footprint) return 0
  const [west, south, east, north] = box
  const steps = 24
  let inside = 0
  let covered = 0
  for (let row = 0; row < steps; row++)
    for (let column = 0; column < steps; column++) {
      const at: Position = [west + ((column + 0.5) / steps) * (east - west), south + ((row + 0.5) / steps) * (north - south)]
      if (!contains(area, at)) continue
      inside++
      if (contains(footprint, at)) covered++
    }
  return inside === 0 ? 0 : covered / inside
}

export function contains(geometry: GeoJSON.Geometry, at: Position): boolean {
  return polygonsOf(geometry).some(
    ([outer, ...holes]) => outer !== undefined && inRing(outer, at) && !holes.some((hole) => inRing(hole, at)),
  )
}

function inRing(ring: readonly Position[], [x, y]: Position): boolean {
  let inside = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [xi, yi] = ring[i]!
    const [xj, yj] = ring[j]!
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside
  }
  return inside
}

/** Five decimal places: about a metre. */
const UNITS_PER_DEGREE = 1e5

/** Several polygons as one area; null for none. */
export function areaFromPolygons(polygons: readonly Position[][][]): AreaShape | null {
  if (polygons.length === 0) return null
  return polygons.length === 1 ? { type: 'Polygon', coordinates: polygons[0]! } : { type: 'MultiPolygon', coordinates: [...polygons] }
}

/** Corners of all rings, without the points that close them. */
export const vertexCount = (geometry: AreaShape | null): number =>
  polygonsOf(geometry).reduce((sum, rings) => sum + rings.reduce((count, ring) => count + Math.max(0, ring.length - 1), 0), 0)

/** The limit of the service counts the points that close rings, too. */
export const isWithinLimits = (geometry: AreaShape): boolean =>
  areaOf(geometry) <= MAX_AREA_M2 &&
  polygonsOf(geometry).flat().length + vertexCount(geometry) <= MAX_VERTICES &&
  polygonsOf(geometry).length <= MAX_POLYGONS

// Characters that encoded numbers never have.
const NEXT_POLYGON = '.'
const NEXT_RING = '-'

/** Encoded polylines of all rings: short enough for a URL. */
export const encodeArea = (geometry: AreaShape): string =>
  polygonsOf(geometry)
    .map((rings) => rings.map(encodeRing).join(NEXT_RING))
    .join(NEXT_POLYGON)

function encodeRing(ring: readonly Position[]): string {
  let last: Position = [0, 0]
  let text = ''
  for (const [x, y] of ring.slice(0, -1)) {
    const now: Position = [Math.round(x * UNITS_PER_DEGREE), Math.round(y * UNITS_PER_DEGREE)]
    text += encodeNumber(now[0] - last[0]) + encodeNumber(now[1] - last[1])
    last = now
  }
  return text
}

function encodeNumber(value: number): string {
  let rest = value < 0 ? ~(value << 1) : value << 1
  let text = ''
  while (rest >= 0x20) {
    text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63)
    rest >>>= 5
  }
  return text + String.fromCharCode(rest + 63)
}

/** Null for what is not an area, or has more parts than can be searched. */
export function decodeAreas(text: string | undefined): AreaShape | null {
  if (!text) return null
  const parts = text.split(NEXT_POLYGON)
  if (parts.length > MAX_POLYGONS) return null
  const polygons = parts.map((part) => part.split(NEXT_RING).map(decodeRing))
  if (polygons.flat(2).length > MAX_KEPT_VERTICES || polygons.some((rings) => rings.includes(null))) return null
  return areaFromPolygons(polygons as Position[][][])
}

/** The outer ring of the first polygon. */
export function decodeArea(text: string | undefined): GeoJSON.Polygon | null {
  const ring = text ? decodeRing(text.split(NEXT_POLYGON)[0]!.split(NEXT_RING)[0]!) : null
  return ring && { type: 'Polygon', coordinates: [ring] }
}

function decodeRing(text: string): Position[] | null {
  const ring: Position[] = []
  let index = 0
  let x = 0
  let y = 0
  const next = () => {
    let result = 0
    let shift = 0
    let byte: number
    do {
      byte = text.charCodeAt(index++) - 63
      result |= (byte & 0x1f) << shift
      shift += 5
    } while (byte >= 0x20 && index < text.length)
    return result & 1 ? ~(result >> 1) : result >> 1
  }
  while (index < text.length) {
    // Too long: a truncated ring would be another area.
    if (ring.length >= MAX_KEPT_VERTICES) return null
    x += next()
    y += next()
    if (Math.abs(x) > 180 * UNITS_PER_DEGREE || Math.abs(y) > 90 * UNITS_PER_DEGREE) return null
    ring.push([x / UNITS_PER_DEGREE, y / UNITS_PER_DEGREE])
  }
  return ring.length < 3 ? null : [...ring, ring[0]!]
}

/** Removes the points that matter least (Visvalingam's triangles) until the limit is met. */
export function simplify(geometry: AreaShape, limit: number): AreaShape {
  const polygons = polygonsOf(geometry)
  const total = vertexCount(geometry)
  return areaFromPolygons(
    polygons.map((rings) => rings.map((ring) => simplifyRing(ring, Math.max(3, Math.floor((limit * (ring.length - 1)) / total))))),
  )!
}

function simplifyRing(closed: readonly Position[], limit: number): Position[] {
  const ring = closed.slice(0, -1)
  const weigh = (i: number) => {
    const [a, b, c] = [ring[(i - 1 + ring.length) % ring.length]!, ring[i]!, ring[(i + 1) % ring.length]!]
    return Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))
  }
  while (ring.length > limit) {
    let least = 0
    for (let i = 1; i < ring.length; i++) if (weigh(i) < weigh(least)) least = i
    ring.splice(least, 1)
  }
  return [...ring, ring[0]!]
}
