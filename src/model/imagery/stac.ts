/** Items as STAC 1.0.0 Features: what search answers with, and what other STAC views build on. */
import { addressOf, type Asset } from './asset.ts'
import type { Item } from './item-read.ts'

export const STAC_VERSION = '1.0.0'

interface Link {
  rel: string
  href: string
  type: string
}

interface Feature {
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

const extensionUri = (baseUrl: string): string => `${baseUrl}/stac/svc/v1.0.0/schema.json`

/**
 * Without assets the feature is lightweight. A `collection` always comes with its link, as STAC asks; without a geometry
 * there is no box.
 */
export function toFeature(item: Item, assets: readonly Asset[], baseUrl: string): Feature {
  const extension = extensionUri(baseUrl)
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    stac_extensions: [...new Set([...item.stacExtensions, extension])],
    id: item.stacId,
    ...(item.collectionId ? { collection: item.collectionId } : {}),
    geometry: item.geometry,
    ...(item.geometry && item.bbox ? { bbox: item.bbox } : {}),
    properties: propertiesOf(item),
    assets: Object.fromEntries(assets.map((asset) => [asset.key, assetOf(asset, item.id, baseUrl)])),
    links: linksOf(item, baseUrl),
  }
}

function propertiesOf(item: Item): Record<string, unknown> {
  return {
    title: item.name,
    ...(item.description === null ? {} : { description: item.description }),
    created: item.createdAt.toISOString(),
    updated: item.updatedAt.toISOString(),
    ...item.properties,
    datetime: item.datetime?.toISOString() ?? null,
    ...(item.startDatetime ? { start_datetime: item.startDatetime.toISOString() } : {}),
    ...(item.endDatetime ? { end_datetime: item.endDatetime.toISOString() } : {}),
    ...(item.cloudCover === null ? {} : { 'eo:cloud_cover': item.cloudCover }),
    ...(item.gsd === null ? {} : { gsd: item.gsd }),
    ...claimsOf(item),
  }
}

/** Read-time claims: never stored on the item, so they cannot be forged by its properties. */
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

function assetOf(asset: Asset, itemId: string, baseUrl: string): Record<string, unknown> {
  return {
    href: addressOf(asset, itemId, baseUrl),
    ...(asset.title === null ? {} : { title: asset.title }),
    ...(asset.mediaType === null ? {} : { type: asset.mediaType }),
    ...(asset.roles.length === 0 ? {} : { roles: asset.roles }),
    ...(asset.fileSizeBytes === null ? {} : { 'file:size': asset.fileSizeBytes }),
    ...(asset.bandNames === null ? {} : { 'eo:bands': asset.bandNames.map((name) => ({ name })) }),
  }
}

function linksOf(item: Item, baseUrl: string): Link[] {
  const collection = item.collectionId ? `${baseUrl}/stac/collections/${item.collectionId}` : null
  const self = collection ? `${collection}/items/${encodeURIComponent(item.id)}` : `${baseUrl}/stac/items/${encodeURIComponent(item.id)}`
  return [
    { rel: 'self', href: self, type: 'application/geo+json' },
    ...(collection ? [{ rel: 'collection', href: collection, type: 'application/json' }] : []),
  ]
}
