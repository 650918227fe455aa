/**
 * What Umbra delivered for a task: items of a STAC API whose assets have signed links while few items are asked for. The georeferenced
 * image is taken, and Umbra's description of it.
 */
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { checksumsOf } from '#adapters/vendors/multihash.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { FAILED_COLLECTS } from './states.ts'
import { MAX_COLLECTS, MAX_ITEMS, schemas, type Asset, type Collect, type Item, type Task } from './wire.ts'

const COLLECTION = 'umbra-sar'
const STAC = { service: 'stac' } as const

/** `waiting`: announced, but not there yet. */
export type Delivery =
  | { readonly state: 'files'; readonly files: readonly DeliveredFile[]; readonly failed: number }
  | { readonly state: 'waiting' }
  | { readonly state: 'failed'; readonly reason: string }

/** `sceneId`: of the ordered scene of the archive; null for a new image. */
export async function deliveryOf(host: Host, task: Task, sceneId: string | null, options: CallOptions): Promise<Delivery> {
  const collects = await collectsOf(host, task, options)
  const failed = collects.filter(({ properties }) => FAILED_COLLECTS.includes(properties.status))
  if (collects.length > 0 && failed.length === collects.length)
    return { state: 'failed', reason: `Umbra reports ${failed[0]!.properties.status} for every image of the task` }
  const items = await itemsOf(host, task, collects, options)
  const files = items.flatMap((item) => filesOf(item, sceneId ?? item.id))
  const isComplete = sceneId !== null || areThere(items, collects, failed)
  return files.length > 0 && isComplete ? { state: 'files', files, failed: failed.length } : { state: 'waiting' }
}

async function collectsOf(host: Host, { id }: Task, options: CallOptions): Promise<readonly Collect[]> {
  const body = { limit: MAX_COLLECTS, skip: 0, query: { taskId: { eq: id } } }
  const request = { service: 'tasking', method: 'POST' as const, path: '/collects/search', body, isRepeatable: true, ...options }
  return (await requireAnswer(host, schemas.collects, request, 'list of collects')).features
}

/** By the task, or by its collects: items of scenes of the archive may name the task that took them. */
async function itemsOf(host: Host, task: Task, collects: readonly Collect[], options: CallOptions): Promise<readonly Item[]> {
  const ofTask = await searchItems(host, 'umbra:task_id', task.id, options)
  if (ofTask.length > 0) return ofTask
  const ids = new Set([...(task.properties.collectIds ?? []), ...collects.map(({ id }) => id)])
  const found = await Promise.all([...ids].map((id) => searchItems(host, 'umbra:collect_id', id, options)))
  return found.flat().slice(0, MAX_ITEMS)
}

async function searchItems(host: Host, property: string, value: string, options: CallOptions): Promise<readonly Item[]> {
  const filter = { op: '=', args: [{ property }, value] }
  const body = { collections: [COLLECTION], 'filter-lang': 'cql2-json', filter, limit: MAX_ITEMS }
  const request = { ...STAC, method: 'POST' as const, path: '/search', body, isRepeatable: true, ...options }
  const { features } = await requireAnswer(host, schemas.items, request, 'list of items')
  // A filter that is ignored returns everything that the account has.
  return features.filter(({ properties }) => properties[property] === value)
}

/** Whether every collect that did not fail has an item. An item that names no collect counts for all. */
function areThere(items: readonly Item[], collects: readonly Collect[], failed: readonly Collect[]): boolean {
  const named = items.map(({ properties }) => [properties['umbra:collect_id'], properties['umbra:collect_ids']].flat().filter(Boolean))
  const hasItem = (id: string) => named.some((ids) => ids.length === 0 || ids.includes(id))
  return collects.every((collect) => failed.includes(collect) || hasItem(collect.id))
}

/** The current link of a file, which is signed for a limited time. */
export async function linkOf(host: Host, fileId: string, options: CallOptions): Promise<string> {
  const [itemId = '', key = ''] = fileId.split('/', 2).map(decodeURIComponent)
  const path = `/collections/${COLLECTION}/items/${encodeURIComponent(itemId)}`
  const item = await requireAnswer(host, schemas.item, { ...STAC, path, ...options }, 'item')
  const asset = Object.hasOwn(item.assets, key) ? item.assets[key]! : null
  const link = asset && [asset.alternate?.['s3_signed']?.href, asset.href].find((href) => href !== undefined && /^https?:/.test(href))
  if (link) return link
  throw new VendorError('unavailable', host.name, `${host.name} has no link to the file '${key}' at the moment`)
}

const RASTER = /^image\/(tiff|vnd\.stac\.geotiff)\b/
const JSON_TYPE = /^application\/(geo\+)?json\b/
const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const AMPLITUDE = [{ name: 'amplitude', role: 'AMPLITUDE' }]

const isNamed = (name: string, [key, { title }]: [string, Asset]): boolean =>
  title?.toUpperCase() === name || new RegExp(`_${name}(\\.[a-z]+)?$`, 'i').test(key)

function filesOf(item: Item, sceneId: string): DeliveredFile[] {
  const assets = Object.entries(item.assets)
  const rasters = assets.filter(([, { type }]) => RASTER.test(type ?? ''))
  const image = rasters.find((asset) => isNamed('GEC', asset)) ?? (rasters.length === 1 ? rasters[0] : undefined)
  if (!image) return []
  const metadata = assets.filter(([, { type }]) => JSON_TYPE.test(type ?? '')).find((asset) => isNamed('METADATA', asset))
  const file = ([key, asset]: [string, Asset], more: Pick<DeliveredFile, 'assetKey' | 'role' | 'mediaType' | 'bands'>): DeliveredFile => ({
    id: [item.id, key].map(encodeURIComponent).join('/'),
    fileName: key.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-120),
    sceneId,
    itemKey: item.id,
    bytes: asset['file:size'] ?? null,
    ...checksumsOf(asset['file:checksum']),
    datetime: timeIn(item),
    cloudCover: null,
    properties: publicProperties(item),
    ...more,
  })
  return [
    file(image, { assetKey: 'data', role: 'data', mediaType: COG_TYPE, bands: AMPLITUDE }),
    ...(metadata ? [file(metadata, { assetKey: 'metadata', role: 'metadata', mediaType: 'application/json', bands: [] })] : []),
  ]
}

function timeIn({ properties }: Item): string | null {
  const at = Date.parse(String(properties['datetime'] ?? properties['start_datetime']))
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Without whose account it was, and when it was filed. */
const publicProperties = ({ properties }: Item): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([name, value]) => value !== null && !['datetime', 'created', 'updated', 'umbra:organization_id'].includes(name),
    ),
  )
