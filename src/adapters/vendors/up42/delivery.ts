/**
 * What UP42 delivered for an order. The producer's archive lands in UP42's storage and is taken apart there: rasters become COGs, each
 * with a role. We fetch these, never the archive.
 */
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { checksumsOf } from '#adapters/vendors/multihash.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { schemas, type Item, type ItemAsset, type Order } from './wire.ts'

/** `waiting`: the archive is still being taken apart. */
export type Delivery =
  | { readonly state: 'files'; readonly files: readonly DeliveredFile[] }
  | { readonly state: 'waiting' }
  | { readonly state: 'failed'; readonly reason: string }

const MAX_ITEMS = 100
const PAGE_SIZE = 50
const MAX_PAGES = 20

export async function deliveryOf(host: Host, order: Order, options: CallOptions): Promise<Delivery> {
  const states = await extractionStates(host, order.id, options)
  if (states.length > 0 && states.every((state) => state === 'FAILED'))
    return { state: 'failed', reason: `${host.name} could not open the producer's archive; it can be downloaded from UP42's storage` }
  if (states.length === 0 || !states.every((state) => state === 'SUCCESSFUL' || state === 'FAILED')) return { state: 'waiting' }
  const files = (await itemsOf(host, order.id, options)).flatMap((item) => filesOf(order, item))
  return files.some(({ role }) => role === 'data') ? { state: 'files', files } : { state: 'waiting' }
}

/** How far UP42 is with each archive of an order. */
async function extractionStates(host: Host, orderId: string, options: CallOptions): Promise<string[]> {
  const states: string[] = []
  for (let page = 0, pages = 1; page < Math.min(pages, MAX_PAGES); page++) {
    const path = `/v2/assets?search=${encodeURIComponent(orderId)}&page=${page}&size=${PAGE_SIZE}`
    const { content, totalPages } = await requireAnswer(host, schemas.assets, { path, ...options }, 'list of assets')
    const ours = content.filter((asset) => (asset.orderId ?? asset.order?.id) === orderId)
    states.push(...ours.map((asset) => asset.geospatialMetadataExtractionStatus ?? 'NOT_PROCESSED'))
    pages = totalPages
  }
  return states
}

/** Names of the order in filters: as UP42's list of queryables has it, and as items have it. */
const ORDER_PROPERTIES = ['order_id', 'up42-order:id'] as const

async function itemsOf(host: Host, orderId: string, options: CallOptions): Promise<readonly Item[]> {
  const search = async (property: string) => {
    const body = { filter: { op: '=', args: [{ property }, orderId] }, limit: MAX_ITEMS }
    const request = { method: 'POST' as const, path: '/v2/assets/stac/search', body, isRepeatable: true, ...options }
    return await requireAnswer(host, schemas.items, request, 'list of items')
  }
  const [first, second] = ORDER_PROPERTIES
  const { features, links = [] } = await search(first).catch(async (error: unknown) => {
    if (error instanceof VendorError && error.code === 'refused') return await search(second)
    throw error
  })
  if (links.some(({ rel }) => rel === 'next') && features.length >= MAX_ITEMS)
    throw new VendorError('refused', host.name, `${host.name} delivered more than ${MAX_ITEMS} scenes with one order`)
  // A filter that is ignored returns everything that the account has.
  return features.filter(({ properties }) => ORDER_PROPERTIES.some((name) => properties[name] === orderId))
}

const RASTER = /^image\/(tiff|vnd\.stac\.geotiff)\b/
const PICTURE = /^image\/(png|jpeg|webp)\b/
const DOCUMENT = /^(application\/(geo\+json|json|xml|vnd\.google-earth\.kml\+xml|pdf)|text\/[a-z]+)\b/
const MASK_ROLES = ['mask', 'data-mask', 'cloud-mask', 'cloud', 'cloud-shadow', 'snow-ice', 'saturation', 'classification']
const PICTURE_ROLES = ['overview', 'thumbnail', 'quicklook', 'visual']

/** Null for what is not kept: archives, and rasters that are neither images nor masks. */
function roleOf({ type, roles }: ItemAsset): DeliveredFile['role'] | null {
  const has = (names: readonly string[]) => names.some((name) => roles?.includes(name))
  if (type == null) return null
  if (PICTURE.test(type)) return has(PICTURE_ROLES) ? 'overview' : null
  if (DOCUMENT.test(type)) return 'metadata'
  if (!RASTER.test(type)) return null
  if (has(MASK_ROLES)) return 'mask'
  return has(['data']) ? 'data' : has(PICTURE_ROLES) ? 'overview' : null
}

function filesOf(order: Order, { id: itemId, properties, assets }: Item): DeliveredFile[] {
  const kept = Object.entries(assets).flatMap(([name, asset]) => {
    const [role, fileId] = [roleOf(asset), assetIdOf(asset.href)]
    return role && fileId ? [{ name, asset, role, fileId }] : []
  })
  const images = kept.filter(({ role }) => role === 'data')
  const colours = images.filter(({ asset }) => asset.roles?.includes('multispectral'))
  // The raster that shows the scene; a panchromatic band beside it stays an asset of its own.
  const main = images.length === 1 ? images[0] : colours.length === 1 ? colours[0] : undefined
  const keys = new Set(main ? ['data'] : [])
  const sceneId = order.orderDetails?.imageId ?? (order.type === 'ARCHIVE' ? order.displayName : null) ?? itemId
  return kept.map((each) => ({
    id: each.fileId,
    fileName: fileNameOf(each.name, each.asset),
    sceneId,
    itemKey: itemId,
    assetKey: each === main ? 'data' : unusedKey(keys, each.name),
    role: each.role,
    mediaType: each.asset.type!,
    bytes: each.asset['file:size'] ?? null,
    ...checksumsOf(each.asset['file:checksum']),
    datetime: timeOf(properties['datetime'] ?? properties['start_datetime']),
    cloudCover: percentOf(properties['eo:cloud_cover']),
    bands: bandsOf(each.asset),
    properties: publicProperties(properties),
  }))
}

/** The ID in `…/v2/assets/{id}`; the host that a link names is never asked. */
const assetIdOf = (href: string): string | null => /\/v2\/assets\/([A-Za-z0-9-]{1,100})\/?$/.exec(href)?.[1] ?? null

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^[^A-Za-z0-9]+/, '') || 'file'

function fileNameOf(name: string, { type }: ItemAsset): string {
  const short = plain(name).slice(-120)
  return RASTER.test(type ?? '') && !/\.tiff?$/i.test(short) ? `${short}.tif` : short
}

/** The name without its extension, and with a number if it is taken. */
function unusedKey(keys: Set<string>, name: string): string {
  const short =
    plain(name)
      .replace(/\.[A-Za-z0-9]{1,8}$/, '')
      .slice(0, 90) || 'file'
  let key = short
  for (let number = 2; keys.has(key); number++) key = `${short}-${number}`
  keys.add(key)
  return key
}

function timeOf(value: unknown): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

const percentOf = (value: unknown): number | null => (typeof value === 'number' && value >= 0 && value <= 100 ? value : null)

function bandsOf({ 'eo:bands': bands }: ItemAsset): DeliveredFile['bands'] {
  const named = (bands ?? []).map(({ name, common_name: common }) => ({
    name: common ?? name ?? '',
    role: common?.toUpperCase() ?? null,
  }))
  return named.every(({ name }) => name !== '') ? named : []
}

/** Without what only says where UP42 keeps it. */
const publicProperties = (properties: Item['properties']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([name, value]) => value !== null && !/^up42-(system|user):/.test(name) && !['created', 'updated', 'order_id'].includes(name),
    ),
  )
