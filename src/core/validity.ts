/**
 * Valid areas, as defined by OGC Simple Features: rings that neither cross nor touch themselves, holes inside their outer ring and
 * outside each other, parts that do not overlap, and a connected interior. Signs of determinants are exact, so two shapes that differ
 * by one bit are told apart.
 */
import { boundsOf, type Position } from './position.ts'
import { FAST_ERROR, side, type CloseCalls } from './orientation.ts'

/** The fault, its ring and its location. */
interface Fault {
  ring: string
  what: string
  at: Position
}

/** Edges closer than a billionth of a millimetre: no map has this many, and each is slow to compare. */
const MAX_CLOSE_CALLS = 20_000

interface Ring {
  /** The first point is repeated at the end. */
  points: Position[]
  polygon: number
  /** 0 for the outer ring, then its holes. */
  index: number
  box: [west: number, south: number, east: number, north: number]
  isCounterClockwise: boolean
}

/** The name of a ring in errors. Both arguments are zero-based; the first ring is the outer one. */
export const ringName = (polygon: number, index: number): string =>
  `polygon ${polygon + 1}, ${index === 0 ? 'outer ring' : `hole ${index}`}`

/** Closed rings as they are stored: without repeated points and spikes, outer rings counter-clockwise; or a fault. */
export function normalised(polygons: readonly (readonly Position[][])[]): { polygons: Position[][][] } | { fault: Fault } {
  const rings: Ring[] = []
  for (const [polygon, ringsOfPolygon] of polygons.entries())
    for (const [index, ring] of ringsOfPolygon.entries()) {
      const points = withoutSpikes(ring)
      if (points.length < 4) return { fault: { ring: nameOf({ polygon, index }), what: 'has no area', at: flat(ring[0]!) } }
      rings.push({ points, polygon, index, box: boundsOf(points), isCounterClockwise: false })
    }
  const fault = faultOf(rings)
  if (fault) return { fault }
  const turned: Position[][][] = polygons.map(() => [])
  for (const { points, polygon, index, isCounterClockwise } of rings)
    turned[polygon]!.push(isCounterClockwise === (index === 0) ? points : points.toReversed())
  return { polygons: turned }
}

const flat = ([x, y]: Position): Position => [x, y]
const nameOf = ({ polygon, index }: { polygon: number; index: number }): string => ringName(polygon, index)
const isSame = (a: Position, b: Position): boolean => a[0] === b[0] && a[1] === b[1]

/** Drops repeated points, and points where a ring turns back on itself. */
function withoutSpikes(ring: readonly Position[]): Position[] {
  let kept: Position[] = []
  const add = (point: Position): void => {
    while (kept.length > 0) {
      if (isSame(kept.at(-1)!, point)) return
      if (kept.length === 1 || !turnsBack(kept.at(-2)!, kept.at(-1)!, point)) break
      kept.pop()
    }
    kept.push(point)
  }
  for (const point of ring.slice(0, -1)) add(point)
  // At the seam, removing one point can reveal another.
  for (let before = -1; before !== kept.length && kept.length > 2;) {
    before = kept.length
    if (isSame(kept[0]!, kept.at(-1)!) || turnsBack(kept.at(-2)!, kept.at(-1)!, kept[0]!)) kept.pop()
    else if (turnsBack(kept.at(-1)!, kept[0]!, kept[1]!)) kept = kept.slice(1)
  }
  return kept.length > 2 ? [...kept, kept[0]!] : []
}

