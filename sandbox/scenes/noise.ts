/**
 * Lattice noise on the whole Earth. Places are Mercator fractions of the world, u east and v south, so that shapes keep
 * their angles everywhere; a lattice of level n has 2^n cells around the Earth and is continuous at the antimeridian.
 */

/** Places to evaluate, usually one row of pixels. */
export interface Points {
  count: number
  readonly u: Float64Array
  readonly v: Float64Array
}

export const EARTH_ROUND_M = 40_075_016.68

export const points = (capacity: number): Points => ({ count: 0, u: new Float64Array(capacity), v: new Float64Array(capacity) })

export function hash(x: number, y: number, seed: number): number {
  let h = Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1)
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** From 0 to 1. */
export const chance = (x: number, y: number, seed: number): number => hash(x, y, seed) / 4294967296

export function hashText(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return hash(h, text.length, 77)
}

export const clamp01 = (value: number): number => (value < 0 ? 0 : value > 1 ? 1 : value)
export const mix = (a: number, b: number, share: number): number => a + (b - a) * share

export function smooth(from: number, to: number, value: number): number {
  const t = clamp01((value - from) / (to - from))
  return t * t * (3 - 2 * t)
}

/** Gradients are chosen from many directions on a circle, so that no direction shows. */
const DIRECTIONS = 256
const GRADIENT_X = new Float64Array(DIRECTIONS)
const GRADIENT_Y = new Float64Array(DIRECTIONS)
/** Scales the usual range of gradient noise to about ±1. */
const GRADIENT_LENGTH = 1.3
/** Pure gradient noise is zero at every corner, which shows as a grid in ridges: corners get a value too. */
const CORNER_VALUE = new Float64Array(256)
const CORNER_RANGE = 0.42
for (let i = 0; i < DIRECTIONS; i++) {
  CORNER_VALUE[i] = ((i + 0.5) / DIRECTIONS - 0.5) * 2 * CORNER_RANGE
  GRADIENT_X[i] = Math.cos((i * 2 * Math.PI) / DIRECTIONS) * GRADIENT_LENGTH
  GRADIENT_Y[i] = Math.sin((i * 2 * Math.PI) / DIRECTIONS) * GRADIENT_LENGTH
}

interface Octave {
  readonly level: number
  readonly seed: number
  readonly gain: number
}

/**
 * Octaves are rotated against each other, otherwise their cells would add up to a grid. Whole numbers, in half cells, keep
 * the rotated lattice continuous at the antimeridian.
 */
const TURNS: readonly (readonly [number, number])[] = [
  [2, 0],
  [1, 1],
  [2, 1],
  [1, -1],
  [2, -1],
]

/** Adds gradient noise to `out`. Neighbouring pixels mostly share a cell, whose gradients are computed once. */
function addNoise(out: Float64Array, { count, u, v }: Points, { level, seed, gain }: Octave): void {
  const half = 2 ** (level - 1)
  const [uAlong, vAlong] = TURNS[level % TURNS.length]!
  const along = uAlong * half
  const across = vAlong * half
  const wrap = half - 1
  const key = seed * 64 + level
  // Every octave has its own offset: lattices with common corners show as a grid.
  const shiftX = chance(key, 1, 5)
  const shiftY = chance(key, 2, 5)
  let cellX = NaN
  let cellY = NaN
  let a0 = 0,
    b0 = 0,
    c0 = 0,
    d0 = 0
  let ax = 0,
    ay = 0,
    bx = 0,
    by = 0,
    cx = 0,
    cy = 0,
    dx = 0,
    dy = 0
  for (let i = 0; i < count; i++) {
    const x = u[i]! * along + v[i]! * across + shiftX
    const y = v[i]! * along - u[i]! * across + shiftY
    const ix = Math.floor(x)
    const iy = Math.floor(y)
    if (ix !== cellX || iy !== cellY) {
      cellX = ix
      cellY = iy
      const ha = hash(ix & wrap, iy & wrap, key)
      const hb = hash((ix + 1) & wrap, iy & wrap, key)
      const hc = hash(ix & wrap, (iy + 1) & wrap, key)
      const hd = hash((ix + 1) & wrap, (iy + 1) & wrap, key)
      const a = ha & 255,
        b = hb & 255,
        c = hc & 255,
        d = hd & 255
      a0 = CORNER_VALUE[ha >>> 24]!
      b0 = CORNER_VALUE[hb >>> 24]!
      c0 = CORNER_VALUE[hc >>> 24]!
      d0 = CORNER_VALUE[hd >>> 24]!
      ax = GRADIENT_X[a]!
      ay = GRADIENT_Y[a]!
      bx = GRADIENT_X[b]!
      by = GRADIENT_Y[b]!
      cx = GRADIENT_X[c]!
      cy = GRADIENT_Y[c]!
      dx = GRADIENT_X[d]!
      dy = GRADIENT_Y[d]!
    }
    const fx = x - ix
    const fy = y - iy
    const sx = fx * fx * fx * (fx * (fx * 6 - 15) + 10)
    const sy = fy * fy * fy * (fy * (fy * 6 - 15) + 10)
    const top = a0 + ax * fx + ay * fy
    const bottom = c0 + cx * fx + cy * (fy - 1)
    const upper = top + sx * (b0 + bx * (fx - 1) + by * fy - top)
    const lower = bottom + sx * (d0 + dx * (fx - 1) + dy * (fy - 1) - bottom)
    out[i]! += gain * (upper + sy * (lower - upper))
  }
}

