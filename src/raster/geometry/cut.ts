import { boxOf, type Box, type Polygon, type Position, type Ring } from './polygon.ts'

type Axis = 0 | 1

/**
 * The parts of polygons inside a box (Sutherland and Hodgman's way, side by side). A ring that leaves the box several times
 * stays one ring that runs along its sides there and back, which counts for nothing in areas and crossings.
 */
export function cutToBox(polygons: readonly Polygon[], box: Box): Polygon[] {
  return polygons.flatMap((polygon) => {
    const rings = polygon.map((ring) => cutRing(ring, box)).filter((ring) => ring.length >= 4)
    return rings.length > 0 ? [rings] : []
  })
}

function cutRing(ring: Ring, box: Box): Ring {
  let open = ring.slice(0, -1)
  open = cutSide(open, 0, box.minX, 1)
  open = cutSide(open, 0, box.maxX, -1)
  open = cutSide(open, 1, box.minY, 1)
  open = cutSide(open, 1, box.maxY, -1)
  const [first] = open
  return first && open.length >= 3 ? [...open, [first[0], first[1]]] : []
}

/** Keeps what lies above a line (`sign` 1) or below it (−1) on one axis. */
function cutSide(ring: readonly Position[], axis: Axis, line: number, sign: 1 | -1): Position[] {
  const isInside = (position: Position): boolean => (position[axis] - line) * sign >= 0
  const kept: Position[] = []
  ring.forEach((position, i) => {
    const before = ring.at(i - 1) as Position
    if (isInside(before) !== isInside(position)) kept.push(crossing(before, position, axis, line))
    if (isInside(position)) kept.push(position)
  })
  return kept
}

function crossing(a: Position, b: Position, axis: Axis, line: number): Position {
  const share = (line - a[axis]) / (b[axis] - a[axis])
  const other = a[1 - axis]! + (b[1 - axis]! - a[1 - axis]!) * share
  return axis === 0 ? [line, other] : [other, line]
}

const FULL_CIRCLE = 360

/** Polygons that reach further than once around the Earth, cut where they would lie on themselves. */
export function onceAround(polygons: readonly Polygon[]): readonly Polygon[] {
  const { minX, minY, maxX, maxY } = boxOf(polygons)
  return maxX - minX > FULL_CIRCLE ? cutToBox(polygons, { minX, minY, maxX: minX + FULL_CIRCLE, maxY }) : polygons
}

/** The parts of polygons in longitude and latitude inside a box that may lie in another turn around the Earth, moved into its turn. */
export function cutInTurns(polygons: readonly Polygon[], box: Box): Polygon[] {
  const once = onceAround(polygons)
  const all = boxOf(once)
  const first = Math.ceil((box.minX - all.maxX) / FULL_CIRCLE)
  const last = Math.floor((box.maxX - all.minX) / FULL_CIRCLE)
  const pieces: Polygon[] = []
  for (let turn = first; turn <= last; turn++) pieces.push(...cutToBox(turn === 0 ? once : turned(once, turn * FULL_CIRCLE), box))
  return pieces
}

const turned = (polygons: readonly Polygon[], degrees: number): Polygon[] =>
  polygons.map((polygon) => polygon.map((ring) => ring.map(([x, y]): Position => [x + degrees, y])))
