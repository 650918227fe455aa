/** The published contract, generated from the schemas that validate every call. */
import { DOMAINS } from '#contract/domains.ts'
import { PUBLISHED_COUNT, TABLE } from '#contract/table.ts'
import { Problem, PROBLEMS, type ProblemSlug } from '#core/problem.ts'
import type { AnyOperation, Tier } from '#operation.ts'
import { sharePaths } from './projections/share.ts'
import { catalogPaths } from './projections/catalog.ts'
import { tilePaths } from './projections/tiles.ts'
import { assetPaths } from './projections/assets.ts'
import { wmtsPaths } from './projections/wmts.ts'
import { Limits } from './limits.ts'
import { authPaths } from './openapi-auth.ts'
import { hoist, named, requestName, responseName, returned, shareParameters, type Json } from './openapi-schemas.ts'

/** Increases with every change of the contract after the first release; it is not the `/v1` of the path. */
export const CONTRACT_VERSION = '2.0.0'

/** Operations for operators are served but not published. */
export function isPublished(op: AnyOperation): boolean {
  return TABLE.get(op.id)?.status !== 'operator'
}

export function openApiDocument(operations: ReadonlyMap<string, AnyOperation>, baseUrl: string): Json {
  const schemas: Json = { Problem: PROBLEM_SCHEMA }
  const published = [...operations.values()].filter(isPublished).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const paths: Json = { ...authPaths(schemas), ...eventTypesPath(schemas), ...eventStreamPath, ...limitsPath(schemas) }
  for (const op of published) paths[`/v1/op/${op.id}`] = { post: describe(op, schemas) }
  Object.assign(paths, tilePaths(), assetPaths(), wmtsPaths(), sharePaths(), catalogPaths())
  const parameters: Json = { IdempotencyKey: IDEMPOTENCY_PARAMETER }
  shareParameters(paths, parameters)
  const domains = [...new Set(published.map((op) => op.id.split('.')[0]!))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Groundtrack',
      version: CONTRACT_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...ROUTE_TAGS, ...domains.map((name) => ({ name, description: DOMAINS[name] }))],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A session token from `POST /auth/sign-in`, or an API key (`svc_…`).' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'An API key, for tools that cannot set `Authorization`. On GET routes `?key=` works too.',
        },
      },
      parameters,
      headers: RATE_HEADERS,
      responses: Object.fromEntries(
        PROBLEM_RESPONSES.map(([status, description]) => [`Problem${status}`, problemResponse(status, description)]),
      ),
      schemas: sorted(schemas),
    },
  }
}

const ROUTE_TAGS = [
  { name: 'Sign-in', description: 'Accounts and sessions of users' },
  { name: 'Events', description: 'Event stream and event types' },
  { name: 'Limits', description: 'Size, rate and count limits of the service' },
]

const DESCRIPTION = `Satellite and aerial imagery as typed operations: ${PUBLISHED_COUNT}.

Every operation is \`POST /v1/op/{operation}\` with a JSON object as its body. \
The resource path \`POST /v1/{resource}/{action}\`, with a slash for each dot of the id, \
is the same operation: same body, credentials, checks and errors.

Failures are \`application/problem+json\` (RFC 9457); \
\`code\` is the problem type, \`type\` the URL of its documentation, \`instance\` the ID of the call. \
Unknown fields are rejected. Times are RFC 3339 in UTC; geometry is GeoJSON in WGS84.`

function describe(op: AnyOperation, schemas: Json): Json {
  const row = TABLE.get(op.id)!
  return {
    operationId: op.id,
    tags: [row.domain],
    summary: row.summary,
    description: descriptionOf(op),
    'x-side-effect': op.tier,
    'x-required-scope': op.scope,
    'x-public': op.public ?? false,
    'x-idempotent': op.idempotent ?? false,
    'x-raw': op.raw ?? 'json',
    ...(op.public ? { security: [] } : {}),
    ...(op.tier === 'read' || op.public ? {} : { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] }),
    requestBody: {
      required: (op.input as { required?: string[] }).required !== undefined,
      content: { 'application/json': { schema: requestOf(op, schemas), example: op.example.input } },
    },
    responses: { '200': success(op, schemas), ...failures(op) },
  }
}

const requestOf = (op: AnyOperation, schemas: Json): Json => named(requestName(op.id), op.input, schemas, `Request body of \`${op.id}\``)