interface Fractal {
  readonly from: number
  readonly to: number
  readonly seed: number
  readonly gain: number
  /** Amplitude ratio of each finer octave. */
  readonly roughness?: number
}

/** Octaves finer than the pixels fade out, so that every resolution shows the same ground. */
export function addFractal(out: Float64Array, at: Points, shape: Fractal, limit: number): void {
  const { from, to, seed, gain, roughness = 0.5 } = shape
  const finest = Math.min(to, Math.ceil(limit))
  const smoothTo = Math.min(finest, smoothLevel(at))
  let level = from
  if (from <= smoothTo) {
    const knots = knotsOf(at)
    const sums = new Float64Array(knots.count)
    for (; level <= smoothTo; level++)
      addNoise(sums, knots, { level, seed, gain: gain * roughness ** (level - from) * Math.min(1, limit + 1 - level) })
    addCurve(out, sums, at.count)
  }
  for (; level <= finest; level++)
    addNoise(out, at, { level, seed, gain: gain * roughness ** (level - from) * Math.min(1, limit + 1 - level) })
}

/** Octaves whose cells are far larger than a pixel are computed at every eighth pixel and interpolated. */
const KNOT_STEP = 8
const SMOOTH_CELL_PX = 64

function smoothLevel({ count, u, v }: Points): number {
  if (count < SMOOTH_CELL_PX) return -1
  const step = Math.hypot(u[count - 1]! - u[0]!, v[count - 1]! - v[0]!) / (count - 1)
  return Math.floor(-Math.log2(step * SMOOTH_CELL_PX))
}

/** Every eighth place, with one knot before the row and some after it. */
export function knotsOf({ count, u, v }: Points): Points {
  const knots = points(Math.ceil(count / KNOT_STEP) + 3)
  knots.count = knots.u.length
  for (let k = 0; k < knots.count; k++) {
    const i = (k - 1) * KNOT_STEP
    const near = Math.max(0, Math.min(count - 2, i))
    knots.u[k] = u[near]! + (u[near + 1]! - u[near]!) * (i - near)
    knots.v[k] = v[near]! + (v[near + 1]! - v[near]!) * (i - near)
  }
  return knots
}

export function addCurve(out: Float64Array, knots: Float64Array, count: number): void {
  for (let k = 1, start = 0; start < count; k++, start += KNOT_STEP) {
    const a = knots[k - 1]!
    const b = knots[k]!
    const c = knots[k + 1]!
    const d = knots[k + 2]!
    const c1 = (c - a) / 2
    const c2 = a - 2.5 * b + 2 * c - d / 2
    const c3 = (d - a) / 2 + 1.5 * (b - c)
    const end = Math.min(KNOT_STEP, count - start)
    for (let i = 0; i < end; i++) {
      const t = i / KNOT_STEP
      out[start + i]! += b + t * (c1 + t * (c2 + t * c3))
    }
  }
}

export function fractal(out: Float64Array, at: Points, shape: Fractal, limit: number): Float64Array {
  out.fill(0, 0, at.count)
  addFractal(out, at, shape, limit)
  return out
}

/** The finest octave level whose waves are two pixels long. */
export const levelLimit = (gsdM: number, latitude: number): number =>
  Math.log2((EARTH_ROUND_M * Math.cos((latitude * Math.PI) / 180)) / (2 * gsdM))

const MAX_MERCATOR_LATITUDE = 89.5

export const toU = (longitude: number): number => longitude / 360 + 0.5

export function toV(latitude: number): number {
  const bounded = Math.max(-MAX_MERCATOR_LATITUDE, Math.min(MAX_MERCATOR_LATITUDE, latitude))
  const sin = Math.sin((bounded * Math.PI) / 180)
  return 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)
}

export const toLongitude = (u: number): number => (u - 0.5) * 360
/** In radians. */
export const toLatitude = (v: number): number => Math.atan(Math.sinh(Math.PI * (1 - 2 * v)))
