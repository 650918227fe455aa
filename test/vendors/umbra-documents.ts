/**
 * Umbra's APIs as far as we use them: a transcription of what its OpenAPI documents say, in the same form, so that requests and responses
 * can be compared with it where the originals are not at hand. What a request may have is complete for the fields that we know; responses
 * name what must be there.
 */
type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const number: Schema = { type: 'number' }
const time: Schema = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}' }
const uuid: Schema = { type: 'string', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values })
const listOf = (items: Schema, limits: object = {}): Schema => ({ type: 'array', items, ...limits })
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

/** With fields that must be there, and others that may; nothing else. */
const closed = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema => ({
  ...open(required, optional),
  additionalProperties: false,
})

const open = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
})

const point = closed({ type: oneOf('Point'), coordinates: listOf(number, { minItems: 2, maxItems: 3 }) })
const geometry = open({ type: text, coordinates: listOf({}) })
const productTypes = listOf(oneOf('GEC', 'SICD', 'SIDD', 'CPHD', 'CRSD', 'METADATA'))
const taskStatus = oneOf(
  'RECEIVED',
  'REVIEW',
  'ACCEPTED',
  'ACTIVE',
  'SUBMITTED',
  'SCHEDULED',
  'TASKED',
  'TRANSMITTED',
  'PROCESSING',
  'PROCESSED',
  'DELIVERING',
  'DELIVERED',
  'COMPLETED',
  'INCOMPLETE',
  'ANOMALY',
  'CANCEL_REQUESTED',
  'CANCELED',
  'REJECTED',
  'EXPIRED',
  'ERROR',
)

/** Of a spotlight image; a scan has others. */
const constraints = closed(
  { imagingMode: oneOf('SPOTLIGHT'), geometry: point },
  {
    polarization: oneOf('VV', 'HH'),
    rangeResolutionMinMeters: number,
    multilookFactor: number,
    grazingAngleMinDegrees: number,
    grazingAngleMaxDegrees: number,
    targetAzimuthAngleStartDegrees: number,
    targetAzimuthAngleEndDegrees: number,
    sceneSize: oneOf('4x4_KM', '5x5_KM', '10x10_KM'),
  },
)
const window = { windowStartAt: time, windowEndAt: time }

const task = open({
  id: uuid,
  type: oneOf('Feature'),
  geometry,
  properties: open(
    { status: taskStatus, taskName: text, ...window, constraints: open({ geometry: point }) },
    { userOrderId: orNull(text), collectIds: listOf(uuid), productTypes, taskType: text, satelliteIds: listOf(text) },
  ),
})
const collect = open({
  id: uuid,
  type: oneOf('Feature'),
  archiveIds: listOf(text),
  properties: open({ id: uuid, taskId: uuid, status: text }),
})
const pass = open({
  ...window,
  durationSec: number,
  satelliteId: text,
  grazingAngleStartDegrees: number,
  grazingAngleEndDegrees: number,
})
const study = open(
  { id: uuid, status: oneOf('RECEIVED', 'SUBMITTED', 'PROCESSING', 'COMPLETED', 'ERROR') },
  { opportunities: orNull(listOf(pass)) },
)
/** Filters by one field, such as `{userOrderId: {eq}}`. */
const search = closed(
  {},
  { limit: { type: 'integer', minimum: 1, maximum: 200 }, skip: { type: 'integer', minimum: 0 }, query: { type: 'object' }, sortBy: {} },
)
const success = open({ collectId: uuid, status: oneOf('SUCCESS'), taskId: uuid, resellId: uuid, resellCollectId: uuid })
const failure = open({ collectId: text, status: oneOf('FAILED'), message: text })

const features = (feature: Schema, more: Readonly<Record<string, Schema>> = {}) =>
  open({ type: oneOf('FeatureCollection'), features: listOf(feature), ...more })
const item = open({
  type: oneOf('Feature'),
  stac_version: oneOf('1.0.0'),
  id: text,
  collection: text,
  geometry,
  properties: open({ datetime: time }),
  links: listOf(open({ rel: text, href: text })),
  assets: { type: 'object', additionalProperties: open({ href: text }, { type: text, title: text }) },
})
const items = features(item, { links: listOf(open({ rel: text, href: text })) })
const stacSearch = closed(
  {},
  {
    collections: listOf(text),
    ids: listOf(text),
    bbox: listOf(number),
    intersects: geometry,
    datetime: text,
    limit: number,
    token: text,
    query: { type: 'object' },
    filter: { type: 'object' },
    'filter-lang': oneOf('cql2-json', 'cql2-text'),
    sortby: listOf(open({ field: text, direction: oneOf('asc', 'desc') })),
    fields: { type: 'object' },
  },
)
/** Of an invalid request: a list of what is wrong, as in many Python services. */
const invalid = open({ detail: listOf(open({ loc: listOf({}), msg: text, type: text })) })

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } })
const operation = (status: number, response: Schema, request?: Schema) => ({
  ...(request ? { requestBody: json(request) } : {}),
  responses: { [status]: json(response), 422: json(invalid) },
})

const BASE = 'https://api.canopy.umbra.space'
const documentOf = (service: string, paths: object) => ({ servers: [{ url: `${BASE}${service}` }], paths, components: { schemas: {} } })

export const UMBRA_DOCUMENTS = [
  documentOf('/tasking', {
    '/feasibilities': { post: operation(201, study, closed({ constraints, ...window })) },
    '/feasibilities/{id}': { get: operation(200, study) },
    '/tasks': {
      post: operation(
        201,
        task,
        closed(
          { constraints, ...window, taskName: text },
          {
            productTypes,
            userOrderId: text,
            tags: listOf(text),
            deliveryConfigId: uuid,
            contractId: uuid,
            satelliteIds: listOf(text),
          },
        ),
      ),
    },
    '/tasks/{id}': { get: operation(200, task) },
    '/tasks/search': { post: operation(200, features(task), search) },
    '/tasks/archive-tasks': {
      post: operation(
        201,
        open({ results: listOf({ anyOf: [success, failure] }, { maxItems: 50 }) }),
        closed(
          {
            items: listOf(closed({ collectId: uuid }, { productTypes, deliveryConfigId: uuid, userOrderId: text, taskName: text }), {
              minItems: 1,
              maxItems: 50,
            }),
          },
          { targetContractId: uuid },
        ),
      ),
    },
    '/collects/search': { post: operation(200, features(collect), search) },
    '/restricted-access-areas': { get: operation(200, features(open({ type: oneOf('Feature'), geometry }))) },
  }),
  documentOf('/archive', { '/search': { post: operation(200, items, stacSearch) } }),
  documentOf('/v2/stac', {
    '/search': { post: operation(200, items, stacSearch) },
    '/collections/{collection_id}/items/{item_id}': { get: operation(200, item) },
  }),
] as const
