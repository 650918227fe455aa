/** A MapLibre style as the console can use it: only what can be drawn below imagery, and every address is one of this service. */
import type { BaseMapDocument } from '#core/base-maps.ts'

/** Where the service finds what a source needs. */
export type Upstream =
  | { readonly kind: 'tiles'; readonly templates: readonly string[]; readonly isVector: boolean; readonly isTms: boolean }
  | { readonly kind: 'archive'; readonly url: string }
  | { readonly kind: 'data'; readonly url: string }

export interface Plan {
  readonly document: BaseMapDocument
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** URLs without the suffix. */
  readonly sprites: ReadonlyMap<string, string>
}

interface Json {
  readonly [name: string]: unknown
}

/** Reads the description of a source: TileJSON, or the header of an archive. */
export interface Readers {
  json(url: string): Promise<unknown>
  archive(url: string): Promise<ArchiveInfo>
}

export interface ArchiveInfo {
  readonly isVector: boolean
  readonly minzoom: number
  readonly maxzoom: number
  readonly bounds: readonly number[]
  readonly attribution: string
  /** Names of its vector layers. */
  readonly layers: readonly string[]
}

/** Why a style cannot be used. Names no address, because it can contain a key. */
export class StyleError extends Error {}

const MAX_SOURCES = 20
const MAX_LAYERS = 1_000
const MAX_SPRITES = 8
const TILED = new Set(['vector', 'raster', 'raster-dem'])
const DRAWN = new Set(['background', 'fill', 'line', 'symbol', 'circle', 'fill-extrusion', 'heatmap', 'hillshade', 'raster'])
const ARCHIVE = 'pmtiles://'

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `prefix` stands for the place where this service serves the map; it is put in when a style is sent. */
export const PREFIX = '{prefix}'

export async function planStyle(style: unknown, base: string, readers: Readers): Promise<Plan> {
  if (!isObject(style) || !isObject(style['sources']) || !Array.isArray(style['layers']))
    throw new StyleError('is not a MapLibre style: it has no sources or layers')
  const entries = Object.entries(style['sources'])
  if (entries.length > MAX_SOURCES) throw new StyleError(`has ${entries.length} sources; the maximum is ${MAX_SOURCES}`)
  if (style['layers'].length > MAX_LAYERS) throw new StyleError(`has ${style['layers'].length} layers; the maximum is ${MAX_LAYERS}`)
  const planned = await Promise.all(
    entries.map(async ([name, source], index) => ({ name, key: `s${index}`, ...(await planSource(source, base, `s${index}`, readers)) })),
  )
  const known = planned.filter(({ upstream }) => upstream !== null)
  const keys = new Map(known.map(({ name, key }) => [name, key]))
  return {
    document: {
      sources: Object.fromEntries(known.map(({ key, source }) => [key, source])),
      layers: style['layers'].flatMap((layer: unknown, index) => layerOf(layer, index, keys)),
      sprites: spritesOf(style['sprite']).map(({ id }, index) => ({ id, url: `${PREFIX}/sprites/${index}` })),
      attribution: [...new Set(known.map(({ attribution }) => attribution).filter(Boolean))].join(' '),
    },
    upstreams: new Map(known.map(({ key, upstream }) => [key, upstream!])),
    sprites: new Map(spritesOf(style['sprite']).map(({ url }, index) => [String(index), absolute(url, base)])),
  }
}

interface PlannedSource {
  source: object
  /** Null: a kind of source that a base map does not need. */
  upstream: Upstream | null
  attribution: string
}

const NOTHING: PlannedSource = { source: {}, upstream: null, attribution: '' }

async function planSource(source: unknown, base: string, key: string, readers: Readers): Promise<PlannedSource> {
  if (!isObject(source)) return NOTHING
  const type = String(source['type'])
  if (type === 'geojson') return planData(source, base, key)
  if (!TILED.has(type)) return NOTHING
  const url = typeof source['url'] === 'string' ? source['url'] : null
  if (url?.startsWith(ARCHIVE)) return await planArchive(absolute(url.slice(ARCHIVE.length), base), { source, type, key }, readers)
  const described = url === null ? {} : await readers.json(absolute(url, base))
  const all = { ...(isObject(described) ? described : {}), ...source }
  const templates = Array.isArray(all['tiles']) ? all['tiles'].filter((tile) => typeof tile === 'string') : []
  if (templates.length === 0) throw new StyleError('has a source without tiles')
  const from = url === null ? base : absolute(url, base)
  return {
    source: { ...tiledSource(type, key), ...limitsOf(all) },
    upstream: {
      kind: 'tiles',
      templates: templates.map((template) => absolute(template, from)),
      isVector: type === 'vector',
      isTms: all['scheme'] === 'tms',
    },
    attribution: plainText(all['attribution']),
  }
}

