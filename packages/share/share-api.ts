/** What the page asks of the service, and nothing else: no other address is ever asked. */

export interface SharedStyle {
  id: string
  label: string
  kind: string
  category: string | null
  is_default: boolean
  description: string
}

export interface SharedFile {
  id: string
  key: string
  title: string | null
  file_name: string
  file_size_bytes: number | null
  url: string
}

export interface SharedItem {
  id: string
  name: string
  description: string | null
  type: string
  bbox: [number, number, number, number] | null
  geometry: GeoJSON.Geometry | null
  datetime: string | null
  cloud_cover: number | null
  gsd: number | null
  visualizations: SharedStyle[]
  attribution: string | null
  license: { name: string | null; url: string | null }
  /** Null where there is nothing to draw. */
  tilejson: string | null
  assets?: SharedFile[]
}

interface SharedCollection {
  id: string
  name: string
  description: string | null
  items: SharedItem[]
  item_count: number
}

export interface SharedMapLayer {
  id: string
  name: string
  group_id: string | null
  visible: boolean
  opacity: number
  blend: 'normal' | 'multiply' | 'screen' | 'darken' | 'lighten' | 'add'
  color: string | null
  features: { name: string | null; geometry: GeoJSON.Geometry }[] | null
  bbox: [number, number, number, number] | null
  attribution: string | null
  /** Null for shapes, and where there is nothing to draw. */
  tilejson: string | null
}

export interface NamedMap {
  id: string
  name: string
  description: string | null
  /** From top to bottom. */
  layers: SharedMapLayer[]
  groups: { id: string; name: string; visible: boolean }[]
  camera: { longitude: number; latitude: number; zoom: number } | null
  annotations: { id: string; geometry: GeoJSON.Geometry; text: string; color: string | null }[]
}

interface Session {
  grant: string
  grant_expires_at: string
  link_expires_at: string
}

export type Opened =
  | { permission: 'view' | 'download'; target_type: 'item'; target: SharedItem & Session }
  | { permission: 'view' | 'download'; target_type: 'collection'; target: SharedCollection & Session }
  | { permission: 'view'; target_type: 'map'; target: NamedMap & Session }

export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** With a password through the page's own endpoint, where a crowd with the right one is never refused; then, or at once, by the grant. */
export async function openShare({ token, password }: { token: string; password?: string }): Promise<Opened> {
  const grant = password === undefined ? token : (await ask<{ grant: string }>(`/s/${encodeURIComponent(token)}`, { password })).grant
  return await ask<Opened>('/v1/op/share.link.validate', { token: grant })
}

/** A grant of a link that needs no password; null for every other link. */
export async function publicGrant(token: string): Promise<string | null> {
  const response = await fetch(`/s/${encodeURIComponent(token)}/public`).catch(() => null)
  return response?.ok ? ((await response.json()) as { grant: string | null }).grant : null
}

async function ask<T>(address: string, body: object): Promise<T> {
  let response: Response
  try {
    response = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  } catch {
    throw new Refused(0, 'The service could not be reached. Check your connection and try again.')
  }
  if (response.ok) return (await response.json()) as T
  throw new Refused(response.status, await explain(response))
}

/** In words for somebody who was sent a link, not for somebody who writes programs. */
async function explain(response: Response): Promise<string> {
  const seconds = Number(response.headers.get('retry-after')) || 60
  switch (response.status) {
    case 401:
      return 'This password is not right, or the link has ended. Check the password, or ask the sender for a new link.'
    case 404:
      return 'What was shared here is no longer available. Ask the sender about it.'
    case 429:
      return `Too many attempts. Wait ${seconds} seconds, then try again.`
    case 503:
      return 'Many people are opening links right now. Try again in a moment.'
    default:
      return 'Something went wrong on our side. Try again in a moment.'
  }
}

/** What the colours of a style mean: a scale of one value, or what stands for red, green and blue. */
export interface Legend {
  kind: 'scale' | 'composite'
  low: number | null
  high: number | null
  unit: string | null
  colors: string[]
  channels: string[]
}

export interface ValueAt {
  name: string
  value: number | null
}

export interface Tiles {
  tiles: [string]
  minzoom: number
  maxzoom: number
  bounds: [number, number, number, number]
  visualizations: SharedStyle[]
  legend: Legend | null
}

/** How an item is drawn in a style; the default one if none is named. */
export async function loadTiles(tilejson: string, style: string | null): Promise<Tiles> {
  const response = await fetch(ownAddress(tilejson) + (style === null ? '' : `&profile=${encodeURIComponent(style)}`)).catch(() => null)
  if (!response?.ok)
    throw new Refused(
      response?.status ?? 0,
      response?.status === 404 ? 'This image is no longer available.' : 'This image cannot be drawn just now.',
    )
  const tiles = (await response.json()) as Tiles
  return { ...tiles, tiles: [ownAddress(tiles.tiles[0])] }
}

/** What a style is drawn from at one place; null outside the image, and where nothing can be told just now. */
export async function loadValues(
  { tilejson, style }: { tilejson: string; style: string | null },
  at: { longitude: number; latitude: number },
  signal: AbortSignal,
): Promise<ValueAt[] | null> {
  const token = new URL(tilejson).searchParams.get('grant')
  const response = await fetch('/v1/op/share.tilejson', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, profile: style, at: { longitude: at.longitude, latitude: at.latitude } }),
    signal,
  }).catch(() => null)
  return response?.ok ? ((await response.json()) as { values: ValueAt[] | null }).values : null
}

/** A signed address for one file, asked for when somebody wants it: it counts from then on. */
export async function askForFile(file: SharedFile): Promise<string> {
  const token = new URL(file.url).searchParams.get('grant')
  const response = await fetch('/v1/op/share.asset.download', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, asset_id: file.id }),
  }).catch(() => null)
  if (response?.ok) return ((await response.json()) as { url: string }).url
  const status = response?.status ?? 0
  const why =
    status === 401
      ? 'This download has run out. Reload the page and try again.'
      : status === 402 || status === 429
        ? 'The sender’s download limit is used up for now. Try again later.'
        : 'This file cannot be downloaded just now.'
  throw new Refused(status, why)
}

/** The service names itself by its public address; this page asks the one that it came from. */
function ownAddress(url: string): string {
  return location.origin + url.replace(/^https?:\/\/[^/]+/, '')
}
