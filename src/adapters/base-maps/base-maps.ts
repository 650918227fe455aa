/** Reads an operator's base maps where they are. Responses are bounded, checked and cached; no error names an address. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { PMTiles } from 'pmtiles'
import { createEgress, EgressError, type Egress } from '#adapters/egress/guard.ts'
import type { BaseMapDocument, BaseMapFile, BaseMaps, BaseMapSetting, Theme } from '#core/base-maps.ts'
import type { Clock } from '#core/clock.ts'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { notFound, problem } from '#core/problem.ts'
import { LoadingCache } from '#raster/cache.ts'
import { archiveInfo, openArchive } from './archive.ts'
import { drawnLayers } from './drawing.ts'
import { planStyle, PREFIX, StyleError, tiledSource, type ArchiveInfo, type Plan, type Upstream } from './style.ts'

interface BaseMapOptions {
  readonly maps: readonly BaseMapSetting[]
  readonly clock: Clock
  /** Hosts that may be private or plain http. */
  readonly egressAllow: readonly string[]
}

const MAX_STYLE_BYTES = 5_000_000
const MAX_TILE_BYTES = 5_000_000
const MAX_DATA_BYTES = 10_000_000
const DEADLINE_MS = 15_000
const MAX_REDIRECTS = 3
const CACHE_BYTES = 64 * 1024 * 1024
/** A style changes rarely; a map that fails is asked again soon, but not by every user. */
const STYLE_MS = 10 * 60_000
const FAILURE_MS = 30_000
const FILE_MS = 60 * 60_000
const MAX_RUNNING = 24
const MAX_WAITING = 500
const RASTER_MAX_ZOOM = 19

/** A map as it is planned; an archive is drawn by the theme. */
interface Opened {
  readonly plan: Plan
  readonly archive: ArchiveInfo | null
}

interface Remembered {
  readonly until: number
  readonly opened: Promise<Opened>
}

const MISSING: BaseMapFile = { type: '', bytes: Buffer.alloc(0) }
const SINGLE = 's0'

export function createBaseMaps({ maps, clock, egressAllow }: BaseMapOptions): BaseMaps {
  const egress = createEgress({ allow: egressAllow })
  const limit = createLimiter({ maxRunning: MAX_RUNNING, maxWaiting: MAX_WAITING, full: queueFull('requests to base maps') })
  const files = new LoadingCache<BaseMapFile>({ maxBytes: CACHE_BYTES, sizeOf: ({ bytes }) => bytes.length + 200 })
  const archives = new Map<string, PMTiles>()
  const remembered = new Map<string, Remembered>()
  const archiveAt = (location: string): PMTiles => {
    const known = archives.get(location) ?? openArchive(location, egress)
    archives.set(location, known)
    return known
  }
  const requireMap = (id: string): BaseMapSetting => {
    const setting = maps.find((map) => map.id === id)
    if (!setting) throw notFound('base map')
    return setting
  }
  const open = (setting: BaseMapSetting): Promise<Opened> => {
    const now = clock.now().getTime()
    const known = remembered.get(setting.id)
    if (known && known.until > now) return known.opened
    const opened = openMap(setting, egress, archiveAt)
    remembered.set(setting.id, { until: now + STYLE_MS, opened })
    opened.catch(() => remembered.set(setting.id, { until: now + FAILURE_MS, opened }))
    return opened
  }
  const cached = async (key: string, load: () => Promise<BaseMapFile | null>): Promise<BaseMapFile | null> => {
    const hour = Math.floor(clock.now().getTime() / FILE_MS)
    const file = await files.get(`${key} ${hour}`, async () => (await limit(load)) ?? MISSING)
    return file === MISSING ? null : file
  }
  return {
    list: maps.map(({ id, name }) => ({ id, name })),
    async style(id, { theme, prefix }) {
      const setting = requireMap(id)
      const { plan, archive } = await told(setting, () => open(setting))
      return sentDocument(withAttribution(plan.document, setting), archive, theme, prefix)
    },
    async tile(id, source, place) {
      const setting = requireMap(id)
      return await told(setting, async () => {
        const upstream = (await open(setting)).plan.upstreams.get(source)
        if (!upstream || upstream.kind === 'data') return null
        const key = `${id} ${source} ${place.z}/${place.x}/${place.y}`
        return await cached(key, () => readTile(upstream, place, { egress, archiveAt }))
      })
    },
    async sprite(id, sprite, suffix) {
      const setting = requireMap(id)
      return await told(setting, async () => {
        const url = (await open(setting)).plan.sprites.get(sprite)
        if (url === undefined) return null
        return await cached(`${id} sprite ${sprite}${suffix}`, () => readSprite(url, suffix, egress))
      })
    },
    async data(id, source) {
      const setting = requireMap(id)
      return await told(setting, async () => {
        const upstream = (await open(setting)).plan.upstreams.get(source)
        if (upstream?.kind !== 'data' || upstream.url === '') return null
        return await cached(`${id} data ${source}`, async () => {
          const bytes = await read(egress, upstream.url, MAX_DATA_BYTES)
          if (bytes) requireJson(bytes)
          return bytes && { type: 'application/json', bytes }
        })
      })
    },
    close: () => egress.close(),
  }
}

