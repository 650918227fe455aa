import { RasterError, type Affine } from '#raster/types.ts'

/** The inverse of `t`: coordinates to pixels. */
export function invertAffine(t: Affine): Affine {
  const [x0, a, b, y0, c, d] = t
  const determinant = a * d - b * c
  if (!Number.isFinite(determinant) || determinant === 0)
    throw new RasterError('no_georeference', 'The transform of the raster is not invertible')
  const [ia, ib, ic, id] = [d / determinant, -b / determinant, -c / determinant, a / determinant]
  return [-(ia * x0 + ib * y0), ia, ib, -(ic * x0 + id * y0), ic, id]
}

export const applyAffine = (t: Affine, x: number, y: number): [number, number] => [t[0] + x * t[1] + y * t[2], t[3] + x * t[4] + y * t[5]]
