/**
 * The footprint of a geometry in the form that search compares: simple polygons in longitude and latitude, split at the date line, with
 * holes slit open; and the grid cells that they touch. Pure functions: the SQL is in item.ts and item-search.ts.
 */
import { boundsOf } from '#core/position.ts'
import { swapHint } from '#core/geometry.ts'
import type { AreaGeometry, Geometry, Position } from '#core/geometry.ts'
import { invalidField } from '#core/problem.ts'

/** `[west, south, east, north]`; west greater than east means that it crosses the date line. */
export type Bbox = [number, number, number, number]
/** Corners in order, without repeating the first. A point has one; a line goes there and back. */
export type Part = Position[]

export function requireBbox(value: readonly number[], field: string): Bbox {
  const [west, south, east, north] = value as Bbox
  if (value.length !== 4 || !value.every(Number.isFinite)) throw invalidField(field, 'must be four numbers: west, south, east, north')
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || Math.abs(south) > 90 || Math.abs(north) > 90)
    throw invalidField(
      field,
      `must have longitudes from -180 to 180 and latitudes from -90 to 90${swapHint(west, south) || swapHint(east, north)}`,
    )
  if (south > north) throw invalidField(field, 'south must be less than north')
  return [west, south, east, north]
}

/** One box, or two if it crosses the date line. */
export function boxesOf([west, south, east, north]: Bbox): Bbox[] {
  return west <= east
    ? [[west, south, east, north]]
    : [
        [west, south, 180, north],
        [-180, south, east, north],
      ]
}

export const isWorld = ([west, south, east, north]: Bbox): boolean => west === -180 && south === -90 && east === 180 && north === 90

export function rectangle([west, south, east, north]: Bbox): Part {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
}

interface Footprint {
  parts: Part[]
  bbox: Bbox
}

/** Tolerance between a stated box and the geometry, because producers round. */
const BBOX_TOLERANCE_DEGREES = 0.01
const BBOX_TOLERANCE_SHARE = 0.01

/**
 * The footprint of a geometry. RFC 7946 requires producers to split geometries at the date line; one that is not split is recognized by
 * a box whose west is greater than its east, and split here. A box that contradicts the geometry is rejected.
 */
export function footprintOf(geometry: Geometry, stated: Bbox | null, field = 'bbox'): Footprint {
  const parts = partsOf(geometry, stated !== null && stated[0] > stated[2])
  const bbox = boundsAroundDateLine(parts)
  if (stated && !agrees(stated, bbox) && !agrees(stated, boundsOf(parts.flat())))
    throw invalidField(field, `does not match the geometry, whose bounding box is [${bbox.join(', ')}]`)
  return { parts, bbox: stated ?? bbox }
}

function agrees(a: Bbox, b: Bbox): boolean {
  const width = ([west, , east]: Bbox) => (east - west + 360) % 360
  const within = (extent: number) => BBOX_TOLERANCE_DEGREES + BBOX_TOLERANCE_SHARE * extent
  const [x, y] = [within(width(b)), within(b[3] - b[1])]
  return Math.abs(a[0] - b[0]) <= x && Math.abs(a[2] - b[2]) <= x && Math.abs(a[1] - b[1]) <= y && Math.abs(a[3] - b[3]) <= y
}

export function partsOf(geometry: Geometry, crossesDateLine: boolean): Part[] {
  const parts = simpleParts(geometry, crossesDateLine)
  return crossesDateLine ? parts.flatMap(cutAtDateLine) : parts
}

