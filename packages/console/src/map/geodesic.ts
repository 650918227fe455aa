/** Distances and directions on the WGS 84 ellipsoid, and the shortest lines between places. */
import type { Position } from './geo.ts'

const SEMI_MAJOR_M = 6_378_137
const FLATTENING = 1 / 298.257_223_563
const SEMI_MINOR_M = SEMI_MAJOR_M * (1 - FLATTENING)
const MEAN_RADIUS_M = 6_371_008.8
const MAX_ROUNDS = 1_000
const PRECISION = 1e-12
const radians = (degrees: number) => (degrees * Math.PI) / 180
const degrees = (angle: number) => (angle * 180) / Math.PI

interface Inverse {
  distanceM: number
  /** At the start, in degrees clockwise from north. */
  bearing: number
}

/** Vincenty's method: exact to a millimetre, except for places on opposite sides of the Earth, where the sphere has to do. */
export function inverse([x1, y1]: Position, [x2, y2]: Position): Inverse {
  const difference = radians(x2 - x1)
  const [u1, u2] = [y1, y2].map((latitude) => Math.atan((1 - FLATTENING) * Math.tan(radians(latitude)))) as [number, number]
  const [sin1, cos1, sin2, cos2] = [Math.sin(u1), Math.cos(u1), Math.sin(u2), Math.cos(u2)]
  let lambda = difference
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const [sinLambda, cosLambda] = [Math.sin(lambda), Math.cos(lambda)]
    const sinSigma = Math.hypot(cos2 * sinLambda, cos1 * sin2 - sin1 * cos2 * cosLambda)
    if (sinSigma === 0) return { distanceM: 0, bearing: 0 }
    const cosSigma = sin1 * sin2 + cos1 * cos2 * cosLambda
    const sigma = Math.atan2(sinSigma, cosSigma)
    const sinAlpha = (cos1 * cos2 * sinLambda) / sinSigma
    const cosAlpha2 = 1 - sinAlpha * sinAlpha
    const cosMiddle = cosAlpha2 === 0 ? 0 : cosSigma - (2 * sin1 * sin2) / cosAlpha2
    const c = (FLATTENING / 16) * cosAlpha2 * (4 + FLATTENING * (4 - 3 * cosAlpha2))
    const middle = cosMiddle + c * cosSigma * (2 * cosMiddle * cosMiddle - 1)
    const before = lambda
    lambda = difference + (1 - c) * FLATTENING * sinAlpha * (sigma + c * sinSigma * middle)
    if (Math.abs(lambda - before) > PRECISION) continue
    const bearing = degrees(Math.atan2(cos2 * sinLambda, cos1 * sin2 - sin1 * cos2 * cosLambda))
    return { distanceM: lengthFrom({ sigma, sinSigma, cosSigma, cosAlpha2, cosMiddle }), bearing: (bearing + 360) % 360 }
  }
  return { distanceM: MEAN_RADIUS_M * angleBetween([x1, y1], [x2, y2]), bearing: 0 }
}

interface Arc {
  sigma: number
  sinSigma: number
  cosSigma: number
  cosAlpha2: number
  cosMiddle: number
}

function lengthFrom({ sigma, sinSigma, cosSigma, cosAlpha2, cosMiddle }: Arc): number {
  const u2 = (cosAlpha2 * (SEMI_MAJOR_M ** 2 - SEMI_MINOR_M ** 2)) / SEMI_MINOR_M ** 2
  const a = 1 + (u2 / 16_384) * (4_096 + u2 * (-768 + u2 * (320 - 175 * u2)))
  const b = (u2 / 1_024) * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
  const square = 2 * cosMiddle * cosMiddle - 1
  const third = (b / 6) * cosMiddle * (4 * sinSigma * sinSigma - 3) * (4 * cosMiddle * cosMiddle - 3)
  return SEMI_MINOR_M * a * (sigma - b * sinSigma * (cosMiddle + (b / 4) * (cosSigma * square - third)))
}

export const distanceM = (from: Position, to: Position): number => inverse(from, to).distanceM

export const lengthM = (line: readonly Position[]): number => line.slice(1).reduce((sum, to, index) => sum + distanceM(line[index]!, to), 0)

function angleBetween([x1, y1]: Position, [x2, y2]: Position): number {
  const [a, b] = [radians(y1), radians(y2)]
  const half = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(x2 - x1) / 2) ** 2
  return 2 * Math.asin(Math.min(1, Math.sqrt(half)))
}

/** Shorter parts look the same on the map whether they are straight or not. */
const PART_M = 50_000
const MAX_PARTS = 64

/** The line as it runs on the globe: long segments in parts, continued beyond the antimeridian. */
export function alongGlobe(line: readonly Position[], partM = PART_M): Position[] {
  const path: Position[] = line.slice(0, 1)
  for (const [index, to] of line.slice(1).entries()) {
    const from = line[index]!
    const parts = Math.min(MAX_PARTS, Math.ceil(distanceM(from, to) / partM))
    for (let part = 1; part <= parts; part++) {
      const [x, y] = part === parts ? to : onArc(from, to, part / parts)
      path.push([x + 360 * Math.round((path.at(-1)![0] - x) / 360), y])
    }
  }
  return path
}

function onArc([x1, y1]: Position, [x2, y2]: Position, share: number): Position {
  const angle = angleBetween([x1, y1], [x2, y2])
  const [a, b] = [Math.sin((1 - share) * angle) / Math.sin(angle), Math.sin(share * angle) / Math.sin(angle)]
  const [p1, l1, p2, l2] = [y1, x1, y2, x2].map(radians) as [number, number, number, number]
  const x = a * Math.cos(p1) * Math.cos(l1) + b * Math.cos(p2) * Math.cos(l2)
  const y = a * Math.cos(p1) * Math.sin(l1) + b * Math.cos(p2) * Math.sin(l2)
  const z = a * Math.sin(p1) + b * Math.sin(p2)
  return [degrees(Math.atan2(y, x)), degrees(Math.atan2(z, Math.hypot(x, y)))]
}