/** In a fixed order, independent of registration. */
const sorted = (schemas: Json): Json => Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** In addition to the summary: required credentials and effects. */
function descriptionOf(op: AnyOperation): string {
  const credential = op.public ? 'Requires no credential.' : `Requires the scope \`${op.scope}\`.`
  const idempotency = op.tier === 'read' || op.public ? '' : ' Send an `Idempotency-Key`: without one, a retry can run twice.'
  return `${credential} ${EFFECTS[op.tier]}${idempotency}`
}

const EFFECTS: Record<Tier, string> = {
  read: 'Read-only.',
  compute: 'Changes data of the organization.',
  external_spend: 'Spends money or credits.',
  share_export: 'Shares or exports data or access.',
  destructive: 'Deletes data.',
}

const RAW_TYPES = { bytes: 'application/octet-stream', xml: 'application/xml', ndjson: 'application/x-ndjson' } as const

function success(op: AnyOperation, schemas: Json): Json {
  const types = op.mediaTypes ?? [op.raw && op.raw !== 'json' ? RAW_TYPES[op.raw] : (op.mediaType ?? 'application/json')]
  const example = op.example.output === undefined ? {} : { example: op.example.output }
  const schema = contentOf(op, schemas)
  return {
    description: returned(op, schemas),
    headers: {
      'X-Svc-Invocation-ID': { $ref: '#/components/headers/InvocationId' },
      RateLimit: { $ref: '#/components/headers/RateLimit' },
      'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
    },
    content: Object.fromEntries(types.map((type) => [type, { schema, ...example }])),
  }
}

function contentOf(op: AnyOperation, schemas: Json): Json {
  if (op.raw === 'bytes') return { type: 'string', format: 'binary' }
  if (op.raw === 'xml') return { type: 'string' }
  return named(responseName(op.id), op.output, schemas, `Response of \`${op.id}\``)
}

const PROBLEM_RESPONSES: readonly (readonly [number, string])[] = [
  [400, 'The request cannot be carried out'],
  [401, 'Missing or invalid credential'],
  [402, 'Not enough credits, no confirmed card, or a plan quota is exceeded'],
  [403, 'The credential lacks the required scope, role or organization'],
  [404, 'Not found, or not visible to the caller'],
  [409, 'Conflict with the current state; or the Idempotency-Key was used with another body or is still in use'],
  [410, 'No longer available: past its retention, or the file could not be converted'],
  [413, 'The request or response is too large'],
  [415, 'Unsupported media type of the request body'],
  [422, 'A field is missing, unknown or invalid'],
  [429, 'Too many requests'],
  [500, 'Server error; the request was rolled back'],
  [502, 'An upstream host or the payment processor returned an invalid response'],
  [503, 'Temporarily unavailable; try again later'],
  [504, 'An upstream host did not respond in time'],
  [507, 'The storage of the service is full'],
]

/** Domains that send requests to vendors. */
const ASKING = ['catalog', 'orders', 'eulas', 'glossary']

/** Operations that can return 410. */
const OF_GONE = ['items.get', 'items.asset.download']

function failures(op: AnyOperation): Json {
  const asksForMoney = op.tier === 'external_spend' || op.scope === 'billing:write'
  const isWrite = op.tier !== 'read'
  const apply = (status: number) =>
    (status !== 409 || isWrite) &&
    (status !== 410 || OF_GONE.includes(op.id)) &&
    (![502, 504].includes(status) || asksForMoney || ASKING.includes(op.id.split('.')[0]!)) &&
    (![402, 507].includes(status) || isWrite)
  return Object.fromEntries(
    PROBLEM_RESPONSES.filter(([status]) => apply(status)).map(([status]) => [
      String(status),
      { $ref: `#/components/responses/Problem${status}` },
    ]),
  )
}

function problemResponse(status: number, description: string): Json {
  const slug = Object.entries(PROBLEMS).find(([, entry]) => entry.status === status)![0] as ProblemSlug
  const example = {
    type: `/problems/${slug}`,
    title: new Problem(slug, '').title,
    status,
    detail: description,
    instance: 'urn:uuid:0199f2c5-0001-7aaa-8bbb-0123456789ab',
    code: slug,
    ...(status === 422 ? { errors: [{ field: 'name', message: 'is required' }] } : {}),
  }
  return { description, content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example } } }
}