function simpleParts(geometry: Geometry, unwrapped: boolean): Part[] {
  const line = (positions: readonly Position[]): Part => {
    const path = unwrapped ? unwrap(positions.map(flat)) : positions.map(flat)
    return path.length > 1 ? [...path, ...path.slice(1, -1).toReversed()] : path
  }
  const polygon = (rings: readonly Position[][]): Part =>
    slitOpen(unwrapped ? unwrapRings(rings) : rings.map((ring) => ring.slice(0, -1).map(flat)))
  switch (geometry.type) {
    case 'Point':
      return [[flat(geometry.coordinates)]]
    case 'MultiPoint':
      return geometry.coordinates.map((position) => [flat(position)])
    case 'LineString':
      return [line(geometry.coordinates)]
    case 'MultiLineString':
      return geometry.coordinates.map(line)
    case 'Polygon':
      return [polygon(geometry.coordinates)]
    case 'MultiPolygon':
      return geometry.coordinates.map(polygon)
  }
}

/** Positions can have a height. */
const flat = (position: Position): Position => [position[0], position[1]]

/** Follows a line across the date line instead of around the Earth: longitudes can leave -180…180. */
function unwrap(positions: readonly Position[]): Position[] {
  let turn = 0
  return positions.map(([x, y], index) => {
    const step = index === 0 ? 0 : x - positions[index - 1]![0]
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360
    return [x + turn, y]
  })
}

/** Holes are unwrapped separately and may be 360° away from the ring around them. */
function unwrapRings(rings: readonly Position[][]): Part[] {
  const [outer, ...holes] = rings.map(unwrapRing)
  const [west, , east] = boundsOf(outer!)
  return [
    outer!,
    ...holes.map((hole) => {
      const [from, , to] = boundsOf(hole)
      const shift = from < west ? 360 : to > east ? -360 : 0
      return hole.map(([x, y]): Position => [x + shift, y])
    }),
  ]
}

/** The closed rings of a polygon, followed across the date line. */
export const followed = (rings: readonly Position[][]): Position[][] => unwrapRings(rings).map((ring) => [...ring, ring[0]!])

/** A ring that ends 360° from its start goes around a pole: it is closed along the pole. */
const unwrapRing = (ring: readonly Position[]): Position[] => openRing(unwrap(ring.map(flat)))

function openRing(path: readonly Position[]): Position[] {
  const [first, last] = [path[0]!, path.at(-1)!]
  if (Math.abs(last[0] - first[0]) < 180) return path.slice(0, -1)
  const pole = path.reduce((sum, [, y]) => sum + y, 0) < 0 ? -90 : 90
  return [...path, [last[0], pole], [first[0], pole]]
}

/**
 * The outline of a raster, which can go beyond 180°, as GeoJSON: split at the date line, closed along a pole that it goes around,
 * counter-clockwise, rounded to about a centimetre.
 */
export function areaOf(ring: readonly Position[]): AreaGeometry {
  const path = openRing(ring)
  const [west, south, east, north] = boundsOf(path)
  const whole = east - west >= 360 ? rectangle([-180, south, 180, north]) : null
  const turns = Math.round((west + east) / 2 / 360) * 360
  const parts = whole ? [whole] : cutAtDateLine(path.map(([x, y]): Position => [x - turns, y]))
  const rings = parts.map((part): Position[] => {
    const turned = signedArea(part) < 0 ? part.toReversed() : part
    const rounded = turned.map(([x, y]): Position => [finely(x, 180), finely(y, 90)])
    const distinct = rounded.filter(([x, y], index) => {
      const [u, v] = rounded.at(index - 1)!
      return x !== u || y !== v
    })
    return [...distinct, distinct[0]!]
  })
  const solid = rings.filter((closed) => closed.length >= 4)
  return solid.length === 1
    ? { type: 'Polygon', coordinates: [solid[0]!] }
    : { type: 'MultiPolygon', coordinates: solid.map((closed) => [closed]) }
}

const finely = (degrees: number, limit: number): number => Math.max(-limit, Math.min(limit, Math.round(degrees * 1e7) / 1e7))

/** At most three windows of 360° each: west of -180, the usual one, east of 180. */
function cutAtDateLine(part: Part): Part[] {
  const cut = [-360, 0, 360].map((shift) => {
    const inside = clip(
      clip(part, (x) => x - (shift - 180)),
      (x) => shift + 180 - x,
    )
    return inside.map(([x, y]): Position => [x - shift, y])
  })
  const solid = cut.filter((piece) => piece.length > 0 && (part.length === 1 || widthOf(piece) > 0))
  return solid.length > 0 ? solid : cut.filter((piece) => piece.length > 0).slice(0, 1)
}

