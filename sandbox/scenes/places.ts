/** Towns, villages and the roads between them, on a lattice where each cell can hold one place. */
import { addFractal, chance, clamp01, EARTH_ROUND_M, hash, points, toLatitude, type Points } from './noise.ts'

interface PlaceRow {
  /** 0 outside to 1 in the centre of the nearest place, and the number of that place. */
  readonly density: Float64Array
  readonly town: Int32Array
  /** Distance to the edge of the nearest road, negative on it. */
  readonly roadM: Float64Array
  /** The warped position, in which streets and roads are straight. */
  readonly u: Float64Array
  readonly v: Float64Array
}

export const placeRow = (capacity: number): PlaceRow => ({
  density: new Float64Array(capacity),
  town: new Int32Array(capacity),
  roadM: new Float64Array(capacity),
  u: new Float64Array(capacity),
  v: new Float64Array(capacity),
})

export interface Town {
  readonly x: number
  readonly y: number
  readonly radiusM: number
  readonly key: number
  readonly cos: number
  readonly sin: number
  /** Metres per unit of u at the town, so that its streets are the same in every scene. */
  readonly unitM: number
}

interface PlacesOptions {
  readonly level: number
  readonly seed: number
  /** Fraction of cells with a place, on good land. */
  readonly share: number
  readonly radiusM: readonly [number, number]
  readonly roadHalfWidthM: number
  /** How good the land is; 0 where nobody can live. */
  readonly suits: (u: number, v: number) => number
}

interface Near {
  readonly towns: readonly Town[]
  /** Ends of roads, four numbers each, in cells. */
  readonly roads: Float64Array
}

const ROAD_TO: readonly (readonly [number, number])[] = [
  [1, 0],
  [0, 1],
  [1, 1],
  [-1, 1],
]
const NO_ROAD_M = 1e5
const MAX_CACHED = 20_000
/** Blocks at the edge extend beyond the radius. */
const REACH = 1.3

export class Places {
  readonly towns: Town[] = []
  readonly #options: PlacesOptions
  readonly #size: number
  /** Never cleared, because rows refer to towns by number: at most the cells of one scene, some tens of thousands. */
  readonly #nodes = new Map<number, Town | null>()
  readonly #near = new Map<number, Near>()
  readonly #numbers = new Map<number, number>()
  readonly #warped: Points

  constructor(capacity: number, options: PlacesOptions) {
    this.#options = options
    this.#size = 2 ** options.level
    this.#warped = points(capacity)
  }

  read(out: PlaceRow, at: Points, limit: number): void {
    const { level, seed, roadHalfWidthM } = this.#options
    const warped = this.#warped
    warped.count = at.count
    warped.u.set(at.u.subarray(0, at.count))
    warped.v.set(at.v.subarray(0, at.count))
    const bend = { from: level + 1, to: level + 3, gain: 0.1 / this.#size }
    addFractal(warped.u, at, { ...bend, seed: seed + 5 }, limit)
    addFractal(warped.v, at, { ...bend, seed: seed + 6 }, limit)
    out.u.set(warped.u.subarray(0, at.count))
    out.v.set(warped.v.subarray(0, at.count))
    const cellM = (EARTH_ROUND_M * Math.cos(toLatitude(at.v[at.count >> 1]!))) / this.#size
    let cellX = NaN
    let cellY = NaN
    let near: Near = { towns: [], roads: new Float64Array(0) }
    for (let i = 0; i < at.count; i++) {
      const x = warped.u[i]! * this.#size
      const y = warped.v[i]! * this.#size
      if (Math.floor(x) !== cellX || Math.floor(y) !== cellY) {
        cellX = Math.floor(x)
        cellY = Math.floor(y)
        near = this.#placesNear(cellX, cellY)
      }
      this.#readTown(out, i, near.towns, { x, y, cellM })
      out.roadM[i] = roadDistance(near.roads, x, y) * cellM - roadHalfWidthM
    }
  }

  #readTown(out: PlaceRow, i: number, towns: readonly Town[], { x, y, cellM }: { x: number; y: number; cellM: number }): void {
    out.density[i] = 0
    for (let k = 0; k < towns.length; k++) {
      const town = towns[k]!
      const distance = Math.sqrt((x - town.x) ** 2 + (y - town.y) ** 2) * cellM
      const density = clamp01(1 - distance / (town.radiusM * REACH))
      if (density > out.density[i]!) {
        out.density[i] = density
        out.town[i] = this.#numbers.get(town.key) ?? 0
      }
    }
  }

