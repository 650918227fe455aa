/** The STAC API as OpenAPI, for clients that follow `service-desc`. The operations behind it are in `/openapi.json`. */
const QUERY = [
  ['bbox', 'Four or six numbers, separated by commas'],
  ['datetime', 'RFC 3339 timestamp, or start/end with `..` for an open end'],
  ['intersects', 'GeoJSON geometry'],
  ['ids', 'Item IDs, separated by commas'],
  ['collections', 'Collection IDs, separated by commas'],
  ['limit', 'Maximum items per page'],
  ['filter', 'CQL2 expression'],
  ['filter-lang', '`cql2-text` or `cql2-json`'],
  ['sortby', '`-datetime,+id`'],
  ['fields', '`properties.datetime,-assets`'],
  ['query', 'Conditions of the Query extension, as JSON'],
  ['token', 'Page token from a `next` link'],
  ['f', '`json`, `ndjson` or `parquet`; the last two return all pages as one file'],
] as const

const PATHS: readonly { path: string; summary: string; type: string; query?: true; post?: true }[] = [
  { path: '/stac', summary: 'Landing page', type: 'application/json' },
  { path: '/stac/conformance', summary: 'Conformance classes', type: 'application/json' },
  { path: '/stac/collections', summary: 'Collections', type: 'application/json' },
  { path: '/stac/collections/{collection_id}', summary: 'Get a collection', type: 'application/json' },
  { path: '/stac/collections/{collection_id}/items', summary: 'List the items of a collection', type: 'application/geo+json', query: true },
  { path: '/stac/collections/{collection_id}/items/{item_id}', summary: 'Get an item', type: 'application/geo+json' },
  { path: '/stac/collections/{collection_id}/queryables', summary: 'Queryables of a collection', type: 'application/schema+json' },
  { path: '/stac/items/{item_id}', summary: 'Get an item without a collection', type: 'application/geo+json' },
  { path: '/stac/queryables', summary: 'Queryables of all items', type: 'application/schema+json' },
  { path: '/stac/search', summary: 'Search', type: 'application/geo+json', query: true, post: true },
]

export function apiDocument(baseUrl: string) {
  return {
    openapi: '3.1.0',
    info: { title: 'Groundtrack STAC API', version: '1.0.0' },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }, { apiKey: [] }, { key: [] }],
    paths: stacPaths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        key: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
  }
}

/** Path parameters are in braces. */
function stacPaths(): Record<string, unknown> {
  const parameter = (place: 'path' | 'query', name: string, description: string) => ({
    name,
    in: place,
    required: place === 'path',
    description,
    schema: { type: 'string' },
  })
  return Object.fromEntries(
    PATHS.map(({ path, summary, type, query, post }) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter('path', name!, 'Its id'))
      const parameters = [...names, ...(query ? QUERY.map(([name, description]) => parameter('query', name, description)) : [])]
      const responses = { '200': { description: 'Done', content: { [type]: { schema: { type: 'object' } } } } }
      const body = { content: { 'application/json': { schema: { type: 'object' } } } }
      const get = { summary, ...(parameters.length > 0 ? { parameters } : {}), responses }
      return [path, { get, ...(post ? { post: { summary, requestBody: body, responses } } : {}) }]
    }),
  )
}
