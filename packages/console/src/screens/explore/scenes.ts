/** Scenes of every source, and the organization's own items, in one shape. */
import type { CatalogScene, CatalogSource, CatalogVendor, Input, ItemFeature } from '../../api/contract.ts'
import { coverage, polygonsOf, type AreaShape, type Box } from '../../map/geo.ts'
import { foundItem } from '../../state/found-item.ts'
import type { Scene, Sensor } from '../../state/scene.ts'
import { termsOf } from '../../state/terms.ts'
import { tileOf } from '../../ui/tile-path.ts'
import { creditsToSort, type ScenePrices } from './prices.ts'

export interface Filters {
  area: AreaShape | null
  /** The bounding box that is searched without an area. */
  view: Box
  from: string
  to: string
  cloud: number | null
  gsd: number | null
  sources: readonly string[] | null
}

type FilterUrl = { readonly [name in 'bbox' | 'from' | 'to' | 'cloud' | 'gsd' | 'sources']?: string | undefined }

const NOWHERE: Box = [0, 0, 0, 0]

export const filtersFromUrl = (url: FilterUrl, area: AreaShape | null): Filters => ({
  area,
  view: parseBox(url.bbox) ?? NOWHERE,
  from: url.from ?? '',
  to: url.to ?? '',
  cloud: parseNumber(url.cloud),
  gsd: parseNumber(url.gsd),
  sources: url.sources ? url.sources.split('.') : null,
})

const parseNumber = (text: string | undefined) => (text && Number.isFinite(Number(text)) ? Number(text) : null)

/** `west,south,east,north`; null for anything else. */
export function parseBox(text: string | undefined): Box | null {
  const numbers = (text ?? '').split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  return numbers.length === 4 && numbers.every(Number.isFinite) ? (numbers as Box) : null
}

/** As the contract writes an interval of time; open ends are `..`. */
export const intervalOf = ({ from, to }: Pick<Filters, 'from' | 'to'>) => (from || to ? `${from || '..'}/${to || '..'}` : null)

const MAX_PER_SOURCE = 100

/** The searches of one source: one for each polygon, because a search takes one. */
export const catalogInputs = (host: string, filters: Filters): Input<'catalog.search'>[] => {
  const polygons = polygonsOf(filters.area)
  if (polygons.length < 2) return [catalogInput(host, filters)]
  return polygons.map((coordinates) => catalogInput(host, { ...filters, area: { type: 'Polygon', coordinates } }))
}

export function catalogInput(host_name: string, { area, view, cloud, ...dates }: Filters): Input<'catalog.search'> {
  const datetime = intervalOf(dates)
  return {
    host_name,
    ...(area ? { intersects: area } : { bbox: view }),
    ...(datetime ? { datetime } : {}),
    ...(cloud === null ? {} : { query: { cloudCoverage: { LTE: cloud } } }),
    limit: MAX_PER_SOURCE,
  }
}

const number = (value: unknown) => (typeof value === 'number' ? value : null)
const text = (value: unknown) => (typeof value === 'string' ? value : null)

/** Of a scene that is sold from a price list. */
const PRICE_PROPERTIES = ['creditsPerSqKm', 'credits', 'billedByVendor']

/** A URL template without its origin. `URL` would escape the braces. */
const templateOf = (href: string | undefined) => href?.replace(/^https?:\/\/[^/]+/, '') ?? null

/** Where a scene comes from; the source is undefined if the list of sources could not be loaded. */
interface Origin {
  vendor: Pick<CatalogVendor, 'host_name' | 'title' | 'access_model'>
  source: Pick<CatalogSource, 'collections'> | undefined
}

const SENSOR_OF_TYPE: Readonly<Record<string, Sensor>> = {
  raster: 'optical',
  dem: 'elevation',
  altimetry: 'altimetry',
  pointcloud: 'pointcloud',
  vector: 'vector',
}

/** Radar has the type of other rasters; its scenes have properties of their own. */
function sensorOf(dataType: string | undefined, properties: Readonly<Record<string, unknown>>): Sensor | null {
  if (Object.keys(properties).some((name) => name.startsWith('sar:'))) return 'radar'
  if (dataType !== undefined) return SENSOR_OF_TYPE[dataType] ?? null
  return properties['eo:cloud_cover'] === undefined && properties['eo:bands'] === undefined ? null : 'optical'
}

