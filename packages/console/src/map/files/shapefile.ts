/** Polygons, points and lines of a shapefile (Esri's white paper of 1998). Attributes are not read. */
import { FileProblem, type Budget, type Mark, type Polygon, type Position } from './limits.ts'

const FILE_CODE = 9994
const HEADER_BYTES = 100
const POLYGON_TYPES = [5, 15, 25] // Polygon, PolygonZ, PolygonM
const POINT_TYPES = [1, 11, 21]
const LINE_TYPES = [3, 13, 23]
const MULTI_POINT_TYPES = [8, 18, 28]
const NULL_SHAPE = 0
const MIN_RING = 4
const MIN_LINE = 2

const broken = () => new FileProblem('The shapefile is damaged. Export it again.')

export function isShapefile(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && new DataView(bytes.buffer, bytes.byteOffset).getInt32(0) === FILE_CODE
}

export function polygonsOfShapefile(bytes: Uint8Array, budget: Budget): Polygon[] {
  if (!POLYGON_TYPES.includes(typeOf(bytes)))
    throw new FileProblem('The shapefile has no polygons. Lines and points do not enclose an area.')
  return [...records(bytes, budget)].flatMap(({ view, at, end }) => grouped(partsOf(view, at, end, budget, MIN_RING)))
}

/** None of a shapefile of polygons. */
export function marksOfShapefile(bytes: Uint8Array, budget: Budget): Mark[] {
  const type = typeOf(bytes)
  if (POINT_TYPES.includes(type)) return [...records(bytes, budget)].flatMap(({ view, at, end }) => pointsOf(view, at + 4, 1, end, budget))
  if (LINE_TYPES.includes(type)) return [...records(bytes, budget)].flatMap(({ view, at, end }) => partsOf(view, at, end, budget, MIN_LINE))
  if (!MULTI_POINT_TYPES.includes(type)) return []
  return [...records(bytes, budget)].flatMap(({ view, at, end }) => {
    if (at + 40 > end) throw broken()
    return pointsOf(view, at + 40, view.getInt32(at + 36, true), end, budget)
  })
}

export const isOfPolygons = (bytes: Uint8Array): boolean => POLYGON_TYPES.includes(typeOf(bytes))

function typeOf(bytes: Uint8Array): number {
  if (!isShapefile(bytes)) throw broken()
  return new DataView(bytes.buffer, bytes.byteOffset).getInt32(32, true)
}

interface Content {
  view: DataView
  at: number
  end: number
}

/** The contents of all records that have a shape. */
function* records(bytes: Uint8Array, budget: Budget): Generator<Content> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = HEADER_BYTES
  while (at + 12 <= bytes.length) {
    const end = at + 8 + view.getInt32(at + 4) * 2
    if (end <= at + 8 || end > bytes.length) throw broken()
    budget.feature()
    if (view.getInt32(at + 8, true) !== NULL_SHAPE) yield { view, at: at + 8, end }
    at = end
  }
}

const positionAt = (view: DataView, offset: number): Position => [view.getFloat64(offset, true), view.getFloat64(offset + 8, true)]

/** Each is a mark of its own. */
function pointsOf(view: DataView, at: number, count: number, end: number, budget: Budget): Mark[] {
  if (count < 1 || at + count * 16 > end) throw broken()
  budget.positions(count)
  return Array.from({ length: count }, (_, point) => [positionAt(view, at + point * 16)])
}

/** The rings of a polygon, or the parts of a line. */
function partsOf(view: DataView, at: number, end: number, budget: Budget, fewest: number): Position[][] {
  if (at + 44 > end) throw broken()
  const [partCount, pointCount] = [view.getInt32(at + 36, true), view.getInt32(at + 40, true)]
  const points = at + 44 + partCount * 4
  if (partCount < 1 || pointCount < fewest || points + pointCount * 16 > end) throw broken()
  budget.positions(pointCount)
  const starts = Array.from({ length: partCount }, (_, index) => view.getInt32(at + 44 + index * 4, true))
  return starts.map((start, index) => {
    const stop = starts[index + 1] ?? pointCount
    if (start < 0 || stop <= start || stop > pointCount) throw broken()
    return Array.from({ length: stop - start }, (_, point) => positionAt(view, points + (start + point) * 16))
  })
}

/** Outer rings run clockwise; a hole belongs to the outer ring around it. */
function grouped(rings: readonly Position[][]): Polygon[] {
  const outers = rings.filter((ring) => signedArea(ring) <= 0)
  const holes = rings.filter((ring) => signedArea(ring) > 0)
  if (outers.length === 0) return holes.map((ring) => [ring]) // Written by a program that ignores directions.
  const polygons: Polygon[] = outers.map((ring) => [ring])
  for (const hole of holes) {
    const around = polygons.filter(([outer]) => isInside(hole[0]!, outer!))
    const smallest = around.toSorted((a, b) => Math.abs(signedArea(a[0]!)) - Math.abs(signedArea(b[0]!)))[0]
    if (smallest) smallest.push(hole)
    else polygons.push([hole])
  }
  return polygons
}

function signedArea(ring: readonly Position[]): number {
  const [x0, y0] = ring[0]!
  let sum = 0
  for (let index = 0; index + 1 < ring.length; index++) {
    const [[x1, y1], [x2, y2]] = [ring[index]!, ring[index + 1]!]
    sum += (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
  }
  return sum / 2
}

function isInside([x, y]: Position, ring: readonly Position[]): boolean {
  let inside = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [ring[i]!, ring[j]!]
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside
  }
  return inside
}
