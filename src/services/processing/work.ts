/**
 * How much a job reads and writes, computed from its parameters and the headers of its rasters before anything is charged.
 * The price, the storage reservation and the limits are derived from it.
 */
import { invalidField, problem } from '#core/problem.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { boxOf, readPolygons } from '#raster/geometry/polygon.ts'
import { LIMITS } from '#raster/limits.ts'
import { planCommonGrid, type GridOptions } from '#raster/process/grid.ts'
import { bytesPerSample } from '#raster/tiff/sample.ts'
import { lonLatExtent } from '#raster/warp/extent.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { targetOf } from '#raster/write/warp.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import type { AnyProcess, OpenSource, Work, WrittenRaster } from './process.ts'

/** Over all output rasters of a job: 100,000 × 100,000. */
export const MAX_OUTPUT_PIXELS = 10_000_000_000
/** Factor for overviews, and for noise that compression enlarges. */
const OVERVIEW_SHARE = 1.36
/** Header, tables and metadata of a raster. */
const HEADER_BYTES = 64 * 1024
/** Maximum reservation for a vector file; a larger file must fit the quota when it is registered. */
const MAX_VECTOR_BYTES = 1024 ** 3
const VECTOR_BYTES_PER_PIXEL = 64
const VECTOR_HEADER_BYTES = 1024 ** 2

interface Effort {
  /** Samples read and written: pixels times bands. */
  samples: number
  /** Maximum storage of the outputs. */
  bytes: number
}

/** 422 if the outputs exceed the limits of a job, 400 if there would be none. */
export function effortOf(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Effort {
  if (sources.length === 0) return { samples: 0, bytes: 0 }
  const { reads, rasters, otherBytes = 0, field = 'geometry' } = workOf(process, params, sources)
  const pixels = rasters.reduce((sum, { width, height }) => sum + width * height, 0)
  const widest = rasters.find(({ width, height }) => Math.max(width, height) > LIMITS.sidePx)
  if (!(pixels <= MAX_OUTPUT_PIXELS) || widest) throw invalidField(field, tooLarge(rasters, pixels))
  const samples = reads + rasters.reduce((sum, { width, height, bandCount }) => sum + width * height * bandCount, 0)
  return { samples, bytes: Math.ceil(otherBytes + rasters.reduce((sum, raster) => sum + bytesOf(raster), 0)) }
}

function workOf(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Work {
  try {
    return process.work(params, sources)
  } catch (error) {
    throw error instanceof RasterError ? problem('bad-request', error.message) : error
  }
}

function tooLarge(rasters: readonly WrittenRaster[], pixels: number): string {
  const [{ width, height }] = rasters.toSorted((a, b) => b.width * b.height - a.width * a.height) as [WrittenRaster]
  const whole = (count: number) => count.toLocaleString('en')
  const all = rasters.length > 1 ? `${whole(pixels)} pixels in ${rasters.length} rasters` : `${whole(width)} × ${whole(height)} pixels`
  return (
    `results in ${all}; a job can write at most ${whole(MAX_OUTPUT_PIXELS)} pixels, and ${whole(LIMITS.sidePx)} ` +
    `per side. Choose a coarser resolution or a smaller geometry, or create several jobs.`
  )
}

/** Uncompressed size with overviews and a mask. */
const bytesOf = ({ width, height, bandCount, dataType }: WrittenRaster): number =>
  width * height * (bandCount * bytesPerSample(dataType === 'float16' ? 'float32' : dataType) + 1) * OVERVIEW_SHARE + HEADER_BYTES

/** Samples read from a source: the window of the geometry, in all bands. */
const readOf = ({ info }: OpenSource, geometry: unknown): number => {
  const { width, height } = geometry === undefined ? info : windowOf(info, geometry)
  return width * height * info.bandCount
}

function windowOf(info: RasterInfo, geometry: unknown): { width: number; height: number } {
  try {
    return targetOf(info, { geometry }).grid
  } catch (error) {
    // Of several rasters, one can lie outside the geometry.
    if (!(error instanceof RasterError)) throw error
    return { width: 0, height: 0 }
  }
}

export const readsOf = (sources: readonly OpenSource[], geometry?: unknown): number =>
  sources.reduce((sum, source) => sum + readOf(source, geometry), 0)

/** The output has the grid of its source, or the part of it inside the geometry. */
export function onOwnGrid(source: OpenSource, geometry: unknown, outputs: Pick<WrittenRaster, 'bandCount' | 'dataType'>): Work {
  const { width, height } = targetOf(source.info, geometry === undefined ? {} : { geometry }).grid
  return {
    reads: readsOf([source], geometry),
    rasters: [{ width, height, ...outputs }],
    field: geometry === undefined ? 'item_id' : 'geometry',
  }
}

interface WarpParams {
  readonly epsg?: number
  readonly resolution?: number
  readonly geometry?: unknown
  readonly bands?: readonly number[]
}

/** The output is clipped, reprojected or resampled. */
export function warped(source: OpenSource, { epsg, resolution, geometry, bands }: WarpParams): Work {
  const { width, height } = targetOf(source.info, {
    ...(epsg === undefined ? {} : { crs: crsFromEpsg(epsg) }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(geometry === undefined ? {} : { geometry }),
  }).grid
  const { bandCount, dataType } = source.info
  return {
    reads: readsOf([source], geometry),
    rasters: [{ width, height, bandCount: bands?.length ?? bandCount, dataType }],
    field: resolution === undefined ? 'geometry' : 'resolution',
  }
}

/** The outputs share a grid that all sources are resampled to. */
export function onCommonGrid(
  sources: readonly OpenSource[],
  options: GridOptions,
  outputs: readonly Pick<WrittenRaster, 'bandCount' | 'dataType'>[],
): Work {
  const { width, height } = planCommonGrid(
    sources.map(({ info }) => info),
    options,
  ).grid
  return {
    reads: readsOf(sources, options.geometry),
    rasters: outputs.map((output) => ({ width, height, ...output })),
    field: options.resolution === undefined ? 'geometry' : 'resolution',
  }
}

/** The output is a vector file. */
export function vectorized(source: OpenSource, geometry?: unknown): Work {
  const reads = readsOf([source], geometry)
  const pixels = reads / source.info.bandCount
  return { reads, rasters: [], otherBytes: Math.min(MAX_VECTOR_BYTES, VECTOR_HEADER_BYTES + VECTOR_BYTES_PER_PIXEL * pixels) }
}

/** Each zone reads the part of the raster inside its bounding box. */
export function readsOfZones({ info }: OpenSource, zones: readonly { geometry: unknown }[]): number {
  const { crs, transform } = placementOf(info)
  const extent = lonLatExtent({ width: info.width, height: info.height, transform, crs })
  const all = info.width * info.height * info.bandCount
  if (!extent) return all * zones.length
  const { west, south, east, north } = extent
  return zones.reduce((sum, { geometry }) => {
    const { minX, minY, maxX, maxY } = boxOf(readPolygons(geometry))
    const across = Math.min(maxX, east) - Math.max(minX, west)
    const down = Math.min(maxY, north) - Math.max(minY, south)
    return sum + Math.ceil((all * Math.max(0, across) * Math.max(0, down)) / ((east - west) * (north - south)))
  }, 0)
}
