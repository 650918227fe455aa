/**
 * Rivers as a drainage network: every cell of a lattice holds one node, and each node drains to the lowest of its eight
 * neighbours. So streams run downhill, join and grow, and a place finds nearby streams by checking a few cells.
 */
import { chance, clamp01, type Points } from './noise.ts'

export interface NodeGround {
  heightM: number
  /** From 0 to 1. */
  wetness: number
}

interface NetworkOptions {
  readonly level: number
  readonly seed: number
  /** The ground at a node; computed once per node. */
  readonly ground: (u: number, v: number) => NodeGround
  /** How steeply a valley rises from the stream: larger is narrower. */
  readonly valleyPower: number
  /** Half the width of a stream with this many nodes above it, in metres. */
  readonly halfWidthM: (flow: number, wetness: number) => number
}

interface Node {
  readonly x: number
  readonly y: number
  readonly heightM: number
  readonly wetness: number
}

/** Reach of a valley, in cells. */
const REACH = 0.55
const FLOW_DEPTH = 7
const MAX_CACHED = 50_000
const NEIGHBOURS: readonly (readonly [number, number])[] = [
  [-1, -1],
  [0, -1],
  [1, -1],
  [-1, 0],
  [1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
]
/** Numbers per stream: both ends, their heights and half widths, and whether it is a lake. */
const STRIDE = 9
/** Lakes only in basins without an outlet, and not in all of them. */
const LAKE_SHARE = 0.55

export interface Streams {
  /** Height of the valley floor, and how much the valley takes over from the ground around it (0–1). */
  readonly bedM: Float64Array
  readonly carve: Float64Array
  /** Distance to the water's edge, negative inside, and half the width of that stream. */
  readonly edgeM: Float64Array
  readonly halfWidthM: Float64Array
}

export const streams = (capacity: number): Streams => ({
  bedM: new Float64Array(capacity),
  carve: new Float64Array(capacity),
  edgeM: new Float64Array(capacity),
  halfWidthM: new Float64Array(capacity),
})

export class Network {
  readonly level: number
  readonly #options: NetworkOptions
  readonly #size: number
  readonly #nodes = new Map<number, Node>()
  readonly #receivers = new Map<number, number>()
  readonly #flows = new Map<number, number>()
  readonly #near = new Map<number, Float64Array>()

  constructor(options: NetworkOptions) {
    this.#options = options
    this.level = options.level
    this.#size = 2 ** options.level
  }

  /** `cellM` is the size of a cell on the ground here. */
  read(out: Streams, at: Points, cellM: number): void {
    let cellX = NaN
    let cellY = NaN
    let near: Float64Array = new Float64Array(0)
    const place = { x: 0, y: 0, cellM, power: this.#options.valleyPower }
    for (let i = 0; i < at.count; i++) {
      const x = at.u[i]! * this.#size
      const y = at.v[i]! * this.#size
      if (Math.floor(x) !== cellX || Math.floor(y) !== cellY) {
        cellX = Math.floor(x)
        cellY = Math.floor(y)
        near = this.#streamsNear(cellX, cellY)
      }
      place.x = x
      place.y = y
      readPoint(out, i, near, place)
    }
  }

  #key(x: number, y: number): number {
    return (y + 4 * this.#size) * this.#size + (((x % this.#size) + this.#size) % this.#size)
  }

  #node(x: number, y: number): Node {
    return cached(this.#nodes, this.#key(x, y), () => {
      const { seed, ground } = this.#options
      const wrapped = ((x % this.#size) + this.#size) % this.#size
      const px = x + 0.2 + 0.6 * chance(wrapped, y, seed)
      const py = y + 0.2 + 0.6 * chance(wrapped, y, seed + 1)
      return { x: px, y: py, ...ground(px / this.#size, py / this.#size) }
    })
  }

  /** Index of the neighbour that this node drains to, or -1 for a basin without an outlet. */
  #receiver(x: number, y: number): number {
    return cached(this.#receivers, this.#key(x, y), () => {
      let lowest = this.#node(x, y).heightM
      let best = -1
      NEIGHBOURS.forEach(([dx, dy], index) => {
        const { heightM } = this.#node(x + dx, y + dy)
        if (heightM < lowest) {
          lowest = heightM
          best = index
        }
      })
      return best
    })
  }

  /** Number of nodes that drain through this one, including itself, up to a depth: enough to tell a brook from a river. */
  #flow(x: number, y: number, depth: number = FLOW_DEPTH): number {
    return cached(this.#flows, this.#key(x, y) * (FLOW_DEPTH + 1) + depth, () => {
      let flow = 1
      if (depth === 0) return flow
      NEIGHBOURS.forEach(([dx, dy], index) => {
        // The neighbour in direction i drains here when its own direction is the opposite one.
        if (this.#receiver(x + dx, y + dy) === NEIGHBOURS.length - 1 - index) flow += this.#flow(x + dx, y + dy, depth - 1)
      })
      return flow
    })
  }

  #streamsNear(cellX: number, cellY: number): Float64Array {
    return cached(this.#near, this.#key(cellX, cellY), () => {
      const streams: number[] = []
      for (let y = cellY - 2; y <= cellY + 2; y++) {
        for (let x = cellX - 2; x <= cellX + 2; x++) this.#addStream(streams, { x, y }, { x: cellX, y: cellY })
      }
      return Float64Array.from(streams)
    })
  }

  #addStream(streams: number[], at: { x: number; y: number }, cell: { x: number; y: number }): void {
    const { halfWidthM, seed } = this.#options
    const node = this.#node(at.x, at.y)
    if (node.heightM <= 0) return
    const receiver = this.#receiver(at.x, at.y)
    const flow = this.#flow(at.x, at.y)
    const half = halfWidthM(flow, node.wetness)
    const direction = NEIGHBOURS[receiver]
    if (!direction) {
      const lake =
        chance(at.x, at.y, seed + 2) < LAKE_SHARE ? (0.05 + 0.16 * chance(at.x, at.y, seed + 3)) * clamp01(node.wetness * 1.6) : 0
      if (lake > 0.03) streams.push(node.x, node.y, node.x, node.y, node.heightM, node.heightM, lake, lake, 1)
      return
    }
    const next = this.#node(at.x + direction[0], at.y + direction[1])
    if (!touches(node, next, cell)) return
    const nextHalf = halfWidthM(this.#flow(at.x + direction[0], at.y + direction[1]), node.wetness)
    streams.push(node.x, node.y, next.x, next.y, node.heightM, Math.max(0, next.heightM), half, nextHalf, 0)
  }
}

