/** Search of SkyFi's archive. Its areas are WKT: one convex polygon. */
import { areaBounds } from '#core/area.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { convexHull, polygonWkt, readWkt } from '#core/wkt.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, ScenePage, SceneSearch, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import { ask } from '#adapters/vendors/ask.ts'
import { hasWantedClouds } from '#adapters/vendors/cloud-cover.ts'
import { isListed, type Host } from '#adapters/vendors/host.ts'
import { fetchPreview } from '#adapters/vendors/preview.ts'
import type { HostAddress } from '#adapters/vendors/registry.ts'
import { footprintFrom } from '#adapters/vendors/shapes.ts'
import type { Archives } from './archives.ts'
import { schemas, type Archive } from './wire.ts'

const MAX_PAGE_SIZE = 100
/** Scenes that one search looks up by their IDs. */
const MAX_IDS = 20

interface CatalogParts {
  readonly source: Source
  readonly products: readonly Product[]
  readonly address: Pick<HostAddress, 'downloadHosts'>
  readonly archives: Archives
}

export function createSkyfiCatalog(host: Host, { source, products, address, archives }: CatalogParts): VendorCatalog {
  const toScene = (archive: Archive): Scene | null => sceneOf(archive, source, products)
  const search = async (query: SceneSearch, options: CallOptions): Promise<ScenePage> => {
    if (query.ids) return { scenes: await byIds(query.ids, options), cursor: null }
    const request =
      query.cursor == null
        ? { method: 'POST' as const, path: '/archives', body: searchBody(host, source, query), isRepeatable: true }
        : { path: `/archives?page=${encodeURIComponent(query.cursor)}` }
    const page = await ask(host, schemas.page, { ...request, ...options }, 'list of archives')
    if (!page) throw new VendorError('invalid-response', host.name, `${host.name} does not know the next page any more; search again`)
    archives.keep(page.archives)
    const scenes = page.archives.flatMap((archive) => toScene(archive) ?? [])
    return { scenes: scenes.filter(({ cloudCover }) => hasWantedClouds(cloudCover, query.cloudCover)), cursor: pageOf(page.nextPage, host) }
  }
  const byIds = async (ids: readonly string[], options: CallOptions): Promise<Scene[]> => {
    const found = await Promise.all(ids.slice(0, MAX_IDS).map((id) => archives.get(id, options)))
    return found.flatMap((archive) => (archive && toScene(archive)) ?? [])
  }
  return {
    search: (query, options = {}) => search(query, options),
    async probe(options = {}) {
      await ask(host, schemas.whoami, { path: '/auth/whoami', ...options }, 'account')
    },
    async scene(id, options = {}) {
      const archive = await archives.get(id, options)
      return archive && toScene(archive)
    },
    read() {
      throw new VendorError('refused', host.name, `${host.name} has no files that can be read before they are ordered`)
    },
    preview({ assets }, kind, options = {}) {
      const isTrusted = (target: URL) =>
        target.origin === new URL(host.url).origin || address.downloadHosts.some((pattern) => isListed(target, pattern))
      return fetchPreview(host, assets[kind]?.href, isTrusted, options)
    },
  }
}

/** The `page` parameter of the next page's URL: only its value is used, never the host that it names. */
function pageOf(nextPage: string | null | undefined, host: Host): string | null {
  if (nextPage == null || nextPage === '') return null
  const page = URL.parse(nextPage, host.url)?.searchParams.get('page')
  if (!page) throw new VendorError('invalid-response', host.name, `${host.name} returned an invalid link to the next page`)
  return page
}