const widthOf = (part: Part): number => {
  const [west, , east] = boundsOf(part)
  return east - west
}

/** Keeps the part where `distance` is not negative (Sutherland-Hodgman). */
function clip(part: Part, distance: (x: number) => number): Part {
  return part.flatMap((from, index): Position[] => {
    const to = part[(index + 1) % part.length]!
    const [a, b] = [distance(from[0]), distance(to[0])]
    const kept: Position[] = a >= 0 ? [from] : []
    if (a * b < 0) {
      const t = a / (a - b)
      kept.push([from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])])
    }
    return kept
  })
}

/**
 * Makes one ring of a polygon with holes: each hole is connected by a slit that stays inside the area, so touching the slit is touching
 * the area. From left to right, as in ear clipping: the leftmost corner of a hole always sees the ring. Holes run against their ring,
 * whatever their original direction, because PostgreSQL counts windings.
 */
function slitOpen([outer, ...given]: readonly Part[]): Part {
  const turn = Math.sign(signedArea(outer!))
  const holes = given.map((hole) => (Math.sign(signedArea(hole)) === turn ? hole.toReversed() : hole))
  const leftmost = (ring: Part) => ring.reduce((best, position, index) => (position[0] < ring[best]![0] ? index : best), 0)
  const ordered = holes.map((ring) => ({ ring, start: leftmost(ring) })).toSorted((a, b) => a.ring[a.start]![0] - b.ring[b.start]![0])
  let merged: Part = [...outer!]
  for (const [done, { ring, start }] of ordered.entries()) {
    const from = ring[start]!
    const walls = [merged, ...ordered.slice(done).map((hole) => hole.ring)]
    const nearestFirst = merged
      .map((to, index) => ({ index, gap: (to[0] - from[0]) ** 2 + (to[1] - from[1]) ** 2 }))
      .toSorted((a, b) => a.gap - b.gap)
    const at = (nearestFirst.find(({ index }) => walls.every((wall) => !blocks(wall, from, merged[index]!))) ?? nearestFirst[0]!).index
    merged = [...merged.slice(0, at + 1), ...ring.slice(start), ...ring.slice(0, start + 1), ...merged.slice(at)]
  }
  return merged
}

const signedArea = (ring: Part): number =>
  ring.reduce((sum, [x, y], index) => {
    const [u, v] = ring[(index + 1) % ring.length]!
    return sum + x * v - u * y
  }, 0) / 2

const side = (a: Position, b: Position, p: Position): number => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

function blocks(wall: Part, from: Position, to: Position): boolean {
  return wall.some((a, index) => {
    const b = wall[(index + 1) % wall.length]!
    const crosses = side(from, to, a) * side(from, to, b) < 0 && side(a, b, from) * side(a, b, to) < 0
    return crosses || isBetween(a, from, to)
  })
}

function isBetween(p: Position, from: Position, to: Position): boolean {
  if (side(from, to, p) !== 0) return false
  const t = (p[0] - from[0]) * (to[0] - from[0]) + (p[1] - from[1]) * (to[1] - from[1])
  return t > 0 && t < (to[0] - from[0]) ** 2 + (to[1] - from[1]) ** 2
}

/** The box of a geometry split at the date line spans it, as RFC 7946 requires: west is then greater than east. */
function boundsAroundDateLine(parts: readonly Part[]): Bbox {
  const plain = boundsOf(parts.flat())
  if (plain[0] !== -180 || plain[2] !== 180) return plain
  const spans = parts.map((part) => boundsOf(part)).toSorted((a, b) => a[0] - b[0])
  let [reach, gap, west, east] = [-180, 0, -180, 180]
  for (const [from, , to] of spans) {
    if (from - reach > gap) [gap, west, east] = [from - reach, from, reach]
    reach = Math.max(reach, to)
  }
  return [west, plain[1], east, plain[3]]
}