const PROBLEM_SCHEMA = {
  type: 'object',
  description: 'Problem details (RFC 9457). Some problem types add further members.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'URL of the documentation of the problem type' },
    title: { type: 'string', description: 'Short name of the problem type' },
    status: { type: 'integer', description: 'HTTP status code' },
    detail: { type: 'string', description: 'What went wrong and what to change' },
    instance: { type: 'string', description: 'ID of this call; quote it when contacting support' },
    code: { type: 'string', enum: Object.keys(PROBLEMS), description: 'Problem type, for programs to act on' },
    errors: {
      type: 'array',
      description: 'Invalid fields; present with status 422',
      items: {
        type: 'object',
        description: 'An invalid field',
        required: ['field', 'message'],
        properties: {
          field: { type: 'string', description: 'Path of the field' },
          message: { type: 'string', description: 'What the field must be' },
        },
      },
    },
  },
}

const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'A unique string that you choose for each request. An identical retry within 24 hours returns the first response byte for ' +
    'byte and executes nothing.',
}

const RATE_HEADERS = {
  InvocationId: { description: 'ID of this call in the audit log and in lineage', schema: { type: 'string', format: 'uuid' } },
  RateLimit: { description: 'Remaining requests and seconds until the window ends: `"key";r=9999;t=3600`', schema: { type: 'string' } },
  RateLimitPolicy: { description: 'The quota and its window: `"key";q=10000;w=3600`', schema: { type: 'string' } },
}

const text = { type: 'string' }

const eventStreamPath = {
  '/v1/events': {
    get: {
      operationId: 'events.stream',
      summary: "Stream the organization's events as server-sent events. The stream ends when its credential expires or is revoked.",
      description: 'Requires the scope `event_subscriptions:read`. Events of private projects are only sent to their members.',
      tags: ['Events'],
      'x-required-scope': 'event_subscriptions:read',
      parameters: [
        {
          name: 'Last-Event-ID',
          in: 'header',
          required: false,
          schema: { type: 'string', format: 'uuid' },
          description: 'ID of the last event received; the stream resumes after it, without gaps or duplicates.',
        },
      ],
      responses: {
        '200': { description: 'A stream of server-sent events', content: { 'text/event-stream': { schema: text } } },
        '401': { $ref: '#/components/responses/Problem401' },
        '403': { $ref: '#/components/responses/Problem403' },
        '422': { $ref: '#/components/responses/Problem422' },
        '429': { $ref: '#/components/responses/Problem429' },
        '503': { $ref: '#/components/responses/Problem503' },
      },
    },
  },
}

const limitsPath = (schemas: Json) => ({
  '/v1/limits': {
    get: {
      operationId: 'limits.get',
      summary: 'Get the limits of bodies, expressions, filters, geometries, pages, connections and organizations.',
      description: 'Requires no credential. The values are constant while the service runs, so send `If-None-Match`.',
      tags: ['Limits'],
      security: [],
      responses: {
        '200': { description: 'The limits', content: { 'application/json': { schema: hoist(Limits, schemas) } } },
        '304': { description: 'Not modified' },
      },
    },
  },
})

const EVENT_TYPES_SCHEMA = {
  type: 'object',
  required: ['event_types'],
  properties: {
    event_types: {
      type: 'array',
      description: 'Event types the platform emits',
      items: {
        type: 'object',
        description: 'An event type',
        required: ['type', 'domain', 'description', 'entity_type', 'data_schema'],
        properties: {
          type: { type: 'string', description: 'Event type, such as `order.placed`' },
          domain: { type: 'string', description: 'Area of the platform the event belongs to' },
          description: { type: 'string', description: 'When the event is emitted' },
          entity_type: { type: 'string', description: 'Type of the object the event is about' },
          data_schema: { type: 'object', additionalProperties: true, description: 'JSON Schema of the event data' },
        },
      },
    },
  },
}

const eventTypesPath = (schemas: Json) => ({
  '/v1/event-types': {
    get: {
      operationId: 'event_types.list',
      summary: 'List the event types, with the schema of their data.',
      tags: ['Events'],
      responses: {
        '200': {
          description: 'Event types the platform emits',
          content: { 'application/json': { schema: named('EventTypesListResponse', EVENT_TYPES_SCHEMA, schemas, 'Event types') } },
        },
        '401': { $ref: '#/components/responses/Problem401' },
      },
    },
  },
})
