/** A layer of tiles, and the source that the map library needs for it. */
import type { Box } from './geo.ts'
import type { LiveLook } from './live/live-layers.ts'

export interface RasterLayer {
  id: string
  /** A template with {z}, {x} and {y}. */
  tiles: string
  bounds?: Box | undefined
  minzoom?: number
  maxzoom?: number
  opacity?: number
  visible?: boolean
  /** Not drawn, because something else is in its place. */
  isCovered?: boolean
  /** Who must be named, as plain text. */
  attribution?: string | null
  /** Applies the style here, so that it can change without requests; null or absent: the service renders the layer. */
  live?: LiveLook | null
}

/** The map library shows an attribution as HTML. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Twice the size, a quarter of the requests. */
export const twice = (tiles: string) => tiles.replace('{y}.', '{y}@2x.')

/** The source of a layer, and the URLs of its tiles. */
export const templateOf = ({ tiles, bounds, minzoom = 0, maxzoom = 22, attribution }: Omit<RasterLayer, 'id'>) => ({
  tiles: twice(tiles),
  source: {
    tileSize: 512,
    ...(bounds ? { bounds } : {}),
    ...(attribution ? { attribution: escaped(attribution) } : {}),
    minzoom: Math.max(0, minzoom - 1),
    maxzoom: Math.max(1, maxzoom - 1),
  },
})
