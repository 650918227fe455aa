/** The shift that follows PROJ best inside an area, where PROJ goes by several steps or by a kind of shift that proj4 does not have. */
import proj4 from 'proj4'
import type { Point, Proj } from './proj.ts'

type Vector = readonly [number, number, number]

const WGS84_FIGURE = { a: 6_378_137, es: 0.0066943799901413165 }
const DEGREE = Math.PI / 180
const ARC_SECOND = DEGREE / 3600
/** Rotations and the scale are counted in metres on the ground, so that all unknowns are of one size. */
const GROUND_M = 6_378_137
/** Keeps what the area says nothing about (its height, say) near nothing. */
const DAMPING = 1e-9

function geocentric(lon: number, lat: number, { a, es }: { a: number; es: number }): Vector {
  const n = a / Math.sqrt(1 - es * Math.sin(lat) ** 2)
  return [n * Math.cos(lat) * Math.cos(lon), n * Math.cos(lat) * Math.sin(lon), n * (1 - es) * Math.sin(lat)]
}

/** Three numbers, and seven, for `towgs84`; none where PROJ does not compute the area. */
export function fitShift(proj: Proj, base: number, figure: string, places: readonly Point[]): string[] {
  const local = proj.transform('EPSG:4326', `EPSG:${base}`, places)
  if (!local || local.includes(null)) return []
  const crs = new proj4.Proj(`+proj=longlat ${figure}`) as { a: number; es: number; from_greenwich?: number }
  const rows: { row: number[]; value: number }[] = []
  places.forEach(([lon, lat], i) => {
    const [localLon, localLat] = local[i]!
    const from = geocentric(localLon * DEGREE + (crs.from_greenwich ?? 0), localLat * DEGREE, crs)
    const to = geocentric(lon * DEGREE, lat * DEGREE, WGS84_FIGURE)
    const [x, y, z] = from.map((value) => value / GROUND_M) as [number, number, number]
    // Unknowns: a shift, turns about the axes (position vectors), a scale.
    const effect: [number[], number[], number[]] = [
      [1, 0, 0, 0, z, -y, x],
      [0, 1, 0, -z, 0, x, y],
      [0, 0, 1, y, -x, 0, z],
    ]
    const [sinLon, cosLon, sinLat, cosLat] = [
      Math.sin(lon * DEGREE),
      Math.cos(lon * DEGREE),
      Math.sin(lat * DEGREE),
      Math.cos(lat * DEGREE),
    ]
    const directions: Vector[] = [
      [-sinLon, cosLon, 0],
      [-sinLat * cosLon, -sinLat * sinLon, cosLat],
    ]
    for (const direction of directions) {
      const along = (values: readonly number[]) => direction.reduce((sum, part, axis) => sum + part * values[axis]!, 0)
      rows.push({
        row: Array.from({ length: 7 }, (_, unknown) => along(effect.map((line) => line[unknown]!))),
        value: along(to.map((value, axis) => value - from[axis]!)),
      })
    }
  })
  const three = solve(rows, 3)
  const [dx, dy, dz, rx, ry, rz, scale] = solve(rows, 7) as [number, number, number, number, number, number, number]
  const seven = [dx, dy, dz, ...[rx, ry, rz].map((turn) => turn / GROUND_M / ARC_SECOND), (scale / GROUND_M) * 1e6]
  return [three.map((value) => value.toFixed(3)).join(','), seven.map((value) => value.toFixed(5)).join(',')]
}

/** Least squares by damped normal equations. */
function solve(rows: readonly { row: readonly number[]; value: number }[], count: number): number[] {
  const matrix = Array.from({ length: count }, (_, i) =>
    Array.from({ length: count + 1 }, (_, j) =>
      rows.reduce((sum, { row, value }) => sum + row[i]! * (j === count ? value : row[j]!), i === j ? DAMPING : 0),
    ),
  )
  for (let i = 0; i < count; i++) {
    const pivot = matrix.slice(i).reduce((best, row, k) => (Math.abs(row[i]!) > Math.abs(matrix[best]![i]!) ? i + k : best), i)
    ;[matrix[i], matrix[pivot]] = [matrix[pivot]!, matrix[i]!]
    for (let k = 0; k < count; k++) {
      if (k === i) continue
      const factor = matrix[k]![i]! / matrix[i]![i]!
      for (let j = i; j <= count; j++) matrix[k]![j]! -= factor * matrix[i]![j]!
    }
  }
  return matrix.map((row, i) => row[count]! / row[i]!)
}
