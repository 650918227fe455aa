/** What `bench/service-tiles.ts` draws: files of `bench/tiles-data.py`, and how each side is asked for the same picture. */

export interface Tile {
  z: number
  x: number
  y: number
}

export interface Case {
  name: string
  file: string
  /** Zoom at which a tile's pixels are about the file's. */
  z: number
  /** The middle of the file, as a tile of that zoom. */
  middle: { x: number; y: number }
  /** Tiles from the middle that still lie inside. */
  reach: number
  ours: string
  peer: string
  /** Null where it cannot draw it. */
  mapserver: { epsg: number; processing: readonly string[] } | null
}

const UTM = { z: 14, middle: middleOf(148.33, -35.43, 14), reach: 6 }
const RGB = {
  ours: 'bands=3,2,1&rescale=400,3000',
  peer: 'bidx=3&bidx=2&bidx=1&rescale=400,3000',
  mapserver: { epsg: 32_755, processing: ['PROCESSING "BANDS=3,2,1"', 'PROCESSING "SCALE=400,3000"'] },
}

export const CASES: readonly Case[] = [
  { name: 'UTM GeoTIFF → RGB', file: 'utm-plain', ...UTM, ...RGB },
  { name: 'UTM COG → RGB', file: 'utm', ...UTM, ...RGB },
  {
    name: 'UTM GeoTIFF → NDVI',
    file: 'utm-plain',
    ...UTM,
    ours: `expression=${encodeURIComponent('(b4-b1)/(b4+b1)')}&rescale=-0.2,1&colormap=rdylgn`,
    peer: `expression=${encodeURIComponent('(b4-b1)/(b4+b1)')}&rescale=-0.2,1&colormap_name=rdylgn`,
    mapserver: null,
  },
  {
    name: 'JPEG COG 3857 → RGB',
    file: 'jpeg',
    z: 17,
    middle: mercatorMiddle(16_402_446, -4_502_446, 17),
    reach: 6,
    ours: 'bands=1,2,3',
    peer: 'bidx=1&bidx=2&bidx=3',
    mapserver: { epsg: 3857, processing: ['PROCESSING "BANDS=1,2,3"'] },
  },
  {
    name: 'DEM GeoTIFF → colours',
    file: 'dem-plain',
    z: 12,
    middle: middleOf(147.55, -36.5, 12),
    reach: 5,
    ours: 'bands=1&rescale=0,1800&colormap=terrain',
    peer: 'rescale=0,1800&colormap_name=terrain',
    mapserver: {
      epsg: 4326,
      processing: [
        'PROCESSING "SCALE=0,1800"',
        'CLASS NAME "low" EXPRESSION ([pixel] < 900) STYLE COLORRANGE 51 51 153 254 254 152 DATARANGE 0 900 RANGEITEM "pixel" END END',
        'CLASS NAME "high" EXPRESSION ([pixel] >= 900) STYLE COLORRANGE 254 254 152 255 255 255 DATARANGE 900 1800 RANGEITEM "pixel" ' +
          'END END',
      ],
    },
  },
]

export const WORKLOADS = ['session', 'scattered', 'repeated'] as const
export type Workload = (typeof WORKLOADS)[number]

const SESSION_SIDE = 8
const SCATTERED_COUNT = 48
const REPEATED_COUNT = 400

/** The same tiles for every side. Scattered ones jump so far that no block serves two of them in a row. */
export function tilesOf({ z, middle, reach }: Pick<Case, 'z' | 'middle' | 'reach'>, workload: Workload): Tile[] {
  if (workload === 'repeated') return Array.from({ length: REPEATED_COUNT }, () => ({ z, ...middle }))
  if (workload === 'session') {
    const half = SESSION_SIDE / 2
    return Array.from({ length: SESSION_SIDE ** 2 }, (_, i) => ({
      z,
      x: middle.x - half + (i % SESSION_SIDE),
      y: middle.y - half + Math.floor(i / SESSION_SIDE),
    }))
  }
  const side = reach * 2
  return Array.from({ length: SCATTERED_COUNT }, (_, i) => ({
    z,
    x: middle.x - reach + ((i * 11 + 3) % side),
    y: middle.y - reach + ((i * 7 + Math.floor(i / side) * 5) % side),
  }))
}

const PATH_STEPS = 12
const VIEW_HEIGHT = 3

/** What one of several people asks for: a view that moves by a column at each step, from a place of their own, and turns at the border. */
export function pathOf({ z, middle, reach }: Pick<Case, 'z' | 'middle' | 'reach'>, user: number): Tile[] {
  const side = reach * 2
  const [left, top] = [(user * 5) % side, (user * 7) % (side - VIEW_HEIGHT)]
  return Array.from({ length: PATH_STEPS * VIEW_HEIGHT }, (_, i) => ({
    z,
    x: middle.x - reach + ((left + Math.floor(i / VIEW_HEIGHT)) % side),
    y: middle.y - reach + top + (i % VIEW_HEIGHT),
  }))
}

export function middleOf(longitude: number, latitude: number, z: number): { x: number; y: number } {
  const radians = (latitude * Math.PI) / 180
  return { x: Math.floor(((longitude + 180) / 360) * 2 ** z), y: Math.floor(((1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2) * 2 ** z) }
}

export function mercatorMiddle(x: number, y: number, z: number): { x: number; y: number } {
  const world = 40_075_016.68557849
  return { x: Math.floor((x / world + 0.5) * 2 ** z), y: Math.floor((0.5 - y / world) * 2 ** z) }
}
