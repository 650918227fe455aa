/** Polygons of a shapefile (Esri's white paper of 1998). Attributes are not read. */
import { FileProblem, type Budget, type Polygon, type Position } from './limits.ts'

const FILE_CODE = 9994
const HEADER_BYTES = 100
const POLYGON_TYPES = [5, 15, 25] // Polygon, PolygonZ, PolygonM
const NULL_SHAPE = 0

const broken = () => new FileProblem('The shapefile is damaged. Export it again.')

export function isShapefile(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && new DataView(bytes.buffer, bytes.byteOffset).getInt32(0) === FILE_CODE
}

export function polygonsOfShapefile(bytes: Uint8Array, budget: Budget): Polygon[] {
  if (!isShapefile(bytes)) throw broken()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const type = view.getInt32(32, true)
  if (!POLYGON_TYPES.includes(type)) throw new FileProblem('The shapefile has no polygons. Lines and points do not enclose an area.')
  const polygons: Polygon[] = []
  let at = HEADER_BYTES
  while (at + 12 <= bytes.length) {
    const end = at + 8 + view.getInt32(at + 4) * 2
    if (end <= at + 8 || end > bytes.length) throw broken()
    budget.feature()
    if (view.getInt32(at + 8, true) !== NULL_SHAPE) polygons.push(...polygonsOfRecord(view, at + 8, end, budget))
    at = end
  }
  return polygons
}

function polygonsOfRecord(view: DataView, at: number, end: number, budget: Budget): Polygon[] {
  if (at + 44 > end) throw broken()
  const [ringCount, pointCount] = [view.getInt32(at + 36, true), view.getInt32(at + 40, true)]
  const points = at + 44 + ringCount * 4
  if (ringCount < 1 || pointCount < 4 || points + pointCount * 16 > end) throw broken()
  budget.positions(pointCount)
  const starts = Array.from({ length: ringCount }, (_, index) => view.getInt32(at + 44 + index * 4, true))
  const rings = starts.map((start, index) => {
    const stop = starts[index + 1] ?? pointCount
    if (start < 0 || stop <= start || stop > pointCount) throw broken()
    return Array.from({ length: stop - start }, (_, point): Position => {
      const offset = points + (start + point) * 16
      return [view.getFloat64(offset, true), view.getFloat64(offset + 8, true)]
    })
  })
  return grouped(rings)
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
