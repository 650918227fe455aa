/** Items as STAC 1.0.0 Features: the results of search, and the basis of other STAC views. */
import { extensionUri, STAC_VERSION, withKey, type Link } from '#core/stac.ts'
import { addressOf } from './asset.ts'
import { licenseOf, webUrl } from './attribution.ts'
import type { ShownAsset } from './asset-page.ts'
import { measuredFields, namedBands, statedFields } from './stac-asset.ts'
import { declaredExtensions } from './stac-extensions.ts'
import type { Item } from './item-read.ts'

export interface Feature {
  type: 'Feature'
  stac_version: typeof STAC_VERSION
  stac_extensions: string[]
  id: string
  collection?: string
  geometry: Record<string, unknown> | null
  bbox?: number[]
  properties: Record<string, unknown>
  assets: Record<string, Record<string, unknown>>
  links: Link[]
}

/** How an item is shown: its URL, its links, and an API key in URLs if the caller sent one that way. */
interface View {
  baseUrl: string
  /** `one`: the item's own link. `self`: also its collection. `all`: all links for browsing the catalogue. */
  links: 'none' | 'one' | 'self' | 'all'
  key?: string | null
}

/**
 * Without assets the feature is lightweight. STAC requires a link beside a `collection`, which `self` and `all` include; without a
 * geometry there is no bounding box.
 */
export function toFeature(item: Item, assets: readonly ShownAsset[], view: View): Feature {
  const shown = Object.fromEntries(assets.map((asset) => [asset.key, assetOf(asset, item.id, view)]))
  const properties = propertiesOf(item)
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    stac_extensions: [...new Set([...declaredExtensions(item.stacExtensions, properties, shown), extensionUri(view.baseUrl)])],
    id: item.stacId,
    ...(item.collectionId ? { collection: item.collectionId } : {}),
    geometry: item.geometry,
    ...(item.geometry && item.bbox ? { bbox: item.bbox } : {}),
    properties,
    assets: shown,
    links: linksOf(item, view),
  }
}

/**
 * Assigned field by field: spreading many small objects was the slowest part of a feature. Title, name and times in an item's own
 * properties come from the columns that search compares, so that items are found by what they show.
 */
function propertiesOf(item: Item): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  if (item.description) shown['description'] = item.description
  Object.assign(shown, item.properties)
  shown['title'] = item.statedTitle ?? item.name
  if (Object.hasOwn(shown, 'name')) shown['name'] = item.statedName ?? item.name
  shown['created'] = (item.statedCreated ?? item.createdAt).toISOString()
  shown['updated'] = (item.statedUpdated ?? item.updatedAt).toISOString()
  shown['datetime'] = datetimeOf(item)?.toISOString() ?? null
  if (item.startDatetime) shown['start_datetime'] = item.startDatetime.toISOString()
  if (item.endDatetime) shown['end_datetime'] = item.endDatetime.toISOString()
  if (item.cloudCover !== null) shown['eo:cloud_cover'] = item.cloudCover
  if (item.gsd !== null) shown['gsd'] = item.gsd
  return Object.assign(shown, claimsOf(item))
}

/** STAC allows null only with a complete interval. An item without any time shows its registration time. */
function datetimeOf({ datetime, startDatetime, endDatetime, createdAt }: Item): Date | null {
  return datetime ?? (startDatetime && endDatetime ? null : (startDatetime ?? endDatetime ?? createdAt))
}

/** Computed when read and never stored, so an item's properties cannot forge them. */
function claimsOf(item: Item) {
  return {
    'svc:item_id': item.id,
    'svc:project_id': item.projectId,
    'svc:order_id': item.orderId,
    'svc:upload_id': item.uploadId,
    'svc:job_id': item.jobId,
    'svc:item_type': item.type,
    'svc:name': item.name,
    'svc:lifecycle_state': item.lifecycleState,
    'svc:source': item.uploadId ? 'ARCHIVE' : item.jobId ? 'PROCESSING' : 'TASKING',
  }
}

function assetOf(asset: ShownAsset, itemId: string, { baseUrl, key }: View): Record<string, unknown> {
  const address = addressOf(asset, itemId, baseUrl)
  const shown: Record<string, unknown> = { ...statedFields(asset), href: asset.href === null ? withKey(address, key) : address }
  if (asset.title !== null) shown['title'] = asset.title
  if (asset.mediaType !== null) shown['type'] = asset.mediaType
  if (asset.roles.length > 0) shown['roles'] = asset.roles
  if (asset.fileSizeBytes !== null) shown['file:size'] = asset.fileSizeBytes
  return Object.assign(shown, namedBands(asset), measuredFields(asset))
}

/** The links for browsing: self, root, parent, collection; and a mosaic's sources, which belong to the item. */
function linksOf(item: Item, { baseUrl, links, key }: View): Link[] {
  if (links === 'none') return [...derivedFrom(item, baseUrl, key), ...originLinks(item)]
  const root = `${baseUrl}/stac`
  const collection = item.collectionId ? `${root}/collections/${item.collectionId}` : null
  const self = `${collection ?? root}/items/${encodeURIComponent(item.id)}`
  const link = (rel: string, href: string, type: string): Link => ({ rel, href: withKey(href, key), type })
  return [
    link('self', self, 'application/geo+json'),
    ...(links === 'all' ? [link('root', root, 'application/json'), link('parent', collection ?? root, 'application/json')] : []),
    ...(collection && links !== 'one' ? [link('collection', collection, 'application/json')] : []),
    ...(links === 'all' ? [...derivedFrom(item, baseUrl, key), ...originLinks(item)] : []),
  ]
}

/** Of a saved scene: the scene at its host, and its licence. */
function originLinks({ properties }: Item): Link[] {
  const scene = webUrl(properties['svc:scene_url'])
  const { name, url } = licenseOf(properties)
  return [
    ...(scene ? [{ rel: 'derived_from', href: scene, type: 'application/geo+json' }] : []),
    ...(url ? [{ rel: 'license', href: url, type: 'text/html', ...(name === null ? {} : { title: name }) }] : []),
  ]
}

/** One link per source collection: to its own URL, or to ours. */
function derivedFrom(item: Item, baseUrl: string, key: string | null | undefined): Link[] {
  const sources = item.properties['svc:source_collections']
  if (!Array.isArray(sources)) return []
  return sources
    .filter((source) => typeof source === 'string')
    .map((source) => ({
      rel: 'derived_from',
      href: source.startsWith('https://') ? source : withKey(`${baseUrl}/stac/collections/${encodeURIComponent(source)}`, key),
      type: 'application/json',
      title: source,
    }))
}