/** Errors of other hosts become one of ours, which names the map and no address. */
async function told<T>(setting: BaseMapSetting, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EgressError || error instanceof StyleError || isFileError(error))
      throw problem('bad-gateway', `The base map '${setting.name}' cannot be used: ${reasonOf(error)}`)
    throw error
  }
}

const isFileError = (error: unknown): boolean => error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
const reasonOf = (error: unknown): string =>
  error instanceof StyleError ? `it ${error.message}` : error instanceof EgressError ? error.message : 'its file cannot be read'

async function openMap(setting: BaseMapSetting, egress: Egress, archiveAt: (location: string) => PMTiles): Promise<Opened> {
  const { kind, location, attribution } = setting
  if (kind === 'pmtiles') {
    const archive = await archiveInfo(archiveAt(location))
    const { minzoom, maxzoom, bounds, isVector } = archive
    const source = {
      ...tiledSource(isVector ? 'vector' : 'raster', SINGLE),
      minzoom,
      maxzoom,
      bounds,
      ...(isVector ? {} : { tileSize: 256 }),
    }
    const document = { sources: { [SINGLE]: source }, layers: isVector ? [] : [rasterLayer], sprites: [], attribution: archive.attribution }
    return { plan: planOf(document, { kind: 'archive', url: location }), archive: isVector ? archive : null }
  }
  if (kind === 'raster') {
    const upstream: Upstream = { kind: 'tiles', templates: [location], isVector: false, isTms: false }
    // Whether the key is accepted is known before a map shows nothing; a set of one region has no such tile.
    await readTile(upstream, { z: 0, x: 0, y: 0 }, { egress, archiveAt })
    const source = { ...tiledSource('raster', SINGLE), tileSize: 256, maxzoom: RASTER_MAX_ZOOM }
    return { plan: planOf({ sources: { [SINGLE]: source }, layers: [rasterLayer], sprites: [], attribution }, upstream), archive: null }
  }
  const json = async (url: string) => requireJson((await read(egress, url, MAX_STYLE_BYTES)) ?? Buffer.from('null'))
  const readers = { json, archive: (url: string) => archiveInfo(archiveAt(url)) }
  return { plan: await planStyle(await json(location), location, readers), archive: null }
}

const rasterLayer = { id: 'base-0', type: 'raster', source: SINGLE }

const planOf = (document: BaseMapDocument, upstream: Upstream): Plan => ({
  document,
  upstreams: new Map([[SINGLE, upstream]]),
  sprites: new Map(),
})

const withAttribution = (document: BaseMapDocument, { attribution }: BaseMapSetting): BaseMapDocument => ({
  ...document,
  attribution: attribution || document.attribution,
})

function sentDocument(document: BaseMapDocument, archive: ArchiveInfo | null, theme: Theme, prefix: string): BaseMapDocument {
  const drawn = archive ? { ...document, layers: drawnLayers(archive.layers, theme, SINGLE) } : document
  const place = (address: string) => address.replace(PREFIX, prefix)
  const sources = Object.entries(drawn.sources).map(([key, source]) => {
    const { tiles, data } = source as { tiles?: string[]; data?: unknown }
    const own = { ...(tiles ? { tiles: tiles.map(place) } : {}), ...(typeof data === 'string' ? { data: place(data) } : {}) }
    return [key, { ...source, ...own }]
  })
  return {
    ...drawn,
    sources: Object.fromEntries(sources),
    sprites: drawn.sprites.map(({ id, url }) => ({ id, url: place(url) })),
  }
}

