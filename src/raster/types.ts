/**
 * The core types of the raster library: byte source, raster, level and block of pixels.
 * Everything else in `src/raster` uses them.
 */

export { RasterError, throwIfAborted } from '#raster/errors.ts'

/** Random access to the bytes of one file, implemented by local files, memory and HTTP ranges. */
export interface Source {
  /** Identity of the content for caches: two sources with the same key hold the same bytes. */
  readonly key: string
  /** Total size in bytes. */
  readonly size: number
  /** Strong validator of the content, or null where the origin has none. */
  readonly etag: string | null
  /**
   * Reads exactly `length` bytes from `offset`. A range outside the file, or an origin that
   * returns other bytes, is a RasterError: callers never see a short read.
   */
  fetch(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  /** The same, into memory that the caller owns and can give back (`buffers.ts`). */
  borrow?(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  close?(): Promise<void>
}

export const DATA_TYPES = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'uint64',
  'int64',
  'float16',
  'float32',
  'float64',
] as const

/**
 * The type of a sample as a reader sees it. Odd widths are unpacked into the next whole type without
 * scaling: 1–7 bit to uint8, 9–15 bit to uint16, 17–31 bit to uint32 (`RasterInfo.bitsPerSample`
 * tells the stored width).
 */
export type DataType = (typeof DATA_TYPES)[number]

/**
 * Samples in memory. 64-bit integers arrive as Float64Array (exact up to 2^53), so that no kernel needs
 * BigInt, unless a caller asks for `exact64`; float16 arrives as Float32Array, which holds it exactly.
 */
export type SampleArray = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array

export type ExactSampleArray = SampleArray | BigUint64Array | BigInt64Array

/**
 * GDAL's order: x = t[0] + column·t[1] + row·t[2], y = t[3] + column·t[4] + row·t[5], where column and
 * row count from the outer corner of the first pixel (pixel-is-point files are already shifted by half).
 */
export type Affine = readonly [number, number, number, number, number, number]

/** A resolved coordinate reference system, ready for proj4. */
export interface Crs {
  /** EPSG code, or null for one given by parameters. */
  readonly epsg: number | null
  readonly name: string
  readonly kind: 'geographic' | 'projected'
  /** A proj4 definition string; axis order is always x = east or longitude, y = north or latitude. */
  readonly proj4: string
  /** Metres per unit of a projected system; for a geographic one degrees per unit. */
  readonly unit: number
  /** Accuracy of positions on WGS 84 because of the datum, in metres; null if unknown. */
  readonly accuracyM: number | null
  /** A note for users who measure on the map, if the accuracy is worse than a few metres. */
  readonly note: string | null
}

/** One resolution of a raster. Level 0 is the full resolution; each next one is coarser. */
export interface Level {
  readonly width: number
  readonly height: number
  readonly blockWidth: number
  readonly blockHeight: number
  readonly blocksX: number
  readonly blocksY: number
  /** Pixel of this level to CRS coordinates, or null where the file has no georeference. */
  readonly transform: Affine | null
  /** False if the decoder must decode a whole block to return its first rows. */
  readonly partialRows: boolean
}

export type ColorInterpretation =
  | 'undefined'
  | 'gray'
  | 'palette'
  | 'red'
  | 'green'
  | 'blue'
  | 'alpha'
  | 'cyan'
  | 'magenta'
  | 'yellow'
  | 'black'
  | 'y'
  | 'cb'
  | 'cr'

export interface Band {
  /** The band's description, or null; expressions may use it as a name. */
  readonly name: string | null
  readonly color: ColorInterpretation
  /** Samples equal to this are not data; NaN matches NaN. Null where no sample can equal the file's value, or the file has a mask. */
  readonly nodata: number | null
  /** physical value = sample · scale + offset. */
  readonly scale: number
  readonly offset: number
  readonly unit: string | null
  /** Other names of a stack's band that expressions may use: the common name, the band's name, `asset:band`. */
  readonly aliases?: readonly string[]
  /** Why the file of a stack's band cannot be read; other bands can be. */
  readonly problem?: string
}

/**
 * Where validity comes from. `nodata` is left to the kernels (compare each sample with `Band.nodata`
 * during the gather: no second pass over the block); `alpha` and `internal` arrive as `Block.mask`.
 */
export type MaskKind = 'none' | 'nodata' | 'alpha' | 'internal'

export interface Gcp {
  readonly column: number
  readonly row: number
  readonly x: number
  readonly y: number
}

export interface RasterInfo {
  readonly width: number
  readonly height: number
  readonly bandCount: number
  readonly dataType: DataType
  readonly bitsPerSample: number
  readonly bands: readonly Band[]
  readonly levels: readonly Level[]
  readonly transform: Affine | null
  /** Ground control points the transform was fitted to, empty otherwise. */
  readonly gcps: readonly Gcp[]
  /** Root mean square distance, in pixels, between the GCPs and the fitted transform; null without GCPs. */
  readonly gcpResidualPx: number | null
  /** Origin of the transform: the file's own, a fit of control points or of a camera model, or the uploader. */
  readonly placedBy: 'transform' | 'gcps' | 'rpc' | 'caller' | null
  /** Where a file may state its acquisition time, in addition to `metadata`: items of other domains and bands, and the TIFF tag. */
  readonly times: { readonly items: readonly (readonly [string, string])[]; readonly tag: string | null }
  /** Of a stack whose files differ in extent: west, south, east, north of all of them, in degrees. The grid is that of one file. */
  readonly bounds?: readonly [number, number, number, number]
  /** Null if the file has no CRS or an unknown one: see `crsProblem` and `requireCrs`. */
  readonly crs: Crs | null
  /** Why `crs` is null although the file has geokeys. */
  readonly crsProblem: string | null
  readonly maskKind: MaskKind
  /** Values are physical: the scale and offset that a catalogue states always apply. Otherwise only if a caller asks for them. */
  readonly isScaled?: boolean
  /** The file's nodata value even where no sample can have it or a mask makes it moot; `Band.nodata` is what counts. */
  readonly declaredNodata: number | null
  /** Zero-based index of the alpha band, or null. */
  readonly alphaBand: number | null
  /** RGBA, four bytes an entry, 2^bits entries; the nodata entry is transparent as in GDAL. Null without palette. */
  readonly colorTable: Uint8Array | null
  /** Dataset-level items of GDAL_METADATA, and AREA_OR_POINT. */
  readonly metadata: Readonly<Record<string, string>>
  readonly compression: string
  readonly interleave: 'pixel' | 'band'
  readonly byteOrder: 'little' | 'big'
  readonly bigTiff: boolean
}

/**
 * Decoded pixels. Sample `k` of `bands` at pixel (x, y) is `data[k][(y * width + x) * stride + starts[k]]`.
 *
 * Pixels keep the order of the file. A chunky file gives one array that all bands
 * share (stride = bands in the file), a planar file one array per band (stride 1). A fused gather computes
 * one address per pixel and reads its bands from one cache line, and no block is ever copied only to
 * be rearranged: de-interleaving a 512² × 4 uint16 block costs as much as gathering a whole tile from it.
 */
export interface Block<A = SampleArray> {
  readonly width: number
  /** Number of decoded rows: the last strip is shorter, and `rows` may have requested fewer. */
  readonly height: number
  /** Zero-based band of the file for each entry of `data`. */
  readonly bands: readonly number[]
  readonly data: readonly A[]
  readonly starts: readonly number[]
  readonly stride: number
  /** 0 = not data, 255 = data, between = partly transparent, one byte a pixel; null when all are data or the kind is none or nodata. */
  readonly mask: Uint8Array | null
  /** Bytes held, for bounded caches. */
  readonly byteLength: number
}

export interface ReadOptions {
  /** Zero-based bands; default all. A chunky file decodes all of them anyway. */
  readonly bands?: readonly number[]
  readonly signal?: AbortSignal | undefined
}

export interface ReadBlockOptions extends ReadOptions {
  /** Rows needed from the top of the block: a partial inflate stops there. Default all. */
  readonly rows?: number
  /** The first row whose samples are needed: those above it can have any content. Default 0. */
  readonly firstRow?: number
}

export interface PixelWindow {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Raster {
  readonly info: RasterInfo
  /** Identity of the content for caches of blocks. */
  readonly key: string
  readBlock(level: number, blockX: number, blockY: number, options?: ReadBlockOptions): Promise<Block>
  /** Pixels of a window inside a level, planar (stride 1), assembled from its blocks. */
  readWindow(level: number, window: PixelWindow, options?: ReadOptions): Promise<Block>
  /** Only for a stack: the same for some zero-based bands, on the grid of the finest of them. */
  forBands?(bands: readonly number[]): Raster
  /** Only for a stack: these bands by the grid of their files. */
  byGrid?(bands: readonly number[]): readonly GridBands[]
  close(): Promise<void>
}

/** Zero-based bands whose files have the same grid, and the stack on that grid: itself, if it is its own. */
export interface GridBands {
  readonly bands: readonly number[]
  readonly raster: Raster
}
