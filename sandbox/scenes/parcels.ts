/**
 * Farmland as people divide it: irregular blocks, each with parallel strips that are cut at uneven lengths.
 * Whether a block is farmed is decided for the whole block, so that fields end where their block ends.
 */
import { addFractal, chance, EARTH_ROUND_M, hash, points, toLatitude, type Points } from './noise.ts'

interface Parcels {
  /** Random number of the field. */
  readonly id: Uint32Array
  /** How much of the block is farmed, as the world decides. */
  readonly farmed: Float64Array
  /** Distances to the edge of the field and of the block. */
  readonly edgeM: Float64Array
  readonly blockEdgeM: Float64Array
  /** From 0 to 1, random number of the nearest boundary between two blocks. */
  readonly border: Float64Array
  /** Position across the field's rows. */
  readonly acrossM: Float64Array
}

export const parcels = (capacity: number): Parcels => ({
  id: new Uint32Array(capacity),
  farmed: new Float64Array(capacity),
  edgeM: new Float64Array(capacity),
  blockEdgeM: new Float64Array(capacity),
  border: new Float64Array(capacity),
  acrossM: new Float64Array(capacity),
})

interface Block {
  readonly x: number
  readonly y: number
  readonly key: number
  readonly farmed: number
  readonly cos: number
  readonly sin: number
  readonly widthM: number
  readonly lengthM: number
}

const LEVEL = 16
const SIZE = 2 ** LEVEL
const SEED = 400
const MAX_CACHED = 30_000
/** How far a boundary strays from its regular position, in strips. */
const STRAY = 0.6

export class ParcelMap {
  readonly #farmed: (u: number, v: number) => number
  readonly #near = new Map<number, readonly Block[]>()
  readonly #warped: Points

  constructor(capacity: number, farmed: (u: number, v: number) => number) {
    this.#farmed = farmed
    this.#warped = points(capacity)
  }

  read(out: Parcels, at: Points, limit: number): void {
    let cellX = NaN
    let cellY = NaN
    let near: readonly Block[] = []
    const cellM = (EARTH_ROUND_M * Math.cos(toLatitude(at.v[at.count >> 1]!))) / SIZE
    const place = { x: 0, y: 0, cellM }
    const warped = this.#bend(at, limit)
    for (let i = 0; i < at.count; i++) {
      const x = warped.u[i]! * SIZE
      const y = warped.v[i]! * SIZE
      if (Math.floor(x) !== cellX || Math.floor(y) !== cellY) {
        cellX = Math.floor(x)
        cellY = Math.floor(y)
        near = this.#blocksNear(cellX, cellY)
      }
      place.x = x
      place.y = y
      readPoint(out, i, near, place)
    }
  }

  /** Old boundaries follow the land: straight ones are the exception. */
  #bend(at: Points, limit: number): Points {
    const warped = this.#warped
    warped.count = at.count
    warped.u.set(at.u.subarray(0, at.count))
    warped.v.set(at.v.subarray(0, at.count))
    const bend = { from: 15, to: 18, gain: 0.14 / SIZE, roughness: 0.5 }
    addFractal(warped.u, at, { ...bend, seed: SEED + 10 }, limit)
    addFractal(warped.v, at, { ...bend, seed: SEED + 11 }, limit)
    return warped
  }

  #blocksNear(cellX: number, cellY: number): readonly Block[] {
    const key = cellY * SIZE + cellX
    const known = this.#near.get(key)
    if (known) return known
    const near: Block[] = []
    for (let y = cellY - 2; y <= cellY + 2; y++) for (let x = cellX - 2; x <= cellX + 2; x++) near.push(this.#block(x, y))
    const kept = nearestTwo(near, cellX, cellY)
    if (this.#near.size >= MAX_CACHED) this.#near.clear()
    this.#near.set(key, kept)
    return kept
  }

  readonly #blocks = new Map<number, Block>()

  #block(column: number, row: number): Block {
    const cell = row * SIZE + column
    const known = this.#blocks.get(cell)
    if (known) return known
    const wrapped = column & (SIZE - 1)
    const x = column + chance(wrapped, row, SEED)
    const y = row + chance(wrapped, row, SEED + 1)
    // Neighbouring blocks often share a direction, set by valleys and old estates.
    const angle = chance(wrapped >> 2, row >> 2, SEED + 2) * Math.PI + (chance(wrapped, row, SEED + 3) - 0.5) * 0.9
    const block = {
      x,
      y,
      key: hash(wrapped, row, SEED + 4),
      farmed: this.#farmed(x / SIZE, y / SIZE),
      cos: Math.cos(angle),
      sin: Math.sin(angle),
      widthM: 42 + 120 * chance(wrapped, row, SEED + 5) ** 2,
      lengthM: 150 + 320 * chance(wrapped, row, SEED + 6),
    }
    if (this.#blocks.size >= MAX_CACHED) this.#blocks.clear()
    this.#blocks.set(cell, block)
    return block
  }
}

