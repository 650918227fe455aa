/** Search of Planet's catalogue (Data API). Its collections are item types; only scenes that the account can download are found. */
import { areaBounds } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { ask } from '#adapters/vendors/ask.ts'
import { hasWantedClouds } from '#adapters/vendors/cloud-cover.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { fetchPreview } from '#adapters/vendors/preview.ts'
import type { HostAddress } from '#adapters/vendors/registry.ts'
import { areaFrom, footprintFrom } from '#adapters/vendors/shapes.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, ScenePage, SceneSearch, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import type { AccountCheck } from '#ports/vendors/vendors.ts'
import { isOfferedAs } from './bundles.ts'
import { QUICK_SEARCH, type Items } from './items.ts'
import { MAX_PAGE_SIZE, schemas, type Item } from './wire.ts'

/** Where the pages of a search are; cursors lead nowhere else. */
const NEXT_PAGE = /^\/data\/v1\/searches\/[A-Za-z0-9_-]{1,100}\/results\?[!-~]{1,7900}$/
/** Asked of the thumbnail service, whose usual images have 256 pixels. */
const OVERVIEW_PX = 512

const PERMITTED = { type: 'PermissionFilter', config: ['assets:download'] }

interface CatalogParts {
  readonly source: Source
  readonly products: readonly Product[]
  readonly address: Pick<HostAddress, 'services'>
  readonly items: Items
}

export function createPlanetCatalog(host: Host, { source, products, address, items }: CatalogParts): VendorCatalog {
  const toScene = (item: Item): Scene | null => sceneOf(item, source, products)
  const search = async (query: SceneSearch, options: CallOptions): Promise<ScenePage> => {
    if (query.ids) {
      const found = await items.find(query.ids.slice(0, MAX_PAGE_SIZE), options)
      return { scenes: query.ids.flatMap((id) => sceneIn(found, id) ?? []), cursor: null }
    }
    const page = await ask(host, schemas.page, { ...requestFor(host, source, query), ...options }, 'list of items')
    if (!page) throw new VendorError('invalid-response', host.name, `${host.name} does not know the next page any more; search again`)
    items.keep(page.features)
    const scenes = page.features.flatMap((item) => toScene(item) ?? [])
    return {
      scenes: scenes.filter(({ cloudCover }) => hasWantedClouds(cloudCover, query.cloudCover)),
      cursor: cursorOf(page._links?._next, host),
    }
  }
  const sceneIn = (found: ReadonlyMap<string, Item>, id: string): Scene | null => {
    const item = found.get(id)
    return item ? toScene(item) : null
  }
  const isTrusted = (target: URL) =>
    [host.url, address.services['tiles']].some((url) => url !== undefined && new URL(url).origin === target.origin)
  return {
    search: (query, options = {}) => search(query, options),
    async probe(options = {}) {
      await checkPlanetAccount(host, source, options)
    },
    scene: async (id, options = {}) => sceneIn(await items.find([id], options), id),
    read() {
      throw new VendorError('refused', host.name, `${host.name} has no files that can be read before they are ordered`)
    },
    preview: ({ assets }, kind, options = {}) => fetchPreview(host, assets[kind]?.href, isTrusted, options),
  }
}

/** Searches for one scene that the account can download, of any place and day. */
export async function checkPlanetAccount(host: Host, source: Source, options: CallOptions): Promise<AccountCheck> {
  const body = { item_types: source.collections.map(({ id }) => id), filter: PERMITTED }
  const request = { method: 'POST' as const, path: `${QUICK_SEARCH}?_page_size=1`, body, isRepeatable: true, ...options }
  const page = await ask(host, schemas.page, request, 'list of items')
  if (!page) throw new VendorError('invalid-response', host.name, `${host.name} has no search`)
  if (page.features.length > 0) return { detail: null }
  return { detail: 'The contract of this key does not allow any of the item types that are searched here to be downloaded' }
}

function requestFor(host: Host, source: Source, query: SceneSearch) {
  if (query.cursor != null) {
    if (!NEXT_PAGE.test(query.cursor)) throw new VendorError('refused', host.name, 'The cursor is not of this search')
    return { path: query.cursor }
  }
  const wanted = source.collections.map(({ id }) => id).filter((id) => !query.collections?.length || query.collections.includes(id))
  const path = `${QUICK_SEARCH}?_sort=acquired%20desc&_page_size=${Math.min(query.limit, MAX_PAGE_SIZE)}`
  return { method: 'POST' as const, path, body: { item_types: wanted, filter: filterOf(query) }, isRepeatable: true }
}

