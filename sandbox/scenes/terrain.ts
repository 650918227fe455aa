/**
 * Heights, seas and rivers of the whole Earth. The shape table gives continents, noise their coasts and mountains; rivers
 * are computed on the coarse ground and then cut their valleys into the fine one.
 */
import { earthShape, readShape } from './earth.ts'
import { Network, streams, type NodeGround, type Streams } from './network.ts'
import { addFractal, clamp01, EARTH_ROUND_M, fractal, mix, points, smooth, toLatitude, type Points } from './noise.ts'

export interface Ground {
  /** Above 0 on land, below in the sea; about a hundredth within some kilometres of the coast. */
  readonly coast: Float64Array
  readonly heightM: Float64Array
  /** Rainfall, 0 desert to 1 rain forest. */
  readonly wetness: Float64Array
  /** 0 plains to 1 high mountains. */
  readonly rugged: Float64Array
  /** Distance to the nearest river or lake shore, negative in the water. */
  readonly streamEdgeM: Float64Array
  readonly streamHalfWidthM: Float64Array
}

export const ground = (capacity: number): Ground => ({
  coast: new Float64Array(capacity),
  heightM: new Float64Array(capacity),
  wetness: new Float64Array(capacity),
  rugged: new Float64Array(capacity),
  streamEdgeM: new Float64Array(capacity),
  streamHalfWidthM: new Float64Array(capacity),
})

const SEEDS = {
  warp: 11,
  coast: 13,
  relief: 14,
  ridges: 15,
  hills: 16,
  wetness: 17,
  meander: 18,
  dunes: 19,
  rivers: 100,
  brooks: 200,
} as const
const RIVER_LEVEL = 11
const BROOK_LEVEL = 14
const COAST_FINEST = 20
const TERRAIN_FINEST = 19
const RIDGE_FROM = 10
/** Wetness below which sand can move. */
const DUNES_BELOW = 0.17
/** Far from any stream. */
const NO_STREAM_M = 1e6

interface TerrainOptions {
  readonly capacity: number
  readonly limit: number
  readonly networks: readonly Network[]
}

export class Terrain {
  readonly #limit: number
  readonly #networks: readonly Network[]
  readonly #shape
  readonly #warped: Points
  readonly #streams: Streams
  readonly #a: Float64Array
  readonly #b: Float64Array
  readonly #c: Float64Array

  constructor({ capacity, limit, networks }: TerrainOptions) {
    this.#limit = limit
    this.#networks = networks
    this.#shape = earthShape(capacity)
    this.#warped = points(capacity)
    this.#streams = streams(capacity)
    this.#a = new Float64Array(capacity)
    this.#b = new Float64Array(capacity)
    this.#c = new Float64Array(capacity)
  }