const turnsBack = (a: Position, b: Position, c: Position): boolean =>
  isSame(a, c) || ((b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0 && side(a, b, c) === 0)

interface Edge {
  ring: number
  index: number
  from: Position
  to: Position
  west: number
  east: number
  south: number
  north: number
}

/** Two rings with a common point, and the edges of each that reach it. */
interface Touch {
  at: Position
  first: Edge
  second: Edge
}

function faultOf(rings: Ring[]): Fault | null {
  const touches: Touch[] = []
  const crossing = findCrossing(rings, touches)
  if (crossing) return crossing
  for (const ring of rings) ring.isCounterClockwise = turnsLeft(ring.points)
  for (const touch of touches) {
    const [a, b] = [rings[touch.first.ring]!, rings[touch.second.ring]!]
    if (crossesAt(a, b, touch)) return { ring: nameOf(a), what: `crosses ${nameOf(b)}`, at: flat(touch.at) }
  }
  const byPolygon = [...Map.groupBy(rings, ({ polygon }) => polygon).values()]
  for (const members of byPolygon) {
    const fault = faultOfHoles(members as [Ring, ...Ring[]])
    if (fault) return fault
  }
  return overlapOf(byPolygon as [Ring, ...Ring[]][]) ?? cutInterior(rings, touches)
}

/** Compares edges with overlapping boxes, from west to east; records where rings touch, which is judged later. */
function findCrossing(rings: readonly Ring[], touches: Touch[]): Fault | null {
  const calls: CloseCalls = { count: 0 }
  const edges = rings.flatMap(({ points }, ring) => points.slice(1).map((to, index) => edgeOf(ring, index, points[index]!, to)))
  edges.sort((a, b) => a.west - b.west)
  const packed = Float64Array.from(
    edges.flatMap(({ from, to, west, south, north }) => [from[0], from[1], to[0], to[1], west, south, north]),
  )
  for (let i = 0; i < edges.length; i++) {
    const a = edges[i]!
    for (let j = i + 1; j < edges.length; j++) {
      const at = j * PACKED
      if (packed[at + 4]! > a.east) break
      if (packed[at + 5]! > a.north || packed[at + 6]! < a.south) continue
      if (areClearlyBeside(packed, i * PACKED, at) || areClearlyBeside(packed, at, i * PACKED)) continue
      const b = edges[j]!
      if (a.ring === b.ring && areNeighbours(a, b, rings[a.ring]!.points.length - 1)) continue
      const met = meeting(a, b, calls)
      if (calls.count > MAX_CLOSE_CALLS)
        return { ring: nameOf(rings[a.ring]!), what: 'has edges too close together to be told apart', at: flat(a.from) }
      if (met === null) continue
      const [ring, other] = [rings[a.ring]!, rings[b.ring]!]
      if (a.ring === b.ring) return { ring: nameOf(ring), what: `${met.how === 'touch' ? 'touches' : 'crosses'} itself`, at: met.at }
      if (met.how !== 'touch')
        return { ring: nameOf(ring), what: `${met.how === 'cross' ? 'crosses' : 'shares an edge with'} ${nameOf(other)}`, at: met.at }
      touches.push({ at: met.at, first: a, second: b })
    }
  }
  return null
}

/** The numbers of an edge side by side in memory: most comparisons need nothing else. */
const PACKED = 7

/** Whether an edge is on one side of another's line by more than the rounding error; false if it is too close to tell. */
function areClearlyBeside(packed: Float64Array, line: number, edge: number): boolean {
  const [x1, y1, x2, y2] = [packed[line]!, packed[line + 1]!, packed[line + 2]!, packed[line + 3]!]
  const [u1, v1, u2, v2] = [packed[edge]!, packed[edge + 1]!, packed[edge + 2]!, packed[edge + 3]!]
  const [left, right] = [(x1 - u1) * (y2 - v1), (y1 - v1) * (x2 - u1)]
  const startSide = left - right
  const startError = FAST_ERROR * (Math.abs(left) + Math.abs(right))
  const [left2, right2] = [(x1 - u2) * (y2 - v2), (y1 - v2) * (x2 - u2)]
  const endSide = left2 - right2
  const endError = FAST_ERROR * (Math.abs(left2) + Math.abs(right2))
  return (startSide > startError && endSide > endError) || (startSide < -startError && endSide < -endError)
}

const edgeOf = (ring: number, index: number, from: Position, to: Position): Edge => ({
  ring,
  index,
  from,
  to,
  west: Math.min(from[0], to[0]),
  east: Math.max(from[0], to[0]),
  south: Math.min(from[1], to[1]),
  north: Math.max(from[1], to[1]),
})

/** Neighbours share a corner, and nothing else once spikes are removed. */
function areNeighbours(a: Edge, b: Edge, count: number): boolean {
  const apart = Math.abs(a.index - b.index)
  return apart === 1 || apart === count - 1
}

interface Meeting {
  how: 'cross' | 'touch' | 'overlap'
  at: Position
}

/** The intersection of two edges. */
function meeting(a: Edge, b: Edge, calls: CloseCalls): Meeting | null {
  const [start, end] = [side(a.from, a.to, b.from, calls), side(a.from, a.to, b.to, calls)]
  if ((start > 0 && end > 0) || (start < 0 && end < 0)) return null
  const [begin, finish] = [side(b.from, b.to, a.from, calls), side(b.from, b.to, a.to, calls)]
  if ((begin > 0 && finish > 0) || (begin < 0 && finish < 0)) return null
  if (start === 0 && end === 0) return onOneLine(a, b)
  if (start === 0) return { how: 'touch', at: flat(b.from) }
  if (end === 0) return { how: 'touch', at: flat(b.to) }
  if (begin === 0) return { how: 'touch', at: flat(a.from) }
  if (finish === 0) return { how: 'touch', at: flat(a.to) }
  const share = begin / (begin - finish)
  return { how: 'cross', at: [a.from[0] + (a.to[0] - a.from[0]) * share, a.from[1] + (a.to[1] - a.from[1]) * share] }
}

function onOneLine(a: Edge, b: Edge): Meeting | null {
  const along = a.east - a.west > 0 ? 0 : 1
  const ends = (edge: Edge): [Position, Position] => (edge.from[along] <= edge.to[along] ? [edge.from, edge.to] : [edge.to, edge.from])
  const [[aFirst, aLast], [bFirst, bLast]] = [ends(a), ends(b)]
  const from = aFirst[along] >= bFirst[along] ? aFirst : bFirst
  const to = aLast[along] <= bLast[along] ? aLast : bLast
  if (from[along] > to[along]) return null
  return { how: from[along] === to[along] ? 'touch' : 'overlap', at: flat(from) }
}

/** By its westernmost corner, which is convex in every ring that does not cross itself. */
function turnsLeft(points: readonly Position[]): boolean {
  const open = points.length - 1
  let corner = 0
  for (let i = 1; i < open; i++) {
    const [x, y] = points[i]!
    if (x < points[corner]![0] || (x === points[corner]![0] && y < points[corner]![1])) corner = i
  }
  return side(points[(corner + open - 1) % open]!, points[corner]!, points[corner + 1]!) > 0
}

/** The previous and next point of a ring at a point of one of its edges. */
function waysAt({ points }: Ring, { index, from, to }: Edge, at: Position): { back: Position; on: Position } {
  const open = points.length - 1
  if (isSame(at, from)) return { back: points[(index + open - 1) % open]!, on: to }
  if (isSame(at, to)) return { back: from, on: points[(index + 2) % open]! }
  return { back: from, on: to }
}

/** Whether one ring passes from one side of the other to the other side at a common point. */
function crossesAt(a: Ring, b: Ring, { at, first, second }: Touch): boolean {
  const [waysOfA, waysOfB] = [waysAt(a, first, at), waysAt(b, second, at)]
  return isLeftOf(waysOfA, at, waysOfB.back) !== isLeftOf(waysOfA, at, waysOfB.on)
}

/** Whether a direction from a point leads to the left of a ring through that point. */
function isLeftOf({ back, on }: { back: Position; on: Position }, at: Position, way: Position): boolean {
  const [fromOn, fromBack] = [side(at, on, way), side(at, back, way)]
  return side(back, at, on) >= 0 ? fromOn > 0 && fromBack < 0 : fromOn > 0 || fromBack < 0
}

function faultOfHoles([outer, ...holes]: [Ring, ...Ring[]]): Fault | null {
  for (const hole of holes)
    if (!liesIn(hole, outer)) return { ring: nameOf(hole), what: 'lies outside its outer ring', at: flat(hole.points[0]!) }
  for (const hole of holes)
    for (const other of holes)
      if (hole !== other && liesIn(hole, other))
        return { ring: nameOf(hole), what: `lies inside ${nameOf(other)}`, at: flat(hole.points[0]!) }
  return null
}

/** The parts do not cross, but one can still be inside another and outside its holes. */
function overlapOf(polygons: readonly [Ring, ...Ring[]][]): Fault | null {
  for (const [outer] of polygons)
    for (const [around, ...holes] of polygons)
      if (outer !== around && liesIn(outer, around) && !holes.some((hole) => liesIn(outer, hole)))
        return { ring: nameOf(outer), what: `lies inside polygon ${around.polygon + 1}`, at: flat(outer.points[0]!) }
  return null
}

/** For two rings that do not cross: whether the first is inside the second. */
function liesIn(inner: Ring, outer: Ring): boolean {
  if (inner.box[0] < outer.box[0] || inner.box[1] < outer.box[1] || inner.box[2] > outer.box[2] || inner.box[3] > outer.box[3]) return false
  for (const point of inner.points) {
    const place = placeIn(outer.points, point)
    if (place !== 0) return place > 0
  }
  // Every corner is on the other ring: a point between two of them decides.
  const [at, next] = [inner.points[0]!, inner.points[1]!]
  const index = outer.points.slice(1).findIndex((to, edge) => isOn(outer.points[edge]!, to, at))
  const ways = waysAt(outer, edgeOf(0, index, outer.points[index]!, outer.points[index + 1]!), at)
  return isLeftOf(ways, at, next) === outer.isCounterClockwise
}

const isOn = (a: Position, b: Position, p: Position): boolean =>
  Math.min(a[0], b[0]) <= p[0] &&
  p[0] <= Math.max(a[0], b[0]) &&
  Math.min(a[1], b[1]) <= p[1] &&
  p[1] <= Math.max(a[1], b[1]) &&
  side(a, b, p) === 0

/** 1 inside, 0 on the ring, -1 outside. */
function placeIn(points: readonly Position[], p: Position): number {
  let isInside = false
  for (let i = 0; i + 1 < points.length; i++) {
    const [a, b] = [points[i]!, points[i + 1]!]
    if (isOn(a, b, p)) return 0
    if (a[1] > p[1] === b[1] > p[1]) continue
    const [low, high] = a[1] < b[1] ? [a, b] : [b, a]
    if (side(low, high, p) > 0) isInside = !isInside
  }
  return isInside ? 1 : -1
}

/** Rings that touch each other in a cycle divide the interior: each part would have to be a separate polygon. */
function cutInterior(rings: readonly Ring[], touches: readonly Touch[]): Fault | null {
  const roots = new Map<string, string>()
  const rootOf = (key: string): string => {
    let root = key
    for (let next = roots.get(root); next !== undefined; next = roots.get(root)) root = next
    return root
  }
  const seen = new Set<string>()
  for (const { at, first, second } of touches) {
    const [a, b] = [rings[first.ring]!, rings[second.ring]!]
    if (a.polygon !== b.polygon) continue
    const place = `${a.polygon}: ${at[0]} ${at[1]}`
    for (const ring of [first.ring, second.ring]) {
      if (seen.has(`${ring} ${place}`)) continue
      seen.add(`${ring} ${place}`)
      const [from, to] = [rootOf(`ring ${ring}`), rootOf(place)]
      if (from === to) return { ring: nameOf(rings[ring]!), what: 'divides the interior of its polygon', at }
      roots.set(from, to)
    }
  }
  return null
}
