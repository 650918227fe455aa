import { boxOf, type Box, type Polygon, type Position, type Ring } from './polygon.ts'

type Axis = 0 | 1

/**
 * Clips polygons to a box (Sutherland–Hodgman). A ring that leaves the box several times stays one ring that runs along the sides
 * of the box and back, which does not affect areas and crossings.
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

/** Keeps the part above a line (`sign` 1) or below it (−1) on one axis. */
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

/** Splits polygons that extend more than once around the Earth where they would overlap themselves. */
export function onceAround(polygons: readonly Polygon[]): readonly Polygon[] {
  const { minX, minY, maxX, maxY } = boxOf(polygons)
  return maxX - minX > FULL_CIRCLE ? cutToBox(polygons, { minX, minY, maxX: minX + FULL_CIRCLE, maxY }) : polygons
}

/** Clips polygons in longitude and latitude to a box, shifted by multiples of 360 degrees to match the box. */
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
