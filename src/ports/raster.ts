import type { ObjectRef } from './storage.ts'
import type { ImageFormat } from '#raster/encode/format.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import type { Position } from '#raster/ingest/position.ts'
import type { Style } from '#raster/render/style.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import type { Change, ChangeOptions } from '#raster/zonal/change.ts'
import type { ZonalOptions, ZonalResult } from '#raster/zonal/index.ts'
import type { Failure, SeriesOptions, SeriesPoint } from '#raster/zonal/series.ts'
import type { MapImage, MapImageOptions } from '#raster/render/map-image.ts'

/**
 * Where a raster lies: an object of our own store, which never changes; a file of this machine; or an address that the
 * allow-list must know.
 */
export type RasterSource = { readonly object: ObjectRef } | { readonly path: string } | { readonly url: string }

interface TileRequest {
  readonly tile: TileAddress
  readonly format: ImageFormat
  readonly size?: TileSize | undefined
  readonly quality?: number | undefined
  readonly style?: Style | undefined
  readonly resampling?: Resampling | undefined
  readonly aoi?: unknown
}

/** One of several rasters that are drawn as one. */
export interface MosaicLayer {
  readonly source: RasterSource
  readonly style: Style
  readonly resampling?: Resampling | undefined
}

export interface MosaicRequest {
  readonly tile: TileAddress
  readonly format: ImageFormat
  readonly size?: TileSize | undefined
  readonly quality?: number | undefined
}

interface TerrainRequest {
  readonly tile: TileAddress
  readonly invert: boolean
  readonly aoi?: unknown
}

interface ThumbnailRequest {
  readonly width: number
  readonly height: number
  readonly quality?: number
}

export interface Asking {
  /** Entity tags that the caller has already; a match is answered without drawing anything. */
  readonly ifNoneMatch?: string | null
  readonly signal?: AbortSignal | undefined
}

/** A picture, or only its tag when the caller has it already. */
export interface Drawn {
  readonly etag: string
  readonly contentType: string
  readonly body: Buffer | null
}

export interface ConvertRequest {
  /** Samples are numbers of classes: overviews pick one of them, and never mix two. */
  readonly isCategorical: boolean
  /** Goes before the file's own georeference. */
  readonly position?: Position | undefined
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A file of this machine, which whoever asked for it takes and then removes. */
export interface ConvertedFile {
  readonly path: string
  readonly size: number
  remove(): Promise<void>
}

/** Work on rasters that makes files: one method of `#raster/process`. */
export interface ProcessRequest {
  readonly method: string
  readonly sources: readonly RasterSource[]
  /** What the method takes. */
  readonly options: object
  /** Names of the files that it makes, such as `data.tif`. */
  readonly outputs: readonly string[]
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A file of this machine. */
export interface ComputedFile {
  readonly path: string
  readonly size: number
}

/** What was made, by name; whoever asked for it takes the files and then removes them all. */
export interface ComputedFiles {
  readonly files: Readonly<Record<string, ComputedFile>>
  readonly result: Readonly<Record<string, unknown>>
  remove(): Promise<void>
}

/** A folder of this machine for files beside rasters; the sweep finds it where whoever made it was killed. */
export interface WorkFolder {
  readonly path: string
  remove(): Promise<void>
}

/** A scene of a series, and what is computed of it. */
export interface SeriesWish {
  readonly source: RasterSource
  readonly expression: string
}

/** All pixels of the platform come from here. Failures are `RasterError`s. */
export interface RasterService {
  /** Whether an address is on a host that the service reads from; nothing is asked of it. */
  mayRead(address: string): boolean
  describe(source: RasterSource, signal?: AbortSignal): Promise<RasterInfo>
  /** Many in one task, in their order; one that cannot be read says why. */
  describeMany(sources: readonly RasterSource[], signal?: AbortSignal): Promise<({ info: RasterInfo } | { failure: Failure })[]>
  tile(source: RasterSource, request: TileRequest, asking?: Asking): Promise<Drawn>
  /** Layers from the top down: each pixel is that of the first one that has it. */
  mosaic(layers: readonly MosaicLayer[], request: MosaicRequest, asking?: Asking): Promise<Drawn>
  terrain(source: RasterSource, request: TerrainRequest, asking?: Asking): Promise<Drawn>
  thumbnail(source: RasterSource, request: ThumbnailRequest, asking?: Asking): Promise<Drawn>
  statistics(source: RasterSource, options: StatisticsOptions, signal?: AbortSignal): Promise<Statistics>
  /** Statistics of many zones at once, each pixel by the share of it that lies inside. */
  zonal(source: RasterSource, options: ZonalOptions, signal?: AbortSignal): Promise<ZonalResult>
  /** One zone in many scenes, which are read in one task. */
  series(scenes: readonly SeriesWish[], options: SeriesOptions, signal?: AbortSignal): Promise<SeriesPoint[]>
  /** What changed from one scene to another, on the pixels of the first. */
  change(before: RasterSource, after: RasterSource, options: ChangeOptions, signal?: AbortSignal): Promise<Change>
  /** A rectangle of a map as one picture. */
  picture(source: RasterSource, options: MapImageOptions & { format: ImageFormat }, signal?: AbortSignal): Promise<MapImage>
  /** The value of each band under a place, null where there is no data; null altogether outside the raster. */
  point(source: RasterSource, place: { longitude: number; latitude: number }, signal?: AbortSignal): Promise<(number | null)[] | null>
  /** What is worth knowing of a file that has just come in. */
  inspect(source: RasterSource, signal?: AbortSignal): Promise<Inspection>
  /** The rows of a STAC-GeoParquet table, as lines of JSON. */
  table(bytes: Uint8Array, maxRows: number, signal?: AbortSignal): Promise<string[]>
  /** Rewrites a raster as a cloud-optimized GeoTIFF. Minutes for gigabytes, beside and behind everything else. */
  convert(source: RasterSource, request: ConvertRequest): Promise<ConvertedFile>
  /** Makes new rasters of old ones, by blocks, beside and behind everything else. */
  process(request: ProcessRequest): Promise<ComputedFiles>
  folder(): Promise<WorkFolder>
  /** Removes files of conversions that were killed before this time. */
  sweep(olderThan: Date): Promise<number>
  metrics(): Readonly<Record<string, number>>
  close(): Promise<void>
}