function searchBody(host: Host, source: Source, query: SceneSearch): Record<string, unknown> {
  const { from, to, cloudCover, collections, limit } = query
  const isUpperLimit = cloudCover?.operator === 'LTE' || cloudCover?.operator === 'LT'
  const wanted = source.collections.filter(({ id }) => !collections?.length || collections.includes(id))
  return {
    aoi: polygonWkt([searchRing(host, query)]),
    ...(from ? { fromDate: from.toISOString() } : {}),
    ...(to ? { toDate: to.toISOString() } : {}),
    ...(isUpperLimit ? { maxCloudCoveragePercent: cloudCover.percent } : {}),
    productTypes: wanted.map(({ id }) => productTypeOf(id)),
    pageSize: Math.min(limit, MAX_PAGE_SIZE),
  }
}

/** SkyFi searches convex areas: around any other, its convex hull is searched. */
function searchRing(host: Host, { bbox, intersects }: SceneSearch): Position[] {
  if (intersects) return convexHull(intersects)
  if (!bbox) throw new VendorError('refused', host.name, `${host.name} can only be searched with an area`)
  const [west, south, east, north] = bbox
  if (west > east) throw new VendorError('refused', host.name, `${host.name} cannot be searched across the antimeridian`)
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

const PREFIX = 'skyfi-'
/** The collections of the registry are SkyFi's product types: `skyfi-day` is DAY. */
const productTypeOf = (collectionId: string): string => collectionId.slice(PREFIX.length).toUpperCase()
const collectionOf = (productType: string): string => `${PREFIX}${productType.toLowerCase()}`

/** Null for a type of product that the registry does not list. */
function sceneOf(archive: Archive, source: Source, products: readonly Product[]): Scene | null {
  const collection = collectionOf(archive.productType)
  if (!source.collections.some(({ id }) => id === collection)) return null
  const footprint = readWkt(archive.footprint)
  const bbox = footprint && areaBounds(footprint as AreaGeometry)
  const at = Date.parse(archive.captureTimestamp)
  return {
    id: archive.archiveId,
    collection,
    geometry: footprintFrom(footprint, bbox),
    bbox,
    datetime: Number.isNaN(at) ? null : new Date(at).toISOString(),
    cloudCover: archive.cloudCoveragePercent ?? null,
    properties: propertiesOf(archive),
    assets: picturesOf(archive.thumbnailUrls ?? {}),
    productId: products.find((product) => product.type === 'ARCHIVE' && product.collection === collection)?.id ?? null,
    url: null,
    licenseUrl: null,
  }
}

/** Properties of a scene, and of the item that it becomes, with STAC names. */
export function propertiesOf(archive: Archive): Record<string, unknown> {
  const { cloudCoveragePercent, offNadirAngle, platformResolution } = archive
  return {
    platform: archive.constellation,
    constellation: archive.constellation,
    gsd: platformResolution / 100,
    ...(cloudCoveragePercent == null ? {} : { 'eo:cloud_cover': cloudCoveragePercent }),
    ...(offNadirAngle == null ? {} : { 'view:off_nadir': Math.abs(offNadirAngle) }),
    'skyfi:provider': archive.provider,
    'skyfi:product_type': archive.productType,
    'skyfi:resolution': archive.resolution,
    'skyfi:open_data': archive.openData ?? false,
    'skyfi:min_sqkm': archive.minSqKm,
    'skyfi:max_sqkm': archive.maxSqKm,
  }
}

/** The smallest and the largest thumbnail; their keys are sizes such as `300x300`. */
function picturesOf(urls: Readonly<Record<string, string>>): Scene['assets'] {
  const bySize = Object.entries(urls).toSorted(([a], [b]) => (Number.parseInt(a, 10) || 0) - (Number.parseInt(b, 10) || 0))
  const [first, last] = [bySize[0], bySize.at(-1)]
  if (!first || !last) return {}
  const asset = (href: string, role: string) => ({
    href,
    type: /\.jpe?g(\?|$)/i.test(href) ? 'image/jpeg' : 'image/png',
    title: null,
    roles: [role],
    fields: {},
  })
  return { thumbnail: asset(first[1], 'thumbnail'), overview: asset(last[1], 'overview') }
}
