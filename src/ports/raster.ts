import type { PlannedProcess } from '#raster/process/index.ts'
import type { CogCompression } from '#raster/write/spec.ts'
import type { ObjectRef } from './storage.ts'
import type { ImageFormat } from '#raster/encode/format.ts'
import type { CacheMetrics } from '#raster/cache.ts'
import type { Inspection } from '#raster/ingest/inspect.ts'
import type { Position } from '#raster/ingest/position.ts'
import type { PoolMetrics } from '#raster/pool/pool.ts'
import type { Style } from '#raster/render/style.ts'
import type { StackBand } from '#raster/stack/band.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import type { Change, ChangeOptions } from '#raster/zonal/change.ts'
import type { ZonalOptions, ZonalResult } from '#raster/zonal/index.ts'
import type { Failure, SeriesOptions, SeriesPoint } from '#raster/zonal/series.ts'
import type { MapImage, MapImageOptions } from '#raster/render/map-image.ts'

/** One raster file: an object of the built-in store, which never changes; a local file; or a URL, whose host must be on the allow-list. */
export type FileSource = { readonly object: ObjectRef } | { readonly path: string } | { readonly url: string }

export type { StackBand }

/** One band of a stack, in its file. */
export interface StackMember extends StackBand {
  readonly source: FileSource
  /** Why the file cannot be read yet; it is not opened then. */
  readonly problem?: string
}

/** Bands of several files as one raster. Only the files of the used bands are opened. */
export interface StackSource {
  readonly stack: readonly StackMember[]
  /** 1-based bands that will be used; the service derives them from each request if they are not given. */
  readonly used?: readonly number[]
}

/** Where a raster is stored. */
export type RasterSource = FileSource | StackSource

interface TileRequest {
  readonly tile: TileAddress
  readonly format: ImageFormat
  readonly size?: TileSize | undefined
  readonly quality?: number | undefined
  readonly style?: Style | undefined
  readonly resampling?: Resampling | undefined
  readonly aoi?: unknown
}

/** Samples instead of colours: those that a tile of the style is rendered from. */
type DataTileRequest = Pick<TileRequest, 'tile' | 'size' | 'style' | 'resampling'>

/** One of several rasters that are rendered as one. */
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

export interface ConditionalOptions {
  /** Entity tags of copies that the caller has; if one matches, nothing is rendered. */
  readonly ifNoneMatch?: string | null
  readonly signal?: AbortSignal | undefined
}

/** An image; `body` is null if the caller already has it. */
export interface RenderedImage {
  readonly etag: string
  readonly contentType: string
  readonly body: Buffer | null
}

