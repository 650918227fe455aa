import { crsFromEpsg } from '#raster/crs/registry.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { convertToCog } from '#raster/write/convert.ts'
import type { CogCompression, OverviewMethod } from '#raster/write/spec.ts'
import { warpToCog } from '#raster/write/warp.ts'
import { blockSizeFor, onlyRaster, withFile, writeOptions, type MethodTask } from './method.ts'

interface Warp {
  /** GeoJSON in longitude and latitude. */
  readonly geometry?: unknown
  /** EPSG code of the target CRS; default: that of the raster. */
  readonly epsg?: number
  /** Pixel size in units of the target CRS. */
  readonly resolution?: number
  readonly resampling?: Resampling
  /** From 1. */
  readonly bands?: readonly number[]
}

/** Clips, reprojects and resamples. */
export async function warp(task: MethodTask<Warp>): Promise<Record<string, unknown>> {
  const { geometry, epsg, resolution, resampling, bands } = task.options
  const raster = onlyRaster(task)
  const crs = epsg === undefined ? undefined : crsFromEpsg(epsg)
  const dataType = raster.info.dataType === 'float16' ? 'float32' : raster.info.dataType
  const options = {
    ...writeOptions(task),
    compression: task.compression,
    blockSize: blockSizeFor({ width: raster.info.width, bandCount: bands?.length ?? raster.info.bandCount, dataType }),
    ...(geometry === undefined ? {} : { geometry }),
    ...(crs === undefined ? {} : { crs }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(resampling === undefined ? {} : { resampling }),
    ...(bands === undefined ? {} : { bands }),
  }
  await withFile(task, 'data.tif', (sink) => warpToCog(raster, sink, options))
  return {}
}

interface Convert {
  readonly compression?: CogCompression
  readonly blockSize?: number
  readonly overviews?: OverviewMethod
}

/** Rewrites a raster as a COG with the same samples. */
export async function convert(task: MethodTask<Convert>): Promise<Record<string, unknown>> {
  const { compression = task.compression, blockSize, overviews } = task.options
  const raster = onlyRaster(task)
  const dataType = raster.info.dataType === 'float16' ? 'float32' : raster.info.dataType
  const options = {
    ...writeOptions(task),
    compression,
    blockSize: blockSize ?? blockSizeFor({ ...raster.info, dataType }),
    ...(overviews === undefined ? {} : { overviews }),
  }
  await withFile(task, 'data.tif', (sink) => convertToCog(raster, sink, options))
  return {}
}
