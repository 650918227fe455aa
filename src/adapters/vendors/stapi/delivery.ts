/**
 * What a completed order delivers. The standard leaves this to providers: we follow links to images and to STAC items among the links
 * of the status, and take the assets of the items.
 */
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import { isListed, type Host } from '#adapters/vendors/host.ts'
import { ask, schemas, type Asset, type Item, type Link, type Order } from './wire.ts'

/** A file and where it is now: links can expire. */
export interface LinkedFile extends DeliveredFile {
  readonly href: string
}

interface DeliveryParts {
  readonly host: Host
  readonly downloadHosts: readonly string[]
  readonly options: CallOptions
}

const MAX_ITEMS = 100
const TIFF = /^image\/(tiff|vnd\.stac\.geotiff)\b/
const IMAGE_RELS = ['data', 'asset']
const ITEM_RELS = ['item']
const LIST_RELS = ['items', 'stac']
const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
/** Properties of an item that describe the image; the rest is the provider's own. */
const KEPT_PROPERTIES = /^(platform|constellation|instruments|gsd|(eo|view|sar|sat):[\w:]+)$/

export async function filesOf(order: Order, parts: DeliveryParts): Promise<LinkedFile[]> {
  const links = order.properties.status.links ?? []
  const isImage = ({ rel, type }: Link) => TIFF.test(type ?? '') || (IMAGE_RELS.includes(rel) && type == null)
  const images = links.filter(isImage).map((link, index) => imageOf(order, link, index, parts))
  const items: Item[] = []
  for (const { rel, href } of links.filter((link) => !isImage(link))) {
    if (ITEM_RELS.includes(rel)) items.push(await itemAt(href, parts))
    else if (LIST_RELS.includes(rel)) items.push(...(await itemsAt(href, parts)))
    if (items.length > MAX_ITEMS) throw failure(parts, `delivered more than ${MAX_ITEMS} items`)
  }
  // A list and its items can both be linked.
  const distinct = [...new Map(items.map((item) => [item.id, item])).values()]
  return [...images, ...distinct.flatMap((item) => assetsOf(item, parts))]
}

const failure = ({ host }: DeliveryParts, what: string) => new VendorError('invalid-response', host.name, `${host.name} ${what}`)

/** Links lead to the server itself and to the hosts that the registry lists for its files. */
function permitted(href: string, parts: DeliveryParts): string {
  const { host, downloadHosts } = parts
  const url = URL.parse(href, `${host.url}/`)
  const isPermitted = url && (url.origin === new URL(host.url).origin || downloadHosts.some((pattern) => isListed(url, pattern)))
  if (isPermitted) return url.href
  throw failure(parts, 'links to a host that its downloadHosts do not list')
}

async function itemAt(href: string, parts: DeliveryParts): Promise<Item> {
  const item = await ask(parts.host, schemas.item, { path: permitted(href, parts), ...parts.options }, 'STAC item')
  if (!item) throw failure(parts, 'links to an item that does not exist')
  return item
}

async function itemsAt(href: string, parts: DeliveryParts): Promise<Item[]> {
  const list = await ask(parts.host, schemas.items, { path: permitted(href, parts), ...parts.options }, 'list of STAC items')
  return list?.features ?? []
}

const UNKNOWN = { sha256: null, md5: null, datetime: null, cloudCover: null, bands: [], properties: {} } as const

/** An image without metadata is an item of its own. */
function imageOf({ id }: Order, { href }: Link, index: number, parts: DeliveryParts): LinkedFile {
  const name = index === 0 ? id : `${id}-${index + 1}`
  return {
    ...UNKNOWN,
    id: `${name}/data`,
    fileName: `${name}.tif`,
    sceneId: name,
    itemKey: name,
    assetKey: 'data',
    role: 'data',
    mediaType: COG_TYPE,
    bytes: null,
    href: permitted(href, parts),
  }
}

function assetsOf(item: Item, parts: DeliveryParts): LinkedFile[] {
  const { properties } = item
  const cloud = properties['eo:cloud_cover']
  return Object.entries(item.assets).flatMap(([key, asset]) => {
    const role = roleOf(asset)
    if (role === null) return []
    const assetKey = key.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 100)
    return {
      id: `${item.id}/${assetKey}`,
      fileName: `${item.id}_${assetKey}${role === 'data' || role === 'mask' ? '.tif' : ''}`,
      sceneId: item.id,
      itemKey: item.id,
      assetKey,
      role,
      mediaType: asset.type ?? (role === 'data' || role === 'mask' ? COG_TYPE : 'application/octet-stream'),
      bytes: asset['file:size'] ?? null,
      sha256: sha256Of(asset['file:checksum']),
      md5: null,
      datetime: typeof properties['datetime'] === 'string' ? properties['datetime'] : null,
      cloudCover: typeof cloud === 'number' && cloud >= 0 && cloud <= 100 ? cloud : null,
      bands: role === 'data' ? bandsOf(asset) : [],
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => KEPT_PROPERTIES.test(name))),
      href: permitted(asset.href, parts),
    }
  })
}

/** Null: not worth keeping, such as a thumbnail. */
function roleOf({ roles, type }: Asset): DeliveredFile['role'] | null {
  const has = (...names: string[]) => roles?.some((role) => names.includes(role)) ?? false
  const isTiff = TIFF.test(type ?? '')
  if (has('data')) return isTiff || type == null ? 'data' : 'metadata'
  if (has('cloud', 'data-mask', 'mask', 'saturation')) return isTiff ? 'mask' : null
  if (has('metadata')) return 'metadata'
  return isTiff && !has('overview', 'thumbnail') ? 'data' : null
}

/** A multihash: the code of SHA-256 and its length come first. */
const sha256Of = (checksum: string | null | undefined): string | null =>
  /^1220([0-9a-f]{64})$/i.exec(checksum ?? '')?.[1]?.toLowerCase() ?? null

/** STAC has had two places for bands. */
function bandsOf(asset: Asset): DeliveredFile['bands'] {
  const bands = asset.bands ?? asset['eo:bands']
  if (!Array.isArray(bands)) return []
  return (bands as Record<string, unknown>[]).flatMap((band) => {
    const common = band?.['eo:common_name'] ?? band?.['common_name']
    const name = band?.['name'] ?? common
    return typeof name === 'string' ? [{ name, role: typeof common === 'string' ? common.toUpperCase() : null }] : []
  })
}
