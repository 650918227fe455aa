import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import type { Fields } from '#raster/tiff/fields.ts'
import { readRpc, rpcControlPoints } from '#raster/tiff/rpc.ts'
import { TAG } from '#raster/tiff/tags.ts'
import type { Affine, Gcp } from '#raster/types.ts'

interface Georeference {
  readonly transform: Affine | null
  readonly gcps: readonly Gcp[]
  readonly gcpResidualPx: number | null
  readonly placedBy: 'transform' | 'gcps' | 'rpc' | null
}

const NONE: Georeference = { transform: null, gcps: [], gcpResidualPx: null, placedBy: null }
const TIEPOINT_VALUES = 6

/** The transform of a file, in GDAL's order of preference: scale and tie point, then matrix, then ground control points. */
export async function readGeoreference(fields: Fields, pixelIsPoint: boolean): Promise<Georeference> {
  const scale = await fields.numbers(TAG.modelPixelScale)
  const tiepoints = await fields.numbers(TAG.modelTiepoint)
  if (scale && scale[0] && scale[1] && tiepoints && tiepoints.length >= TIEPOINT_VALUES) {
    return fixed(fromScale(scale, tiepoints), pixelIsPoint)
  }
  const matrix = await fields.numbers(TAG.modelTransformation)
  if (matrix && matrix.length >= 8) return fixed(fromMatrix(matrix), pixelIsPoint)
  if (tiepoints && tiepoints.length >= TIEPOINT_VALUES) return fromTiepoints(tiepoints, pixelIsPoint)
  return NONE
}

function fixed(transform: Affine, pixelIsPoint: boolean): Georeference {
  if (!isUsable(transform)) return NONE
  return { transform: pixelIsPoint ? shiftHalfPixel(transform) : transform, gcps: [], gcpResidualPx: null, placedBy: 'transform' }
}

function fromScale(scale: readonly number[], tiepoint: readonly number[]): Affine {
  const [sx = 0, sy = 0] = scale
  const [column = 0, row = 0, , x = 0, y = 0] = tiepoint
  const dy = -Math.abs(sy)
  return [x - column * sx, sx, 0, y - row * dy, 0, dy]
}

function fromMatrix(m: readonly number[]): Affine {
  const at = (index: number): number => m[index] ?? 0
  return [at(3), at(0), at(1), at(7), at(4), at(5)]
}

/** The tie point of a pixel-is-point file is the centre of the pixel, ours is its corner. */
function shiftHalfPixel([x, a, b, y, d, e]: Affine): Affine {
  return [x - (a + b) / 2, a, b, y - (d + e) / 2, d, e]
}

function isUsable([x, a, b, y, d, e]: Affine): boolean {
  return [x, a, b, y, d, e].every(Number.isFinite) && a * e - b * d !== 0
}

function fromTiepoints(values: readonly number[], pixelIsPoint: boolean): Georeference {
  const count = Math.floor(values.length / TIEPOINT_VALUES)
  if (count > LIMITS.gcpCount) throw new RasterError('limit_exceeded', `The raster has ${count} ground control points`)
  const half = pixelIsPoint ? 0.5 : 0
  const gcps: Gcp[] = []
  for (let i = 0; i < count * TIEPOINT_VALUES; i += TIEPOINT_VALUES) {
    const [column = 0, row = 0, , x = 0, y = 0] = values.slice(i, i + TIEPOINT_VALUES)
    gcps.push({ column: column + half, row: row + half, x, y })
  }
  const fit = fitControlPoints(gcps)
  return fit ? { transform: fit.transform, gcps, gcpResidualPx: fit.residualPx, placedBy: 'gcps' } : { ...NONE, gcps }
}

/** An affine fit of control points and its residual in pixels (root mean square); null if they are collinear. */
export function fitControlPoints(gcps: readonly Gcp[]): { transform: Affine; residualPx: number } | null {
  const transform = fitAffine(gcps)
  return transform && isUsable(transform) ? { transform, residualPx: residualPx(transform, gcps) } : null
}