export function sceneFromCatalog(feature: CatalogScene, { vendor, source }: Origin, area: AreaShape | null): Scene {
  const { properties, links, id, geometry } = feature
  const pathOf = (rel: string) => {
    const href = links.find((link) => link.rel === rel)?.href
    return href ? new URL(href, location.origin).pathname : null
  }
  const collection = source?.collections.find(({ id }) => id === feature.collection)
  const bands = Array.isArray(properties['eo:bands']) ? (properties['eo:bands'] as { name?: string }[]) : []
  return {
    key: `${vendor.host_name}/${id}`,
    id,
    kind: 'catalog',
    host: vendor.host_name,
    source: vendor.title,
    label: collection && source!.collections.length > 1 ? collection.title : vendor.title,
    sensor: sensorOf(collection?.data_type, properties),
    collection: feature.collection,
    isSimulated: properties['simulated'] === true,
    tiles: templateOf(links.find((link) => link.rel === 'xyz')?.href),
    terms: termsOf(properties),
    isForSale: vendor.access_model === 'commercial',
    product: text(properties['dataProduct']),
    hasListPrice: PRICE_PROPERTIES.some((name) => properties[name] !== undefined),
    datetime: text(properties['datetime']),
    cloud: number(properties['eo:cloud_cover']),
    gsd: number(properties['gsd']) ?? number(properties['pricingResolution']) ?? collection?.gsd ?? null,
    geometry,
    covered: area ? coverage(area, geometry) : null,
    creditsPerKm2: number(properties['creditsPerSqKm']),
    priceError: text(properties['priceError']),
    thumbnail: pathOf('thumbnail'),
    quicklook: pathOf('preview'),
    offNadir: number(properties['view:off_nadir']),
    sunElevation: number(properties['view:sun_elevation']),
    bands: (bands.length > 0 ? bands : (collection?.bands ?? [])).flatMap(({ name }) => name ?? []),
    title: id,
  }
}

export function sceneFromItem(feature: ItemFeature, area: AreaShape | null): Scene {
  const { id, name, datetime, bbox, geometry, properties } = foundItem(feature)
  return {
    key: `item/${id}`,
    id,
    kind: 'item',
    host: 'mine',
    source: name,
    label: name,
    sensor: sensorOf(undefined, properties),
    collection: null,
    isSimulated: properties['simulated'] === true,
    tiles: null,
    terms: termsOf(properties),
    isForSale: false,
    product: null,
    hasListPrice: false,
    datetime,
    cloud: number(properties['eo:cloud_cover']),
    gsd: number(properties['gsd']),
    geometry,
    covered: area ? coverage(area, geometry) : null,
    creditsPerKm2: null,
    priceError: null,
    thumbnail: tileOf(`/api/v1/items/${encodeURIComponent(id)}`, bbox),
    quicklook: null,
    offNadir: null,
    sunElevation: null,
    bands: [],
    title: name,
  }
}

export type Sort = 'newest' | 'clearest' | 'covers' | 'cheapest'

// Dates of the contract are all written alike, so that they sort as text does.
const newest = (a: Scene, b: Scene) => Number((a.datetime ?? '') < (b.datetime ?? '')) - Number((a.datetime ?? '') > (b.datetime ?? ''))

const ORDERS: Readonly<Record<Sort, (a: Scene, b: Scene, prices: ScenePrices) => number>> = {
  newest,
  clearest: (a, b) => (a.cloud ?? 101) - (b.cloud ?? 101) || newest(a, b),
  covers: (a, b) => (b.covered ?? 0) - (a.covered ?? 0) || newest(a, b),
  cheapest: (a, b, prices) => creditsToSort(a, prices) - creditsToSort(b, prices) || newest(a, b),
}

export const sortFromUrl = (text: string | undefined): Sort =>
  text !== undefined && Object.hasOwn(ORDERS, text) ? (text as Sort) : 'newest'

/** Real scenes come before simulated ones. */
export const sortScenes = (scenes: readonly Scene[], sort: Sort, prices: ScenePrices): Scene[] =>
  scenes.toSorted((a, b) => Number(a.isSimulated) - Number(b.isSimulated) || ORDERS[sort](a, b, prices))
