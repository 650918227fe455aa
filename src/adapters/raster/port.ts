import type { ObjectRef } from '#adapters/storage/port.ts'
import type { ImageFormat } from '#raster/encode/index.ts'
import type { Style } from '#raster/render/style.ts'
import type { Statistics, StatisticsOptions } from '#raster/statistics/index.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import type { Resampling } from '#raster/warp/sample.ts'

/** Where a raster lies: an object of our own store, which never changes; a file of this machine; or an address that the allow-list must know. */
export type RasterSource = { readonly object: ObjectRef } | { readonly path: string } | { readonly url: string }

export interface TileRequest {
  readonly tile: TileAddress
  readonly format: ImageFormat
  readonly size?: TileSize | undefined
  readonly quality?: number | undefined
  readonly style?: Style | undefined
  readonly resampling?: Resampling | undefined
  readonly aoi?: unknown
}

export interface TerrainRequest {
  readonly tile: TileAddress
  readonly invert: boolean
  readonly aoi?: unknown
}

export interface ThumbnailRequest {
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

/** All pixels of the platform come from here. Failures are `RasterError`s. */
export interface RasterService {
  describe(source: RasterSource, signal?: AbortSignal): Promise<RasterInfo>
  tile(source: RasterSource, request: TileRequest, asking?: Asking): Promise<Drawn>
  terrain(source: RasterSource, request: TerrainRequest, asking?: Asking): Promise<Drawn>
  thumbnail(source: RasterSource, request: ThumbnailRequest, asking?: Asking): Promise<Drawn>
  statistics(source: RasterSource, options: StatisticsOptions, signal?: AbortSignal): Promise<Statistics>
  metrics(): Readonly<Record<string, number>>
  close(): Promise<void>
}