function planData(source: Json, base: string, key: string): PlannedSource {
  const { data, cluster, clusterRadius, clusterMaxZoom } = source
  const attribution = plainText(source['attribution'])
  const kept = Object.fromEntries(Object.entries({ cluster, clusterRadius, clusterMaxZoom }).filter(([, value]) => value !== undefined))
  if (typeof data === 'string')
    return {
      source: { type: 'geojson', data: `${PREFIX}/data/${key}`, ...kept },
      upstream: { kind: 'data', url: absolute(data, base) },
      attribution,
    }
  return isObject(data) ? { source: { type: 'geojson', data, ...kept }, upstream: { kind: 'data', url: '' }, attribution } : NOTHING
}

async function planArchive(url: string, { source, type, key }: { source: Json; type: string; key: string }, readers: Readers) {
  const { minzoom, maxzoom, bounds, attribution } = await readers.archive(url)
  return {
    source: { ...tiledSource(type, key), minzoom, maxzoom, bounds, ...limitsOf(source) },
    upstream: { kind: 'archive' as const, url },
    attribution: plainText(source['attribution']) || attribution,
  }
}

export const tiledSource = (type: string, key: string) => ({ type, tiles: [`${PREFIX}/tiles/${key}/{z}/{x}/{y}`] })

function limitsOf({ minzoom, maxzoom, bounds, tileSize, encoding }: Json): object {
  const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
  return {
    ...(isNumber(minzoom) ? { minzoom } : {}),
    ...(isNumber(maxzoom) ? { maxzoom } : {}),
    ...(isNumber(tileSize) ? { tileSize } : {}),
    ...(Array.isArray(bounds) && bounds.length === 4 && bounds.every(isNumber) ? { bounds } : {}),
    ...(encoding === 'terrarium' || encoding === 'mapbox' ? { encoding } : {}),
  }
}

function layerOf(layer: unknown, index: number, keys: ReadonlyMap<string, string>): object[] {
  if (!isObject(layer) || !DRAWN.has(String(layer['type']))) return []
  const { type, minzoom, maxzoom, filter, layout, paint } = layer
  const common = Object.fromEntries(
    Object.entries({ type, minzoom, maxzoom, filter, layout, paint }).filter(([, value]) => value !== undefined),
  )
  if (type === 'background') return [{ id: `base-${index}`, ...common }]
  const source = keys.get(String(layer['source']))
  if (source === undefined) return []
  const part = layer['source-layer']
  return [{ id: `base-${index}`, ...common, source, ...(typeof part === 'string' ? { 'source-layer': part } : {}) }]
}

/** One sprite is called `default`, as MapLibre does. */
function spritesOf(sprite: unknown): { id: string; url: string }[] {
  if (typeof sprite === 'string') return [{ id: 'default', url: sprite }]
  if (!Array.isArray(sprite)) return []
  return sprite
    .filter((entry) => isObject(entry) && typeof entry['id'] === 'string' && typeof entry['url'] === 'string')
    .slice(0, MAX_SPRITES)
    .map((entry: Json) => ({ id: String(entry['id']), url: String(entry['url']) }))
}

/** `URL` escapes the braces of a template. */
function absolute(address: string, base: string): string {
  const url = URL.parse(address, base)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new StyleError('names an address that is not http or https')
  return url.href.replaceAll(/%7B(\w+)%7D/gi, '{$1}')
}

const ENTITIES: Readonly<Record<string, string>> = { copy: '©', amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
const MAX_ATTRIBUTION = 500

/** Attributions are HTML; ours are text. */
export function plainText(html: unknown): string {
  if (typeof html !== 'string') return ''
  return html
    .slice(0, 10 * MAX_ATTRIBUTION)
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/&(\w+|#\d{1,6});/g, (whole, name: string) =>
      name.startsWith('#') ? String.fromCodePoint(Math.min(0x10ffff, Number(name.slice(1)))) : (ENTITIES[name] ?? whole),
    )
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_ATTRIBUTION)
}