  #placesNear(cellX: number, cellY: number): Near {
    const key = cellY * this.#size + cellX
    const known = this.#near.get(key)
    if (known) return known
    const towns: Town[] = []
    const roads: number[] = []
    for (let y = cellY - 2; y <= cellY + 1; y++) {
      for (let x = cellX - 2; x <= cellX + 2; x++) {
        const town = this.#town(x, y)
        if (!town) continue
        if (y >= cellY - 1 && Math.abs(x - cellX) <= 1) towns.push(town)
        this.#addRoads(roads, town, { x, y })
      }
    }
    const near = { towns, roads: Float64Array.from(roads) }
    if (this.#near.size >= MAX_CACHED) this.#near.clear()
    this.#near.set(key, near)
    return near
  }

  #addRoads(roads: number[], town: Town, at: { x: number; y: number }): void {
    ROAD_TO.forEach(([dx, dy], index) => {
      const other = this.#town(at.x + dx, at.y + dy)
      const probability = index < 2 ? 0.85 : 0.3
      if (other && chance(town.key, index, this.#options.seed + 9) < probability) roads.push(town.x, town.y, other.x, other.y)
    })
  }

  #town(column: number, row: number): Town | null {
    const cell = row * this.#size + column
    const known = this.#nodes.get(cell)
    if (known !== undefined) return known
    const { seed, share, radiusM, suits } = this.#options
    const wrapped = column & (this.#size - 1)
    const x = column + 0.2 + 0.6 * chance(wrapped, row, seed)
    const y = row + 0.2 + 0.6 * chance(wrapped, row, seed + 1)
    const key = hash(wrapped, row, seed + 2)
    const good = suits(x / this.#size, y / this.#size)
    const isTown = chance(wrapped, row, seed + 3) < share * good
    const angle = chance(wrapped, row, seed + 4) * Math.PI
    const town = isTown
      ? {
          x,
          y,
          key,
          radiusM: radiusM[0] + (radiusM[1] - radiusM[0]) * chance(key, 1, seed) ** 2.5,
          cos: Math.cos(angle),
          sin: Math.sin(angle),
          unitM: EARTH_ROUND_M * Math.cos(toLatitude(y / this.#size)),
        }
      : null
    this.#nodes.set(cell, town)
    if (town && !this.#numbers.has(key)) {
      this.#numbers.set(key, this.towns.length)
      this.towns.push(town)
    }
    return town
  }

  /** Converts a place to metres in the frame of a town's streets. */
  toStreets(out: [number, number], town: Town, u: number, v: number): void {
    const x = (u - town.x / this.#size) * town.unitM
    const y = (v - town.y / this.#size) * town.unitM
    out[0] = x * town.cos + y * town.sin
    out[1] = y * town.cos - x * town.sin
  }
}

function roadDistance(roads: Float64Array, x: number, y: number): number {
  let nearest = NO_ROAD_M
  for (let r = 0; r < roads.length; r += 4) {
    const ax = roads[r]!
    const ay = roads[r + 1]!
    const bx = roads[r + 2]! - ax
    const by = roads[r + 3]! - ay
    const t = clamp01(((x - ax) * bx + (y - ay) * by) / (bx * bx + by * by))
    const dx = x - ax - t * bx
    const dy = y - ay - t * by
    nearest = Math.min(nearest, dx * dx + dy * dy)
  }
  return Math.sqrt(nearest)
}