/** Cells of 1.4° and 22.5°: 360° divided by powers of two. */
const FINE_LEVEL = 8
const COARSE_LEVEL = 4
/** A footprint over more cells than this goes to the catch-all cell of its level, which every search reads. */
const MAX_CELLS_PER_ITEM = 16
/** A search that needs more fine cells than this reads coarse ones. */
const MAX_FINE_CELLS_PER_SEARCH = 16

const codeOf = (level: number, x: number, y: number): number => level * 100_000 + y * 2 ** level + x
const catchAll = (level: number): number => level * 100_000 + 99_999

function cellsOfBox(level: number, [west, south, east, north]: Bbox): { columns: [number, number]; rows: [number, number]; count: number } {
  const size = 360 / 2 ** level
  const column = (x: number) => Math.min(2 ** level - 1, Math.floor((x + 180) / size))
  const row = (y: number) => Math.min(2 ** (level - 1) - 1, Math.floor((y + 90) / size))
  const [columns, rows] = [[column(west), column(east)] as [number, number], [row(south), row(north)] as [number, number]]
  return { columns, rows, count: (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1) }
}

function codesOfBox(level: number, box: Bbox): number[] {
  const { columns, rows } = cellsOfBox(level, box)
  const codes: number[] = []
  for (let y = rows[0]; y <= rows[1]; y++) for (let x = columns[0]; x <= columns[1]; x++) codes.push(codeOf(level, x, y))
  return codes
}

/** In steps of 1/91 degree, which fit two bytes. Rounding down preserves the order, so overlapping boxes still overlap. */
const STEPS_PER_DEGREE = 91
export function stepsOf([west, south, east, north]: Bbox): [x0: number, y0: number, x1: number, y1: number] {
  const step = (degrees: number) => Math.floor(degrees * STEPS_PER_DEGREE)
  return [step(west + 180), step(south + 90), step(east + 180), step(north + 90)]
}

interface Cell {
  cell: number
  /** Encloses the parts that touch this cell. */
  box: Bbox
}

export function cellsOf(parts: readonly Part[]): Cell[] {
  const boxes = parts.map((part) => boundsOf(part))
  return boxes.length === 0 ? [] : [FINE_LEVEL, COARSE_LEVEL].flatMap((level) => cellsAt(level, boxes))
}

function cellsAt(level: number, boxes: readonly Bbox[]): Cell[] {
  const byCell = new Map<number, Bbox>()
  for (const box of boxes) {
    const wide = cellsOfBox(level, box).count > MAX_CELLS_PER_ITEM
    for (const cell of wide ? [catchAll(level)] : codesOfBox(level, box)) byCell.set(cell, around(byCell.get(cell), box))
  }
  if (byCell.size <= MAX_CELLS_PER_ITEM) return [...byCell].map(([cell, box]) => ({ cell, box }))
  return [{ cell: catchAll(level), box: boxes.reduce((all, box) => around(all, box)) }]
}

function around(a: Bbox | undefined, b: Bbox): Bbox {
  return a ? [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])] : b
}

/** The cells that a search for these boxes must read. */
export function cellsToRead(boxes: readonly Bbox[]): number[] {
  const fine = boxes.reduce((sum, box) => sum + cellsOfBox(FINE_LEVEL, box).count, 0)
  const level = fine <= MAX_FINE_CELLS_PER_SEARCH ? FINE_LEVEL : COARSE_LEVEL
  return [...new Set([catchAll(level), ...boxes.flatMap((box) => codesOfBox(level, box))])]
}

/** PostgreSQL's notation for a polygon, and for an array of polygons. */
const polygonText = (part: Part): string => `(${part.map(([x, y]) => `(${x},${y})`).join(',')})`
export const polygonsText = (parts: readonly Part[]): string => `{${parts.map((part) => `"${polygonText(part)}"`).join(',')}}`
