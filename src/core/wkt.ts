/** Polygons in well-known text (WKT), as some vendors send and expect areas, and what they allow: one convex polygon. */
import { polygonsOf } from './area.ts'
import type { AreaGeometry, Position } from './geometry.ts'

/** Larger texts are not read. */
const MAX_TEXT = 500_000

const textOfRing = (ring: readonly Position[]): string => `(${ring.map(([x, y]) => `${x} ${y}`).join(', ')})`

export function polygonWkt(rings: readonly (readonly Position[])[]): string {
  return `POLYGON (${rings.map(textOfRing).join(', ')})`
}

/** A POLYGON or MULTIPOLYGON; null for anything else. Heights are ignored. The result is not checked for validity. */
export function readWkt(text: string): AreaGeometry | null {
  const [, name = '', body = ''] =
    /^\s*(?:SRID=4326;\s*)?(POLYGON|MULTIPOLYGON)(?:\s+Z)?\s*(\(.*\))\s*$/is.exec(text.slice(0, MAX_TEXT)) ?? []
  const isMany = name.toUpperCase() === 'MULTIPOLYGON'
  const coordinates = body && nested(body)
  if (!coordinates) return null
  const depth = depthOf(coordinates)
  if (depth !== (isMany ? 4 : 3)) return null
  return { type: isMany ? 'MultiPolygon' : 'Polygon', coordinates } as AreaGeometry
}

/** The lists of a WKT body as nested arrays; null if it is malformed. */
function nested(body: string): unknown {
  const json = body
    .replaceAll(/([-+\d.eE]+)\s+([-+\d.eE]+)(?:\s+[-+\d.eE]+){0,2}/g, '[$1,$2]')
    .replaceAll('(', '[')
    .replaceAll(')', ']')
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** The depth of lists down to the numbers; NaN if it differs between elements. */
function depthOf(value: unknown): number {
  if (typeof value === 'number') return 0
  if (!Array.isArray(value) || value.length === 0) return NaN
  const [first, ...others] = value.map(depthOf)
  return others.every((depth) => depth === first) ? first! + 1 : NaN
}

const turnOf = ([ax, ay]: Position, [bx, by]: Position, [cx, cy]: Position): number => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

/** The smallest convex ring around all corners of an area, closed, counterclockwise (Andrew's monotone chain). */
export function convexHull(area: AreaGeometry): Position[] {
  const corners = polygonsOf(area)
    .flatMap(([outer = []]) => outer)
    .map(([x, y]): Position => [x, y])
    .toSorted(([ax, ay], [bx, by]) => ax - bx || ay - by)
  const half = (points: readonly Position[]): Position[] => {
    const chain: Position[] = []
    for (const point of points) {
      while (chain.length >= 2 && turnOf(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop()
      chain.push(point)
    }
    return chain.slice(0, -1)
  }
  const ring = [...half(corners), ...half(corners.toReversed())]
  return [...ring, ring[0]!]
}

/** Turns smaller than this, in square degrees, are rounding errors of clipping. */
const STRAIGHT = 1e-12

/** The ring of an area that is one convex polygon without holes; null for any other area. */
export function convexRing(area: AreaGeometry): Position[] | null {
  const polygons = polygonsOf(area)
  const [ring, hole] = polygons[0] ?? []
  if (polygons.length !== 1 || !ring || hole) return null
  const corners = ring.slice(0, -1)
  const turns = corners.map((corner, index) =>
    turnOf(corner, corners[(index + 1) % corners.length]!, corners[(index + 2) % corners.length]!),
  )
  const isConvex = turns.every((turn) => turn >= -STRAIGHT) || turns.every((turn) => turn <= STRAIGHT)
  return isConvex ? ring.map(([x, y]): Position => [x, y]) : null
}
