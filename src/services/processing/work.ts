/**
 * What a job reads and writes, computed from its parameters and the headers of its rasters before anything is charged. The price,
 * the room that is reserved and the limits all follow from it.
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

/** Over all rasters that one job writes: 100,000 by 100,000. */
export const MAX_OUTPUT_PIXELS = 10_000_000_000
/** What the smaller copies of a raster add to it, and what is lost where pixels are noise. */
const OVERVIEW_SHARE = 1.36
/** Header, tables and metadata of a raster. */
const HEADER_BYTES = 64 * 1024
/** A file of lines or areas that one job writes is not larger than this. */
export const MAX_VECTOR_BYTES = 1024 ** 3
const VECTOR_BYTES_PER_PIXEL = 64
const VECTOR_HEADER_BYTES = 1024 ** 2

interface Effort {
  /** Samples that are read or written: pixels times bands. */
  samples: number
  /** What the outputs take in the store at most. */
  bytes: number
}

/** 422 where it would write more than a job may, 400 where nothing can come of it. */
export function effortOf(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Effort {
  if (sources.length === 0) return { samples: 0, bytes: 0 }
  const { reads, rasters, otherBytes = 0, field = 'geometry' } = planned(process, params, sources)
  const pixels = rasters.reduce((sum, { width, height }) => sum + width * height, 0)
  const widest = rasters.find(({ width, height }) => Math.max(width, height) > LIMITS.sidePx)
  if (!(pixels <= MAX_OUTPUT_PIXELS) || widest) throw invalidField(field, tooLarge(rasters, pixels))
  const samples = reads + rasters.reduce((sum, { width, height, bandCount }) => sum + width * height * bandCount, 0)
  return { samples, bytes: Math.ceil(otherBytes + rasters.reduce((sum, raster) => sum + bytesOf(raster), 0)) }
}

function planned(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Work {
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
    `would make the job write ${all}; a job writes at most ${whole(MAX_OUTPUT_PIXELS)} pixels, and ${whole(LIMITS.sidePx)} ` +
    `along a side. Choose a coarser resolution or a smaller geometry, or make several jobs.`
  )
}

/** Uncompressed, with its overviews and a mask. */
const bytesOf = ({ width, height, bandCount, dataType }: WrittenRaster): number =>
  width * height * (bandCount * bytesPerSample(dataType === 'float16' ? 'float32' : dataType) + 1) * OVERVIEW_SHARE + HEADER_BYTES

/** Samples that a source gives: those of the window under the geometry, in all its bands. */
const readOf = ({ info }: OpenSource, geometry: unknown): number => {
  const { width, height } = geometry === undefined ? info : windowOf(info, geometry)
  return width * height * info.bandCount
}

function windowOf(info: RasterInfo, geometry: unknown): { width: number; height: number } {
  try {
    return targetOf(info, { geometry }).grid
  } catch (error) {
    // Of several rasters, one may lie beside the geometry.
    if (!(error instanceof RasterError)) throw error
    return { width: 0, height: 0 }
  }
}

export const readsOf = (sources: readonly OpenSource[], geometry?: unknown): number =>
  sources.reduce((sum, source) => sum + readOf(source, geometry), 0)

/** A process that writes rasters on the grid of the one that it reads, or on the part of it under a geometry. */
export function onOwnGrid(source: OpenSource, geometry: unknown, made: Pick<WrittenRaster, 'bandCount' | 'dataType'>): Work {
  const { width, height } = targetOf(source.info, geometry === undefined ? {} : { geometry }).grid
  return {
    reads: readsOf([source], geometry),
    rasters: [{ width, height, ...made }],
    field: geometry === undefined ? 'item_id' : 'geometry',
  }
}

interface WarpParams {
  readonly epsg?: number
  readonly resolution?: number
  readonly geometry?: unknown
  readonly bands?: readonly number[]
}

/** One raster that is clipped, reprojected or resampled. */
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

/** Several rasters on one grid. */
export function onCommonGrid(
  sources: readonly OpenSource[],
  options: GridOptions,
  made: readonly Pick<WrittenRaster, 'bandCount' | 'dataType'>[],
): Work {
  const { width, height } = planCommonGrid(
    sources.map(({ info }) => info),
    options,
  ).grid
  return {
    reads: readsOf(sources, options.geometry),
    rasters: made.map((each) => ({ width, height, ...each })),
    field: options.resolution === undefined ? 'geometry' : 'resolution',
  }
}

/** Lines or areas that are drawn of a raster. */
export function drawn(source: OpenSource, geometry?: unknown): Work {
  const reads = readsOf([source], geometry)
  const pixels = reads / source.info.bandCount
  return { reads, rasters: [], otherBytes: Math.min(MAX_VECTOR_BYTES, VECTOR_HEADER_BYTES + VECTOR_BYTES_PER_PIXEL * pixels) }
}

/** Each zone reads the part of the raster under its box, one after another. */
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
