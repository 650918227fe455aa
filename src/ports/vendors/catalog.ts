/** The catalogue of a host: scenes, their previews and their files. */
import type { AreaGeometry, Geometry } from '#core/geometry.ts'
import type { CallOptions } from './call.ts'
import type { Bbox } from './source.ts'

export interface VendorCatalog {
  search(query: SceneSearch, options?: CallOptions): Promise<ScenePage>
  /** Throws if the host cannot be searched. */
  probe(options?: CallOptions): Promise<void>
  /** Null if the host does not have the scene. */
  scene(id: string, options?: CallOptions): Promise<Scene | null>
  /** The host's own preview image of a scene; null if it has none. */
  preview(scene: Scene, kind: 'thumbnail' | 'overview', options?: CallOptions): Promise<PreviewImage | null>
  /** Reads a file from the host itself; `refused` if the URL is elsewhere. */
  read(href: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>
}

/** Files that can only be read with a signature, which expires. Items and caches keep the URL without it. */
export interface FileUrls {
  isSigned(url: string): boolean
  /** With a valid signature. `refused` is the version of a signature that the host did not accept. */
  sign(url: string, refused: string | null): Promise<SignedUrl>
}

export interface FileDownload {
  /** Of the whole file; null if the host does not state it. */
  readonly sizeBytes: number | null
  /** Identifies the content, so that a resumed transfer is of the same file; null if the host states nothing. */
  readonly version: string | null
  readonly body: AsyncIterable<Uint8Array>
}

export interface SignedUrl {
  readonly url: string
  readonly version: string
  /** How long the signature can still be used. */
  readonly validMs: number
}

export interface SceneSearch {
  readonly collections?: readonly string[]
  readonly ids?: readonly string[]
  /** Inclusive; null for an open interval. */
  readonly from?: Date | null
  readonly to?: Date | null
  readonly bbox?: Bbox
  readonly intersects?: AreaGeometry
  readonly cloudCover?: { readonly operator: 'GTE' | 'LTE' | 'GT' | 'LT'; readonly percent: number }
  readonly limit: number
  /** The host's cursor from the previous page. */
  readonly cursor?: string | null
}

export interface ScenePage {
  readonly scenes: readonly Scene[]
  /** Null on the last page. */
  readonly cursor: string | null
}

export interface Scene {
  readonly id: string
  readonly collection: string
  readonly geometry: Geometry | null
  readonly bbox: Bbox | null
  /** Acquisition time, or its start. */
  readonly datetime: string | null
  /** Percent; null if unknown. */
  readonly cloudCover: number | null
  /** As the host returns them, with STAC names. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly assets: Readonly<Record<string, SceneAsset>>
  /** The product to order it as; null for open data. */
  readonly productId: string | null
  /** The scene's own URL at the host, and that of its licence; null if the host states none. */
  readonly url: string | null
  readonly licenseUrl: string | null
}

export interface SceneAsset {
  readonly href: string
  readonly type: string | null
  readonly title: string | null
  readonly roles: readonly string[]
  /** What else the host states about the file, in STAC's names: `eo:bands`, `raster:bands`, `bands`, `gsd`, `proj:shape`. */
  readonly fields: Readonly<Record<string, unknown>>
}

interface PreviewImage {
  readonly contentType: string
  readonly bytes: Buffer
}