  read(out: Ground, at: Points): void {
    readShape(this.#shape, at)
    this.#readCoast(out, at)
    this.#readWetness(out, at)
    this.#readHeights(out, at)
    out.streamEdgeM.fill(NO_STREAM_M, 0, at.count)
    out.streamHalfWidthM.fill(0, 0, at.count)
    for (const network of this.#networks) this.#carve(out, at, network)
    this.#dunes(out, at)
  }

  /** Dunes where it hardly rains. */
  #dunes(out: Ground, at: Points): void {
    if (!out.wetness.subarray(0, at.count).some((wetness) => wetness < DUNES_BELOW)) return
    const warped = this.#warped
    warped.count = at.count
    warped.u.set(at.u.subarray(0, at.count))
    for (let i = 0; i < at.count; i++) warped.v[i] = at.v[i]! * 0.4 + at.u[i]!
    fractal(this.#a, warped, { from: 15, to: 18, seed: SEEDS.dunes, gain: 0.9, roughness: 0.6 }, this.#limit)
    fractal(this.#b, at, { from: 10, to: 14, seed: SEEDS.dunes + 1, gain: 0.7 }, this.#limit)
    for (let i = 0; i < at.count; i++) {
      const sandy =
        (1 - smooth(0.09, DUNES_BELOW, out.wetness[i]!)) * smooth(-0.45, 0.1, this.#b[i]!) * (1 - smooth(0.1, 0.5, out.rugged[i]!))
      if (out.coast[i]! <= 0 || sandy <= 0) continue
      const crest = 1 - Math.abs(this.#a[i]!)
      out.heightM[i]! += sandy * 46 * crest * crest * crest
    }
  }

  #readCoast(out: Ground, at: Points): void {
    fractal(out.coast, at, { from: 6, to: COAST_FINEST, seed: SEEDS.coast, gain: 0.2, roughness: 0.55 }, this.#limit)
    for (let i = 0; i < at.count; i++) out.coast[i]! += this.#shape.land[i]! - 0.5
  }

  #readWetness(out: Ground, at: Points): void {
    fractal(this.#a, at, { from: 6, to: 14, seed: SEEDS.wetness, gain: 0.22 }, this.#limit)
    for (let i = 0; i < at.count; i++) {
      const dry = this.#shape.dryness[i]!
      const coastal = 1 - smooth(0, 0.3, out.coast[i]!)
      out.wetness[i] = clamp01(mix(0.66, 0.1, dry) + (this.#a[i]! + 0.06 * coastal) * mix(1, 0.5, dry))
    }
  }

  /** Plains with low hills, and where the table is high, plateaus with ridges. */
  #readHeights(out: Ground, at: Points): void {
    const { reliefM } = this.#shape
    this.#ridges(at)
    fractal(this.#b, at, { from: 7, to: 11, seed: SEEDS.relief, gain: 0.6 }, this.#limit)
    fractal(this.#c, at, { from: 11, to: TERRAIN_FINEST, seed: SEEDS.hills, gain: 1, roughness: 0.52 }, this.#limit)
    for (let i = 0; i < at.count; i++) {
      const coast = out.coast[i]!
      const relief = reliefM[i]! * (1 + 0.7 * this.#b[i]!) + 120 * this.#b[i]!
      const rugged = smooth(200, 1500, relief)
      const inland = smooth(0.0, 0.07, coast)
      const shore = coast > 0 ? 240 * (1 - Math.exp(-coast / 0.07)) : coast * 2200
      const ridge = (60 + 3300 * rugged) * this.#a[i]! * mix(0.12, 1, inland)
      const hills = (14 + 60 * clamp01(0.4 + this.#b[i]!) + 260 * rugged) * this.#c[i]! * mix(0.1, 1, inland)
      out.rugged[i] = rugged
      out.heightM[i] = coast > 0 ? Math.max(0.2 + coast * 200, shore + 0.7 * Math.max(0, relief) * inland + ridge + hills) : shore
    }
  }

  /** Ridged noise in warped space: each finer octave is strong at the crests of the coarser one. */
  #ridges(at: Points): void {
    const count = at.count
    // Stronger or finer warping would stretch the ridges into streaks.
    const scale = 0.1 / 2 ** RIDGE_FROM
    const warped = this.#warped
    fractal(warped.u, at, { from: 9, to: 12, roughness: 0.42, seed: SEEDS.warp, gain: scale }, this.#limit)
    fractal(warped.v, at, { from: 9, to: 12, roughness: 0.42, seed: SEEDS.warp + 50, gain: scale }, this.#limit)
    warped.count = count
    for (let i = 0; i < count; i++) {
      warped.u[i]! += at.u[i]!
      warped.v[i]! += at.v[i]!
    }
    this.#a.fill(0, 0, count)
    this.#c.fill(1, 0, count)
    let gain = 0.5
    for (let level = RIDGE_FROM; level <= TERRAIN_FINEST && level < this.#limit + 1; level++, gain *= 0.56) {
      const octave = this.#b.fill(0, 0, count)
      addFractal(octave, warped, { from: level, to: level, seed: SEEDS.ridges, gain: 1 }, level)
      const shown = gain * Math.min(1, this.#limit + 1 - level)
      for (let i = 0; i < count; i++) {
        const crest = 1 - Math.abs(octave[i]!)
        const value = crest * crest * this.#c[i]!
        this.#c[i] = clamp01(0.12 + value * 2)
        this.#a[i]! += shown * (value - 0.35)
      }
    }
  }

  #carve(out: Ground, at: Points, network: Network): void {
    const latitude = toLatitude(at.v[at.count >> 1]!)
    const cellM = (EARTH_ROUND_M * Math.cos(latitude)) / 2 ** network.level
    meander(this.#warped, at, network.level, this.#limit)
    network.read(this.#streams, this.#warped, cellM)
    const { bedM, carve, edgeM, halfWidthM } = this.#streams
    for (let i = 0; i < at.count; i++) {
      if (out.coast[i]! <= 0) continue
      // Straight lines between nodes would cut through ridges: there the stream has no valley. Steep land has narrow valleys.
      const above = out.heightM[i]! - bedM[i]!
      const share = carve[i]! ** (1 + 1.2 * out.rugged[i]!) * (1 - 0.92 * smooth(90, 420, above))
      out.heightM[i] = Math.max(0.1, mix(out.heightM[i]!, bedM[i]!, share))
      if (edgeM[i]! < out.streamEdgeM[i]!) {
        out.streamEdgeM[i] = edgeM[i]!
        out.streamHalfWidthM[i] = halfWidthM[i]!
      }
    }
  }
}

/** Warps straight streams into meanders: the network uses this warped space. */
function meander(out: Points, at: Points, level: number, limit: number): void {
  out.count = at.count
  const shape = { from: level + 1, to: level + 5, gain: 0.3 / 2 ** level, roughness: 0.42 }
  out.u.set(at.count === at.u.length ? at.u : at.u.subarray(0, at.count))
  out.v.set(at.count === at.v.length ? at.v : at.v.subarray(0, at.count))
  addFractal(out.u, at, { ...shape, seed: SEEDS.meander + level }, limit)
  addFractal(out.v, at, { ...shape, seed: SEEDS.meander + level + 40 }, limit)
}

/** The ground at a node, given in the network's warped space. */
function nodeReader(level: number, networks: readonly Network[]): (u: number, v: number) => NodeGround {
  const terrain = new Terrain({ capacity: 1, limit: level + 1, networks })
  const at = points(1)
  const bent = points(1)
  const sample = ground(1)
  at.count = 1
  return (u, v) => {
    at.u[0] = u
    at.v[0] = v
    meander(bent, at, level, level + 6)
    at.u[0] = 2 * u - bent.u[0]!
    at.v[0] = 2 * v - bent.v[0]!
    terrain.read(sample, at)
    return { heightM: sample.coast[0]! > 0 ? sample.heightM[0]! : -1, wetness: sample.wetness[0]! }
  }
}

/** The Earth's ground for rows of up to `capacity` points, with detail down to octave `limit`. */
export function createTerrain(capacity: number, limit: number): Terrain {
  const rivers = new Network({
    level: RIVER_LEVEL,
    seed: SEEDS.rivers,
    valleyPower: 4,
    ground: nodeReader(RIVER_LEVEL, []),
    halfWidthM: (flow, wetness) => (flow < 3 ? 0 : Math.min(260, 11 * flow ** 0.72) * smooth(0.1, 0.5, wetness)),
  })
  const brooks = new Network({
    level: BROOK_LEVEL,
    seed: SEEDS.brooks,
    valleyPower: 2,
    ground: nodeReader(BROOK_LEVEL, [rivers]),
    halfWidthM: (flow, wetness) => (flow < 2 ? 0 : Math.min(22, 1.3 * flow ** 0.8) * smooth(0.1, 0.5, wetness)),
  })
  return new Terrain({ capacity, limit, networks: [rivers, brooks].filter((network) => network.level < limit) })
}
