/** The STAPI routes as OpenAPI, for clients that follow `service-desc`. The operations behind them are in `/openapi.json`. */
import { DEFAULT_LIMIT, MAX_LIMIT } from './input.ts'
import { GEOJSON_TYPE, JSON_TYPE, SCHEMA_TYPE, STAPI_VERSION, type Json } from './documents.ts'

const text = { type: 'string' }
const geometry = { type: 'object', description: 'GeoJSON Point, Polygon or MultiPolygon' }
const search = {
  datetime: { type: 'string', description: 'Two timestamps separated by `/`, with `..` for one open end' },
  geometry,
  filter: { type: ['object', 'null'], description: 'CQL2 JSON: upper limits of queryables, combined with `and`' },
}
const paging = {
  limit: { type: 'integer', minimum: 1, default: DEFAULT_LIMIT, description: `Maximum entries per page, reduced to ${MAX_LIMIT}` },
  next: { type: ['string', 'null'], description: 'From a `next` link' },
}
const BODIES = {
  opportunities: { type: 'object', required: ['datetime', 'geometry'], properties: { ...search, ...paging }, additionalProperties: false },
  orders: {
    type: 'object',
    required: ['datetime', 'geometry', 'order_parameters'],
    properties: { ...search, order_parameters: { type: 'object', description: 'As `order-parameters` of the product describes them' } },
    additionalProperties: false,
  },
}

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'Not possible in the current state',
  401: 'Missing or invalid credential',
  402: 'Not enough credits, or a spend limit is exceeded',
  403: 'The credential does not allow this',
  404: 'No such product or order',
  409: 'The Idempotency-Key was used with another body',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Invalid parameter or field; see `errors`',
  429: 'Rate limit exceeded',
  502: 'The vendor failed',
  503: 'The vendor or the database is not available',
}
const PROBLEM = { 'application/problem+json': { schema: { type: 'object' } } }

interface Route {
  path: string
  summary: string
  type?: string
  isPublic?: true
  isPaged?: true
  /** The name of its body; POST instead of GET. */
  body?: keyof typeof BODIES
  status?: 201
  refusals?: readonly number[]
}

const ROUTES: readonly Route[] = [
  { path: '', summary: 'Landing page', isPublic: true },
  { path: '/conformance', summary: 'Conformance classes', isPublic: true },
  { path: '/products', summary: 'Products', isPaged: true, refusals: [422] },
  { path: '/products/{product_id}', summary: 'Get a product', refusals: [404] },
  { path: '/products/{product_id}/conformance', summary: 'Conformance classes of a product', refusals: [404] },
  { path: '/products/{product_id}/queryables', summary: 'Properties for filters', type: SCHEMA_TYPE, refusals: [404] },
  { path: '/products/{product_id}/order-parameters', summary: 'Order parameters', type: SCHEMA_TYPE, refusals: [404] },
  {
    path: '/products/{product_id}/opportunities',
    summary: 'Search satellite passes',
    type: GEOJSON_TYPE,
    body: 'opportunities',
    refusals: [400, 404, 413, 415, 422, 502, 503],
  },
  {
    path: '/products/{product_id}/orders',
    summary: 'Place an order',
    type: GEOJSON_TYPE,
    body: 'orders',
    status: 201,
    refusals: [400, 402, 404, 409, 413, 415, 422, 502, 503],
  },
  { path: '/orders', summary: 'Orders, newest first', type: GEOJSON_TYPE, isPaged: true, refusals: [422] },
  { path: '/orders/{order_id}', summary: 'Get an order', type: GEOJSON_TYPE, refusals: [404] },
  { path: '/orders/{order_id}/statuses', summary: 'Statuses of an order, oldest first', isPaged: true, refusals: [404, 422] },
]

function operationOf({ path, summary, type = JSON_TYPE, isPublic, isPaged, body, status, refusals = [] }: Route): Json {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }))
  const inQuery = isPaged ? Object.entries(paging).map(([name, schema]) => ({ name, in: 'query', schema })) : []
  const parameters = [...inPath, ...inQuery]
  const statuses = isPublic ? [] : [401, 403, 429, ...refusals].toSorted((a, b) => a - b)
  return {
    summary,
    ...(isPublic ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${body}` } } } } } : {}),
    responses: {
      [status ?? 200]: { description: 'Done', content: { [type]: { schema: { type: 'object' } } } },
      ...Object.fromEntries(statuses.map((each) => [each, { description: REFUSALS[each], content: PROBLEM }])),
    },
  }
}

export function stapiApi(baseUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Groundtrack STAPI', version: STAPI_VERSION },
    servers: [{ url: `${baseUrl}/stapi` }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: Object.fromEntries(ROUTES.map((route) => [route.path || '/', { [route.body ? 'post' : 'get']: operationOf(route) }])),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: BODIES,
    },
  }
}
