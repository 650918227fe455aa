/** A position given by the caller, which overrides that of the file. */
import { parseCrs } from '#raster/crs/registry.ts'
import { RasterError } from '#raster/errors.ts'
import { fitControlPoints, scaleTransform } from '#raster/tiff/georeference.ts'
import type { Affine, Gcp, RasterInfo } from '#raster/types.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'

export interface Position {
  /** An EPSG code, such as `EPSG:32633`. */
  readonly crs: string
  /** The outer edges of the image: left, bottom, right, top, in units of `crs`. */
  readonly bounds?: readonly number[]
  /** Ground control points, in pixels from the outer corner and in units of `crs`. Without them or bounds, the file's transform is used. */
  readonly gcps?: readonly Gcp[]
}

interface PositionFault {
  readonly part: 'crs' | 'bounds' | 'gcps'
  readonly message: string
}

/** What is invalid about a position, independent of the image; null if it is valid. */
export function positionFault({ crs, bounds, gcps }: Position): PositionFault | null {
  const fault = crsFault(crs)
  if (fault) return { part: 'crs', message: fault }
  if (bounds && gcps) return { part: 'gcps', message: 'cannot be given with bounds: send one of the two' }
  if (bounds) {
    const [left, bottom, right, top] = bounds as [number, number, number, number]
    if (!(left < right && bottom < top))
      return { part: 'bounds', message: 'must be left, bottom, right, top, with left < right and bottom < top' }
    if (!cornersExist(crs, [left, bottom, right, top])) return { part: 'bounds', message: `must lie within the area of use of ${crs}` }
  }
  if (gcps && !fitControlPoints(gcps)) return { part: 'gcps', message: 'must be at least 3 points that are not on one line' }
  return null
}

function crsFault(crs: string): string | null {
  try {
    parseCrs(crs)
    return null
  } catch (error) {
    if (error instanceof RasterError) return error.message
    throw error
  }
}

/** Degrees beyond a pole are invalid in any projection. */
const MAX_LATITUDE = 90

function cornersExist(crs: string, [left, bottom, right, top]: readonly [number, number, number, number]): boolean {
  const system = parseCrs(crs)
  if (system.kind === 'geographic') return Math.max(Math.abs(bottom), Math.abs(top)) <= MAX_LATITUDE && Math.max(-left, right) <= 540
  const project = projectorToLonLat(system)
  const point: Point = [0, 0]
  return [left, right].every((x) =>
    [bottom, top].every((y) => {
      project(x, y, point)
      return Number.isFinite(point[0]) && Number.isFinite(point[1])
    }),
  )
}

/** The raster at the given position. A file without a transform needs bounds or control points. */
export function positioned(info: RasterInfo, position: Position): RasterInfo {
  const { transform, gcps, residualPx } = transformOf(info, position)
  return {
    ...info,
    crs: parseCrs(position.crs),
    crsProblem: null,
    transform,
    gcps,
    gcpResidualPx: residualPx,
    placedBy: 'caller',
    levels: info.levels.map((level) => ({
      ...level,
      transform: transform && scaleTransform(transform, info.width / level.width, info.height / level.height),
    })),
  }
}

interface Placement {
  readonly transform: Affine | null
  readonly gcps: readonly Gcp[]
  readonly residualPx: number | null
}

function transformOf({ width, height, transform, gcps, gcpResidualPx }: RasterInfo, position: Position): Placement {
  if (position.bounds) {
    const [left, bottom, right, top] = position.bounds as [number, number, number, number]
    return { transform: [left, (right - left) / width, 0, top, 0, (bottom - top) / height], gcps: [], residualPx: null }
  }
  if (!position.gcps) return { transform, gcps, residualPx: gcpResidualPx }
  const fit = fitControlPoints(position.gcps)
  if (!fit) throw new RasterError('invalid_argument', 'The control points are collinear')
  return { ...fit, gcps: position.gcps }
}