/** Whether the valley between two nodes can reach into a cell. */
function touches(a: Node, b: Node, cell: { x: number; y: number }): boolean {
  return (
    Math.max(a.x, b.x) > cell.x - REACH &&
    Math.min(a.x, b.x) < cell.x + 1 + REACH &&
    Math.max(a.y, b.y) > cell.y - REACH &&
    Math.min(a.y, b.y) < cell.y + 1 + REACH
  )
}

function readPoint(
  out: Streams,
  i: number,
  near: Float64Array,
  { x, y, cellM, power }: { x: number; y: number; cellM: number; power: number },
): void {
  let weights = 0
  let bed = 0
  let carve = 0
  let edge = REACH * cellM
  let halfWidth = 0
  for (let s = 0; s < near.length; s += STRIDE) {
    const ax = near[s]!
    const ay = near[s + 1]!
    const bx = near[s + 2]! - ax
    const by = near[s + 3]! - ay
    const length = bx * bx + by * by
    const t = length > 0 ? clamp01(((x - ax) * bx + (y - ay) * by) / length) : 0
    const dx = x - ax - t * bx
    const dy = y - ay - t * by
    const distance = Math.sqrt(dx * dx + dy * dy)
    if (distance >= REACH) continue
    const isLake = near[s + 8]! === 1
    const half = (near[s + 6]! + t * (near[s + 7]! - near[s + 6]!)) * (isLake ? cellM : 1)
    const share = 1 - distance / REACH
    const weight = share * share * share * share
    weights += weight
    bed += weight * (near[s + 4]! + t * (near[s + 5]! - near[s + 4]!))
    // A brook cuts a narrow valley, a river a wide one.
    const valley = clamp01(1 - (distance * cellM - half) / (REACH * cellM - half))
    carve = Math.max(carve, valley ** power)
    if (half > 0 && distance * cellM - half < edge) {
      edge = distance * cellM - half
      halfWidth = half
    }
  }
  out.bedM[i] = weights > 0 ? bed / weights : 0
  out.carve[i] = weights > 0 ? carve : 0
  out.edgeM[i] = edge
  out.halfWidthM[i] = halfWidth
}

function cached<V>(map: Map<number, V>, key: number, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  if (map.size >= MAX_CACHED) map.clear()
  map.set(key, value)
  return value
}
