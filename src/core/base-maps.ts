/** Base maps that an operator adds to the built-in one. */

export const THEMES = ['light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** What the settings say about one of them. */
export interface BaseMapSetting {
  readonly id: 'streets' | 'satellite'
  readonly name: string
  /** A MapLibre style, a template of raster tiles, or a PMTiles archive. */
  readonly kind: 'style' | 'raster' | 'pmtiles'
  /** A URL, which can contain a key, or the path of a file. */
  readonly location: string
  readonly attribution: string
}

/** A part of a MapLibre style. Its addresses are paths of this service. */
export interface BaseMapDocument {
  readonly sources: Readonly<Record<string, object>>
  readonly layers: readonly object[]
  readonly sprites: readonly { readonly id: string; readonly url: string }[]
  /** Plain text, of all sources. */
  readonly attribution: string
}

export interface BaseMapFile {
  readonly type: string
  readonly bytes: Buffer
}

/** Reads base maps where they are, so that neither their keys nor the addresses of users leave the service. */
export interface BaseMaps {
  readonly list: readonly { readonly id: string; readonly name: string }[]
  /** The addresses in it start with `prefix`. Throws a problem if the map cannot be reached. */
  style(id: string, options: { theme: Theme; prefix: string }): Promise<BaseMapDocument>
  /** Null if there is no such tile. */
  tile(id: string, source: string, place: { z: number; x: number; y: number }): Promise<BaseMapFile | null>
  sprite(id: string, sprite: string, suffix: string): Promise<BaseMapFile | null>
  /** The GeoJSON of a source. */
  data(id: string, source: string): Promise<BaseMapFile | null>
  close(): Promise<void>
}
