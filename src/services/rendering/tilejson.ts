import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import type { Layer } from '#model/imagery/item-layer.ts'
import type { Coverage } from '#raster/warp/coverage.ts'

export const TileJson = Closed(
  {
    tilejson: Type.Literal('3.0.0', { description: 'TileJSON version' }),
    name: Type.String({ description: 'Tileset name' }),
    description: Described(Type.Optional(Type.String()), 'Tileset description'),
    version: Type.String({ description: 'Tileset version' }),
    attribution: Described(Type.Optional(Type.String()), 'Attribution and licence to show with the map'),
    scheme: Type.Literal('xyz', { description: 'Row order: `xyz`, counted from the north' }),
    tiles: Type.Array(Type.String(), { description: 'Tile URL templates with `{z}`, `{x}` and `{y}`' }),
    minzoom: Type.Integer({ description: 'Lowest zoom level with tiles' }),
    maxzoom: Type.Integer({ description: 'Zoom level of full resolution' }),
    bounds: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'Bounding box as west, south, east, north in degrees' }),
    center: Type.Array(Type.Number(), { minItems: 3, maxItems: 3, description: 'Longitude, latitude and zoom level of the initial view' }),
  },
  { $id: 'TileJson', description: 'A TileJSON document' },
)

export const EXAMPLE_TILEJSON = {
  tilejson: '3.0.0' as const,
  name: 'Harbour',
  version: '1.0.0',
  scheme: 'xyz' as const,
  tiles: ['https://imagery.example/api/v1/items/0199f2c6-2222-7abc-8def-0123456789ab/tiles/{z}/{x}/{y}.webp?profile=ndvi'],
  minzoom: 6,
  maxzoom: 14,
  bounds: [151, -34, 152, -33],
  center: [151.5, -33.5, 9],
}

interface Described {
  name: string
  description: string | null
  /** Plain text; omitted if unknown. */
  attribution: string | null
  tiles: string
}

/** Tells a map client the URL of the tiles, their bounds and their zoom levels. */
export function tileJson({ name, description, attribution, tiles }: Described, { bounds, center, minZoom, maxZoom }: Coverage) {
  return {
    tilejson: '3.0.0' as const,
    name,
    ...(description === null ? {} : { description }),
    version: '1.0.0',
    ...(attribution === null ? {} : { attribution: escaped(attribution) }),
    scheme: 'xyz' as const,
    tiles: [tiles],
    minzoom: minZoom,
    maxzoom: maxZoom,
    bounds: bounds.map(rounded),
    center: [rounded(center[0]), rounded(center[1]), center[2]],
  }
}

/** Map clients insert the attribution as HTML. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** About a centimetre on the ground. */
const rounded = (degrees: number): number => Math.round(degrees * 1e7) / 1e7

interface TemplateOptions {
  baseUrl: string
  /** `items/{id}`, `collections/{id}` or `analytics/{id}`. */
  of: { kind: 'items' | 'collections' | 'analytics'; id: string }
  format?: string | undefined
  /** 512 requests tiles of twice the side. */
  size?: 256 | 512 | null | undefined
  /** Placeholders for zoom, column and row, as the client writes them. */
  place?: string
  parameters: Readonly<Record<string, string | null | undefined>>
}

/** A URL template of tiles. It names a profile and never contains a range. */
export function tileTemplate({ baseUrl, of, format = 'webp', size, place = '{z}/{x}/{y}', parameters }: TemplateOptions): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) => (value == null ? [] : [`${name}=${value.startsWith('{') ? value : encodeURIComponent(value)}`]))
    .join('&')
  const file = `${place}${size === 512 ? '@2x' : ''}.${format}${query ? `?${query}` : ''}`
  return `${baseUrl}/api/v1/${of.kind}/${encodeURIComponent(of.id)}/tiles/${file}`
}

/** A saved profile is named with its version, so that no cache returns tiles of an older style. */
export function profileParameters(layer: Layer, requested: string | null | undefined): Record<string, string | null> {
  if (!layer.profile) return { profile: requested ?? null }
  return { profile: layer.profile.id, v: String(layer.profile.version) }
}