export interface ConvertRequest {
  /** Pixel values are class codes: overviews pick one value and never average. */
  readonly isCategorical: boolean
  /** Overrides the file's own georeference. */
  readonly position?: Position | undefined
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A local file; the caller must remove it after use. */
export interface ConvertedFile {
  readonly path: string
  readonly size: number
  remove(): Promise<void>
}

/** Processing that writes new rasters: one method of `#raster/process`. */
export interface ProcessRequest {
  readonly method: string
  readonly sources: readonly RasterSource[]
  /** Options of the method. */
  readonly options: object
  /** Names of the files that it writes, such as `data.tif`. */
  readonly outputs: readonly string[]
  /** Rows of each raster to write, at full resolution, instead of whole files. */
  readonly part?: { readonly from: number; readonly to: number }
  /** The headers of the sources, as `planProcess` gives them: each is then opened when it is first read. */
  readonly headers?: string
  /** Of the files; by default as this process writes them. */
  readonly compression?: CogCompression
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A local file. */
export interface ComputedFile {
  readonly path: string
  readonly size: number
}

/** Output files by name; the caller must remove them all after use. */
export interface ComputedFiles {
  readonly files: Readonly<Record<string, ComputedFile>>
  readonly result: Readonly<Record<string, unknown>>
  remove(): Promise<void>
}

/** A local folder for intermediate files. If its process is killed, the sweep removes it. */
export interface WorkFolder {
  readonly path: string
  remove(): Promise<void>
}

/** A scene of a time series, and the expression to compute from it. */
export interface SeriesScene {
  readonly source: RasterSource
  readonly expression: string
}

/** Reads, renders and computes rasters, in child processes. Failures are `RasterError`s. */
/** Counts since the start, and the present state. */
export interface RasterMetrics {
  readonly pools: { readonly images: PoolMetrics; readonly conversions: PoolMetrics }
  /** `stored_images` only with a tile cache in the object store; its evictions are tiles that were not written. */
  readonly caches: { readonly images: CacheMetrics; readonly files: CacheMetrics; readonly stored_images?: CacheMetrics }
}

export interface RasterService {
  /** Whether the service may read from the host of a URL. Sends no request. */
  canRead(url: string): boolean
  describe(source: RasterSource, signal?: AbortSignal): Promise<RasterInfo>
  /** Describes many sources in one task, in their order; a source that cannot be read has a `failure`. */
  describeMany(sources: readonly RasterSource[], signal?: AbortSignal): Promise<({ info: RasterInfo } | { failure: Failure })[]>
  tile(source: RasterSource, request: TileRequest, conditional?: ConditionalOptions): Promise<RenderedImage>
  dataTile(source: RasterSource, request: DataTileRequest, conditional?: ConditionalOptions): Promise<RenderedImage>
  /** Layers from top to bottom: each pixel comes from the first layer that has data there. */
  mosaic(layers: readonly MosaicLayer[], request: MosaicRequest, conditional?: ConditionalOptions): Promise<RenderedImage>
  terrain(source: RasterSource, request: TerrainRequest, conditional?: ConditionalOptions): Promise<RenderedImage>
  thumbnail(source: RasterSource, request: ThumbnailRequest, conditional?: ConditionalOptions): Promise<RenderedImage>
  statistics(source: RasterSource, options: StatisticsOptions, signal?: AbortSignal): Promise<Statistics>
  /** Statistics of many zones at once; each pixel is weighted by the share of it inside the zone. */
  zonal(source: RasterSource, options: ZonalOptions, signal?: AbortSignal): Promise<ZonalResult>
  /** Statistics of one zone in many scenes, read in one task. */
  series(scenes: readonly SeriesScene[], options: SeriesOptions, signal?: AbortSignal): Promise<SeriesPoint[]>
  /** Change between two scenes, on the pixel grid of the first. */
  change(before: RasterSource, after: RasterSource, options: ChangeOptions, signal?: AbortSignal): Promise<Change>
  /** A map extent as one image. */
  mapImage(source: RasterSource, options: MapImageOptions & { format: ImageFormat }, signal?: AbortSignal): Promise<MapImage>
  /** The value of each band at a position, null for nodata; null instead of the array outside the raster. */
  point(source: RasterSource, place: { longitude: number; latitude: number }, signal?: AbortSignal): Promise<(number | null)[] | null>
  /** The values of 1-based bands at places in a row, each as `point` returns them, from the overview that fits their distance. */
  line(
    source: RasterSource,
    request: { bands: readonly number[]; places: readonly { longitude: number; latitude: number }[] },
    signal?: AbortSignal,
  ): Promise<((number | null)[] | null)[]>
  /** Properties of a newly received file: what it is and whether it must be converted. */
  inspect(source: RasterSource, signal?: AbortSignal): Promise<Inspection>
  /** The rows of a STAC GeoParquet table, as lines of JSON. */
  table(bytes: Uint8Array, maxRows: number, signal?: AbortSignal): Promise<string[]>
  /** Converts a raster to a cloud-optimized GeoTIFF. Gigabytes take minutes, at low priority in a separate process. */
  convert(source: RasterSource, request: ConvertRequest): Promise<ConvertedFile>
  /** Computes new rasters block by block, at low priority in a separate process. */
  process(request: ProcessRequest): Promise<ComputedFiles>
  /** How the outputs of `process` can be divided into parts; reads headers only. */
  planProcess(request: ProcessRequest): Promise<PlannedProcess>
  /** How many conversions and processes run at a time; more wait. */
  readonly parallelProcesses: number
  /** How it compresses the files that it writes. */
  readonly compression: CogCompression
  /** Changes when the same request gives other pixels. */
  readonly renderingVersion: number
  createWorkFolder(): Promise<WorkFolder>
  /** Removes files that killed conversions left before this time; returns how many. */
  sweep(olderThan: Date): Promise<number>
  metrics(): RasterMetrics
  close(): Promise<void>
}