/** Of the link to the next page only the path is kept: it must be at the API itself. */
function cursorOf(next: string | null | undefined, host: Host): string | null {
  if (!next) return null
  const path = next.startsWith(`${host.url}/`) ? next.slice(host.url.length) : ''
  if (!NEXT_PAGE.test(path)) throw new VendorError('invalid-response', host.name, `${host.name} returned an invalid link to the next page`)
  return path
}

function filterOf({ from, to, bbox, intersects, cloudCover }: SceneSearch): object {
  const area = intersects ?? (bbox && boxOf(bbox))
  const dates = { ...(from ? { gte: from.toISOString() } : {}), ...(to ? { lte: to.toISOString() } : {}) }
  return {
    type: 'AndFilter',
    config: [
      PERMITTED,
      ...(area ? [{ type: 'GeometryFilter', field_name: 'geometry', config: area }] : []),
      ...(from || to ? [{ type: 'DateRangeFilter', field_name: 'acquired', config: dates }] : []),
      ...(cloudCover
        ? [{ type: 'RangeFilter', field_name: 'cloud_cover', config: { [cloudCover.operator.toLowerCase()]: cloudCover.percent / 100 } }]
        : []),
    ],
  }
}

/** A box across the antimeridian has two parts. */
function boxOf([west, south, east, north]: NonNullable<SceneSearch['bbox']>): AreaGeometry {
  const rectangle = (left: number, right: number): [number, number][][] => [
    [
      [left, south],
      [right, south],
      [right, north],
      [left, north],
      [left, south],
    ],
  ]
  if (west <= east) return { type: 'Polygon', coordinates: rectangle(west, east) }
  return { type: 'MultiPolygon', coordinates: [rectangle(west, 180), rectangle(-180, east)] }
}

/** Null for an item type that the registry does not list. */
function sceneOf(item: Item, source: Source, products: readonly Product[]): Scene | null {
  const { id, geometry, properties } = item
  const collection = properties.item_type
  if (!source.collections.some((each) => each.id === collection)) return null
  const area = areaFrom(geometry)
  const bbox = area && areaBounds(area)
  return {
    id,
    collection,
    geometry: footprintFrom(geometry, bbox),
    bbox,
    datetime: acquiredAt(item),
    cloudCover: cloudCoverOf(item),
    properties: propertiesOf(item),
    assets: picturesOf(item._links?.thumbnail),
    productId: products.find((product) => isOfferedAs(product, item))?.id ?? null,
    url: null,
    licenseUrl: null,
  }
}

export function acquiredAt({ properties: { acquired } }: Item): string | null {
  const at = Date.parse(acquired)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Percent. Older items have only the fraction. */
export function cloudCoverOf({ properties: { cloud_percent: percent, cloud_cover: fraction } }: Item): number | null {
  const cover = percent ?? (fraction == null ? null : Math.round(fraction * 1e4) / 100)
  return cover !== null && cover >= 0 && cover <= 100 ? cover : null
}

/** Properties of a scene, and of the item that it becomes, with STAC names where there are some. */
export function propertiesOf(item: Item): Record<string, unknown> {
  const { properties: from } = item
  const stated = {
    platform: from.satellite_id,
    constellation: from.provider,
    instruments: from.instrument == null ? null : [from.instrument],
    gsd: from.gsd,
    'eo:cloud_cover': cloudCoverOf(item),
    'view:off_nadir': from.view_angle == null ? null : Math.abs(from.view_angle),
    'view:sun_azimuth': from.sun_azimuth,
    'view:sun_elevation': from.sun_elevation,
    'pl:item_type': from.item_type,
    'pl:quality_category': from.quality_category,
    'pl:publishing_stage': from.publishing_stage,
    'pl:strip_id': from.strip_id,
  }
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value != null))
}

function picturesOf(thumbnail: string | null | undefined): Scene['assets'] {
  const larger = thumbnail == null ? null : URL.parse(thumbnail)
  if (!larger) return {}
  const asset = (href: string, role: string) => ({ href, type: 'image/png', title: null, roles: [role], fields: {} })
  const small = asset(larger.href, 'thumbnail')
  larger.searchParams.set('width', String(OVERVIEW_PX))
  return { thumbnail: small, overview: asset(larger.href, 'overview') }
}