/** An affine fit of a camera model at its mean height; its points are not the file's own. */
export async function georeferenceByRpc(fields: Fields, { width, height }: { width: number; height: number }): Promise<Georeference> {
  const model = await readRpc(fields)
  if (!model) return NONE
  const fit = fitControlPoints(rpcControlPoints(model, width, height))
  return fit ? { transform: fit.transform, gcps: [], gcpResidualPx: fit.residualPx, placedBy: 'rpc' } : NONE
}

/** Least squares over all points; null if they are collinear. */
function fitAffine(gcps: readonly Gcp[]): Affine | null {
  const n = gcps.length
  if (n < 3) return null
  const mean = (pick: (gcp: Gcp) => number): number => gcps.reduce((sum, gcp) => sum + pick(gcp), 0) / n
  // Centred coordinates keep the normal equations well conditioned.
  const c0 = mean((p) => p.column)
  const r0 = mean((p) => p.row)
  const x0 = mean((p) => p.x)
  const y0 = mean((p) => p.y)
  let cc = 0,
    cr = 0,
    rr = 0,
    cx = 0,
    rx = 0,
    cy = 0,
    ry = 0
  for (const { column, row, x, y } of gcps) {
    const c = column - c0
    const r = row - r0
    cc += c * c
    cr += c * r
    rr += r * r
    cx += c * (x - x0)
    rx += r * (x - x0)
    cy += c * (y - y0)
    ry += r * (y - y0)
  }
  const det = cc * rr - cr * cr
  if (!(det > 1e-9 * cc * rr)) return null
  const a = (cx * rr - rx * cr) / det
  const b = (rx * cc - cx * cr) / det
  const d = (cy * rr - ry * cr) / det
  const e = (ry * cc - cy * cr) / det
  return [x0 - a * c0 - b * r0, a, b, y0 - d * c0 - e * r0, d, e]
}

function residualPx([tx, a, b, ty, d, e]: Affine, gcps: readonly Gcp[]): number {
  const det = a * e - b * d
  let sum = 0
  for (const { column, row, x, y } of gcps) {
    const dx = x - (tx + column * a + row * b)
    const dy = y - (ty + column * d + row * e)
    const dc = (dx * e - dy * b) / det
    const dr = (dy * a - dx * d) / det
    sum += dc * dc + dr * dr
  }
  return Math.sqrt(sum / gcps.length)
}

/** Longitudes start at -180 or 0, some with extra turns, and pixels may extend a little beyond a pole. */
const MAX_LONGITUDE = 540
const MAX_LATITUDE = 100

/** Whether all corners can be longitudes and latitudes in degrees. */
export function fitsDegrees({ transform }: Georeference, { width, height }: { width: number; height: number }): boolean {
  if (!transform) return true
  const [x, a, b, y, d, e] = transform
  return [0, width].every((column) =>
    [0, height].every((row) => Math.abs(x + column * a + row * b) <= MAX_LONGITUDE && Math.abs(y + column * d + row * e) <= MAX_LATITUDE),
  )
}

/** The same transform with scaled coordinates: degrees instead of arc seconds, for example. */
export function inUnits(georeference: Georeference, size: number): Georeference {
  const { transform, gcps } = georeference
  if (size === 1) return georeference
  return {
    ...georeference,
    transform: transform && (transform.map((value) => value * size) as unknown as Affine),
    gcps: gcps.map((gcp) => ({ ...gcp, x: gcp.x * size, y: gcp.y * size })),
  }
}

/** The transform of a coarser level: the same corner, larger pixels. */
export function scaleTransform(transform: Affine, ratioX: number, ratioY: number): Affine {
  const [x, a, b, y, d, e] = transform
  return [x, a * ratioX, b * ratioY, y, d * ratioX, e * ratioY]
}
