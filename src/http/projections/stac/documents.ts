/** Documents of the STAC API that no operation returns: landing page, conformance, queryables, our extension. */
import { STAC_VERSION, withKey, type Link } from '#core/stac.ts'

const API = 'https://api.stacspec.org/v1.0.0'
const FEATURES = 'http://www.opengis.net/spec/ogcapi-features'
const CQL2 = 'http://www.opengis.net/spec/cql2/1.0/conf'

export const CONFORMANCE: readonly string[] = [
  `${API}/core`,
  `${API}/collections`,
  `${API}/ogcapi-features`,
  `${API}/ogcapi-features#sort`,
  `${API}/ogcapi-features#fields`,
  `${API}/ogcapi-features#query`,
  `${API}/item-search`,
  `${API}/item-search#sort`,
  `${API}/item-search#fields`,
  `${API}/item-search#query`,
  'https://api.stacspec.org/v1.0.0-rc.3/item-search#filter',
  `${FEATURES}-1/1.0/conf/core`,
  `${FEATURES}-1/1.0/conf/geojson`,
  `${FEATURES}-3/1.0/conf/filter`,
  `${FEATURES}-3/1.0/conf/features-filter`,
  `${CQL2}/basic-cql2`,
  `${CQL2}/cql2-json`,
  `${CQL2}/cql2-text`,
  `${CQL2}/advanced-comparison-operators`,
  `${CQL2}/basic-spatial-functions`,
  `${CQL2}/basic-spatial-functions-plus`,
  `${CQL2}/case-insensitive-comparison`,
  `${CQL2}/accent-insensitive-comparison`,
  `${CQL2}/temporal-functions`,
  `${CQL2}/arithmetic`,
]

export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const SCHEMA_TYPE = 'application/schema+json'
export const NDJSON_TYPE = 'application/x-ndjson'
export const PARQUET_TYPE = 'application/vnd.apache.parquet'
const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1'
const QUERYABLES = 'http://www.opengis.net/def/rel/ogc/1.0/queryables'

export interface FacadeLink extends Link {
  method?: 'GET' | 'POST'
  body?: object
  merge?: false
}

interface Seen {
  id: string
  title: string
}

/** With the collections that the caller can read; none for anonymous callers. */
export function landing(baseUrl: string, key: string | null, collections: readonly Seen[]) {
  const link = (rel: string, path: string, type: string, more: Partial<FacadeLink> = {}): FacadeLink => ({
    rel,
    href: withKey(`${baseUrl}${path}`, key),
    type,
    ...more,
  })
  return {
    type: 'Catalog',
    stac_version: STAC_VERSION,
    id: 'groundtrack',
    title: 'Groundtrack',
    description: 'Imagery of your organization: collections, items and search.',
    conformsTo: CONFORMANCE,
    links: [
      link('self', '/stac', JSON_TYPE),
      link('root', '/stac', JSON_TYPE),
      link('conformance', '/stac/conformance', JSON_TYPE),
      link('data', '/stac/collections', JSON_TYPE),
      link('search', '/stac/search', GEOJSON_TYPE, { method: 'GET' }),
      link('search', '/stac/search', GEOJSON_TYPE, { method: 'POST' }),
      link(QUERYABLES, '/stac/queryables', SCHEMA_TYPE),
      link('service-desc', '/stac/api', OPENAPI_TYPE),
      { rel: 'service-doc', href: `${baseUrl}/docs`, type: 'text/html' },
      ...collections.map(({ id, title }) => link('child', `/stac/collections/${id}`, JSON_TYPE, { title })),
    ],
  }
}

const TEXT = { type: 'string' }
const TIME = { type: 'string', format: 'date-time' }

const KNOWN = {
  id: { title: 'Id', ...TEXT },
  collection: { title: 'Collection', ...TEXT },
  geometry: { title: 'Geometry', format: 'geometry-any' },
  datetime: { title: 'Acquired', ...TIME },
  start_datetime: { title: 'Start of the acquisition', ...TIME },
  end_datetime: { title: 'End of the acquisition', ...TIME },
  created: { title: 'Registered', ...TIME },
  updated: { title: 'Changed', ...TIME },
  title: { title: 'Name', ...TEXT },
  'eo:cloud_cover': { title: 'Cloud cover', type: 'number', minimum: 0, maximum: 100 },
  gsd: { title: 'Ground sample distance', type: 'number', exclusiveMinimum: 0 },
  'svc:item_id': { title: 'Item ID in this service', ...TEXT },
  'svc:project_id': { title: 'Project', ...TEXT },
  'svc:item_type': { title: 'Item type', ...TEXT },
  'svc:lifecycle_state': { title: 'State', ...TEXT },
  'svc:source': { title: 'Source of the item', type: 'string', enum: ['ARCHIVE', 'PROCESSING', 'TASKING'] },
} as const

/** Properties that every item has, and those of the caller's newest items. Filters can use others, too. */
export function queryables(address: string, seen: readonly Readonly<Record<string, unknown>>[]) {
  const queryable: Record<string, object> = {}
  for (const properties of seen)
    for (const [name, value] of Object.entries(properties)) {
      const type = typeof value
      if (!(name in KNOWN) && (type === 'string' || type === 'number' || type === 'boolean')) queryable[name] ??= { title: name, type }
    }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: address,
    type: 'object',
    title: 'Queryables',
    properties: { ...KNOWN, ...Object.fromEntries(Object.entries(queryable).toSorted(([a], [b]) => (a < b ? -1 : 1))) },
    additionalProperties: true,
  }
}

/** The schema of the STAC extension that every item lists. */
export function extensionSchema(address: string) {
  const maybeText = { type: ['string', 'null'] }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `${address}#`,
    title: 'Groundtrack item extension',
    type: 'object',
    required: ['stac_extensions', 'properties'],
    properties: {
      stac_extensions: { type: 'array', contains: { const: address } },
      properties: {
        type: 'object',
        required: ['svc:item_id', 'svc:project_id', 'svc:item_type', 'svc:name', 'svc:lifecycle_state', 'svc:source'],
        properties: {
          'svc:item_id': TEXT,
          'svc:project_id': { ...TEXT, format: 'uuid' },
          'svc:order_id': maybeText,
          'svc:upload_id': maybeText,
          'svc:job_id': maybeText,
          'svc:item_type': TEXT,
          'svc:name': TEXT,
          'svc:lifecycle_state': { enum: ['active', 'expiring', 'archived', 'expired', 'deleted'] },
          'svc:source': { enum: ['ARCHIVE', 'PROCESSING', 'TASKING'] },
          'svc:mosaic_name': TEXT,
          'svc:mosaic_method': TEXT,
          'svc:source_collections': { type: 'array', items: TEXT },
          'svc:source_scene_count': { type: 'integer', minimum: 1 },
          'svc:data_type': maybeText,
          'svc:scene_host': TEXT,
          'svc:scene_collection': TEXT,
          'svc:scene_id': TEXT,
          'svc:scene_url': TEXT,
          'svc:license_name': TEXT,
          'svc:license_url': TEXT,
        },
      },
    },
  }
}
