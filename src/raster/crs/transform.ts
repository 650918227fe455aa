import proj4 from 'proj4'
import type { Crs } from '#raster/types.ts'
import { definitionsOf } from './datums.ts'

/** Converts points between two systems. Longitude and latitude are in degrees; a point outside the projection's domain is NaN. */
export interface CrsTransform {
  forward(x: number, y: number): [number, number]
  inverse(x: number, y: number): [number, number]
}

const OUTSIDE = (): [number, number] => [NaN, NaN]

export function crsTransform(from: Crs, to: Crs): CrsTransform {
  if (from.proj4 === to.proj4) return { forward: (x, y) => [x, y], inverse: (x, y) => [x, y] }
  const converter = proj4(...definitionsOf(from, to))
  return {
    forward: guarded((x, y) => converter.forward([x, y], true)),
    inverse: guarded((x, y) => converter.inverse([x, y], true)),
  }
}

/** proj4 throws for some impossible points and returns infinities for others. */
function guarded(convert: (x: number, y: number) => number[]): (x: number, y: number) => [number, number] {
  return (x, y) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return OUTSIDE()
    try {
      const [u = NaN, v = NaN] = convert(x, y)
      return Number.isFinite(u) && Number.isFinite(v) ? [u, v] : OUTSIDE()
    } catch {
      return OUTSIDE()
    }
  }
}