/** The blocks that can be nearest or second nearest anywhere in a cell: a third of the surrounding ones. */
function nearestTwo(blocks: readonly Block[], cellX: number, cellY: number): readonly Block[] {
  const farthest = ({ x, y }: Block): number => Math.hypot(Math.max(x - cellX, cellX + 1 - x), Math.max(y - cellY, cellY + 1 - y))
  const closest = ({ x, y }: Block): number => Math.hypot(Math.max(0, cellX - x, x - cellX - 1), Math.max(0, cellY - y, y - cellY - 1))
  const bound = blocks.map(farthest).toSorted((a, b) => a - b)[1] ?? Infinity
  return blocks.filter((block) => closest(block) <= bound)
}

function readPoint(out: Parcels, i: number, near: readonly Block[], { x, y, cellM }: { x: number; y: number; cellM: number }): void {
  let first: Block | undefined
  let second: Block | undefined
  let d1 = Infinity
  let d2 = Infinity
  for (let k = 0; k < near.length; k++) {
    const block = near[k]!
    const distance = (x - block.x) * (x - block.x) + (y - block.y) * (y - block.y)
    if (distance < d1) {
      d2 = d1
      second = first
      d1 = distance
      first = block
    } else if (distance < d2) {
      d2 = distance
      second = block
    }
  }
  if (!first || !second) return
  const apart = Math.sqrt((first.x - second.x) ** 2 + (first.y - second.y) ** 2)
  const blockEdge = ((d2 - d1) / (2 * apart)) * cellM
  const dx = (x - first.x) * cellM
  const dy = (y - first.y) * cellM
  const across = dx * first.cos + dy * first.sin
  const along = dy * first.cos - dx * first.sin
  const strip = cut(across / first.widthM, first.key)
  const piece = cut(along / first.lengthM, first.key + strip * 31 + 7)
  out.id[i] = hash(strip, piece, first.key)
  out.farmed[i] = first.farmed
  out.blockEdgeM[i] = blockEdge
  out.border[i] = chance(first.key ^ second.key, 1, SEED)
  out.edgeM[i] = Math.min(
    blockEdge,
    cutDistance(across / first.widthM, strip, first.key) * first.widthM,
    cutDistance(along / first.lengthM, piece, first.key + strip * 31 + 7) * first.lengthM,
  )
  out.acrossM[i] = across
}

export const boundary = (k: number, key: number): number => k + STRAY * (chance(k, key, SEED + 8) - 0.5)

/** The strip that a position is in, with stray boundaries. */
export function cut(position: number, key: number): number {
  const k = Math.floor(position)
  if (position < boundary(k, key)) return k - 1
  return position >= boundary(k + 1, key) ? k + 1 : k
}

export const cutDistance = (position: number, strip: number, key: number): number =>
  Math.min(position - boundary(strip, key), boundary(strip + 1, key) - position)