interface Reach {
  egress: Egress
  archiveAt(location: string): PMTiles
}

type Place = Readonly<Record<'x' | 'y' | 'z', number>>

async function readTile(upstream: Exclude<Upstream, { kind: 'data' }>, place: Place, reach: Reach): Promise<BaseMapFile | null> {
  const bytes =
    upstream.kind === 'archive'
      ? await archiveTile(reach.archiveAt(upstream.url), place)
      : await templateTile(upstream, place, reach.egress)
  if (!bytes || bytes.length === 0) return null
  const image = imageType(bytes)
  if (image) return { type: image, bytes }
  // Of a vector tile, only its own reader can say more; a page of text is none.
  if (upstream.kind === 'tiles' && !upstream.isVector) throw new StyleError('has tiles that are not images')
  if (bytes[0] === 0x3c || bytes[0] === 0x7b) throw new StyleError('has tiles that are not vector tiles')
  return { type: 'application/vnd.mapbox-vector-tile', bytes }
}

async function archiveTile(archive: PMTiles, { z, x, y }: Place): Promise<Buffer | null> {
  const tile = await archive.getZxy(z, x, y)
  return tile ? Buffer.from(tile.data) : null
}

async function templateTile({ templates, isTms }: Extract<Upstream, { kind: 'tiles' }>, { z, x, y }: Place, egress: Egress) {
  const template = templates[(x + y) % templates.length]!
  const row = isTms ? 2 ** z - 1 - y : y
  const url = template
    .replaceAll('{z}', String(z))
    .replaceAll('{x}', String(x))
    .replaceAll('{y}', String(row))
    .replaceAll('{-y}', String(2 ** z - 1 - y))
    .replaceAll('{ratio}', '')
    .replaceAll('{quadkey}', quadkeyOf(z, x, y))
  return await read(egress, url, MAX_TILE_BYTES)
}

function quadkeyOf(z: number, x: number, y: number): string {
  return Array.from({ length: z }, (_, index) => {
    const bit = z - 1 - index
    return ((x >> bit) & 1) + 2 * ((y >> bit) & 1)
  }).join('')
}

async function readSprite(url: string, suffix: string, egress: Egress): Promise<BaseMapFile | null> {
  const address = new URL(url)
  address.pathname += suffix
  const bytes = await read(egress, address.href, MAX_TILE_BYTES)
  if (!bytes) return null
  if (suffix.endsWith('.json')) {
    requireJson(bytes)
    return { type: 'application/json', bytes }
  }
  const type = imageType(bytes)
  if (!type) throw new StyleError('has a sprite that is not an image')
  return { type, bytes }
}

/** Null if the host has no such file. */
async function read(egress: Egress, url: string, maxBytes: number): Promise<Buffer | null> {
  const { status, body, headers } = await egress.fetch(url, { maxBytes, deadlineMs: DEADLINE_MS, maxRedirects: MAX_REDIRECTS })
  if (status === 404 || status === 204 || status === 410) return null
  if (status !== 200) throw new StyleError(`responds with HTTP ${status}`)
  const isPacked = headers['content-encoding'] === 'gzip' || (body[0] === 0x1f && body[1] === 0x8b)
  if (!isPacked) return body
  try {
    return await promisify(gunzip)(body, { maxOutputLength: maxBytes })
  } catch {
    throw new StyleError('responds with data that cannot be unpacked')
  }
}

function requireJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new StyleError('is not JSON')
  }
}

/** By the content, whatever the host calls it: a page with a script is not an image. */
function imageType(bytes: Buffer): string | null {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'image/png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg'
  const name = (from: number, to: number) => bytes.subarray(from, to).toString('latin1')
  if (name(0, 4) === 'RIFF' && name(8, 12) === 'WEBP') return 'image/webp'
  return name(4, 8) === 'ftyp' && /avif|avis/.test(name(8, 32)) ? 'image/avif' : null
}
