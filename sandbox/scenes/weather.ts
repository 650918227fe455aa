/**
 * Clouds and haze over a place at a time. Clouds are a separate field that changes from day to day and drifts during
 * the day; their shadow is the same field, shifted towards the sun.
 */
import { DAY_MS } from '#core/time.ts'
import { addFractal, chance, clamp01, EARTH_ROUND_M, fractal, mix, points, smooth, toLatitude, type Points } from './noise.ts'
import type { Sun } from './sun.ts'

const DRIFT_M_PER_S = 9
const SEEDS = { front: 900, cells: 901, wisps: 902, warp: 903, haze: 904 } as const
const CLOUD_FINEST = 19
/** A pixel counts as cloud when more than half of it is. */
export const CLOUD_THRESHOLD = 0.5
/** Each day has its own seeds; at most this many days are in use at once. */
const DAY_SEEDS = 1 << 20

interface Sky {
  /** 0 clear to 1 covered, and how much sunlight the clouds towards the sun let through is 1 − shade. */
  readonly cloud: Float64Array
  readonly shade: Float64Array
  /** Brightness of the cloud's top. */
  readonly tops: Float64Array
}

export const sky = (capacity: number): Sky => ({
  cloud: new Float64Array(capacity),
  shade: new Float64Array(capacity),
  tops: new Float64Array(capacity),
})

export class Weather {
  readonly #day: number
  readonly #limit: number
  readonly #driftM: number
  readonly #sun: Sun
  readonly #moved: Points
  readonly #warped: Points
  readonly #front: Float64Array

  constructor({ capacity, timeMs, limit, sun }: { capacity: number; timeMs: number; limit: number; sun: Sun }) {
    this.#day = (Math.floor(timeMs / DAY_MS) % DAY_SEEDS) * 1000
    this.#driftM = ((timeMs % DAY_MS) / 1000) * DRIFT_M_PER_S
    this.#limit = limit
    this.#sun = sun
    this.#moved = points(capacity)
    this.#warped = points(capacity)
    this.#front = new Float64Array(capacity)
  }

  /** Clouds and their shadows. */
  read(out: Sky, at: Points): void {
    this.readClouds(out.cloud, at, out.tops)
    const [east, south] = this.#towardsSunM()
    this.#move(at, east, south)
    this.#field(out.shade, this.#moved, null)
  }

  /** How much of each place is covered, seen from above. */
  readClouds(out: Float64Array, at: Points, tops: Float64Array | null = null): void {
    this.#move(at, 0, 0)
    this.#field(out, this.#moved, tops)
  }

  /** From clouds straight above the ground to those between the ground and the sun. */
  #towardsSunM(): [number, number] {
    const length = CLOUD_HEIGHT_M / Math.tan((Math.max(8, this.#sun.elevationDeg) * Math.PI) / 180)
    const azimuth = (this.#sun.azimuthDeg * Math.PI) / 180
    return [Math.sin(azimuth) * length, -Math.cos(azimuth) * length]
  }

  #move(at: Points, eastM: number, southM: number): void {
    const moved = this.#moved
    moved.count = at.count
    const perM = 1 / (EARTH_ROUND_M * Math.cos(toLatitude(at.v[at.count >> 1]!)))
    for (let i = 0; i < at.count; i++) {
      moved.u[i] = at.u[i]! + (eastM - this.#driftM) * perM
      moved.v[i] = at.v[i]! + southM * perM
    }
  }

  /** A threshold on clustered noise: regional weather sets the threshold, so that days are clear, fair or overcast. */
  #field(out: Float64Array, at: Points, tops: Float64Array | null): void {
    const day = this.#day
    const front = fractal(this.#front, at, { from: 5, to: 9, seed: day + SEEDS.front, gain: 0.75, roughness: 0.55 }, this.#limit)
    const mood = mix(-0.4, 0.5, chance(day, 3, SEEDS.front))
    const warped = this.#warped
    warped.count = at.count
    const bend = 0.22 / 2 ** 14
    fractal(warped.u, at, { from: 13, to: 16, seed: day + SEEDS.warp, gain: bend }, this.#limit)
    fractal(warped.v, at, { from: 13, to: 16, seed: day + SEEDS.warp + 1, gain: bend }, this.#limit)
    for (let i = 0; i < at.count; i++) {
      warped.u[i]! += at.u[i]!
      warped.v[i]! += at.v[i]!
    }
    out.fill(0, 0, at.count)
    addFractal(out, warped, { from: 12, to: CLOUD_FINEST, seed: day + SEEDS.cells, gain: 0.62, roughness: 0.6 }, this.#limit)
    for (let i = 0; i < at.count; i++) {
      const density = out[i]! + (front[i]! + mood) * 1.1 - 0.35
      // Thin at the edge and solid inside: the width of the edge makes a cloud look soft.
      const cover = smooth(0, 0.42, density)
      out[i] = cover
      if (tops) tops[i] = 0.72 + 0.34 * clamp01(density * 0.9)
    }
  }
}

const CLOUD_HEIGHT_M = 1400

/** The haze over a place on a day: low and even, sometimes strong. */
export function hazeAt(u: number, v: number, timeMs: number): number {
  const at = points(1)
  at.count = 1
  at.u[0] = u
  at.v[0] = v
  const day = (Math.floor(timeMs / DAY_MS) % DAY_SEEDS) * 1000
  const out = fractal(new Float64Array(1), at, { from: 6, to: 9, seed: day + SEEDS.haze, gain: 0.5 }, 9)
  return 0.035 + 0.09 * clamp01(0.35 + out[0]!) ** 2
}
