/**
 * `/v2`: routes and shapes of UP42's API. Each route calls an operation with all its stages; requests and responses are converted,
 * problems are returned unchanged.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '#core/problem.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { problemReply } from '#pipeline/reply.ts'
import { parseBody } from '#http/body.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import { send } from '#http/operations.ts'
import { pathOf } from '#http/methods.ts'
import { numeric, pick, project, queryOf } from '#http/projections/project.ts'
import type { RouteParts } from '#http/parts.ts'
import { TEMPLATE_ROUTES } from './processes.ts'
import { collectionShape, jobShape, jobStatuses, scenesShape } from './shapes.ts'
import { ShapeProblem, type RequestInfo, type Json, type Route, type Shape } from './route.ts'

const STATUSES: Readonly<Record<string, string>> = {
  pending: 'CREATED',
  processing: 'PLACED',
  awaiting_data: 'BEING_FULFILLED',
  fulfilled: 'FULFILLED',
  failed: 'FAILED_PERMANENTLY',
  cancelled: 'CANCELED',
}
const SUB_STATUSES: Readonly<Record<string, string>> = {
  awaiting_feasibility: 'FEASIBILITY_WAITING_UPLOAD',
  feasibility_ready: 'FEASIBILITY_WAITING_RESPONSE',
  awaiting_quotation: 'QUOTATION_WAITING_UPLOAD',
  quotation_ready: 'QUOTATION_WAITING_RESPONSE',
  accepted: 'QUOTATION_ACCEPTED',
  rejected: 'QUOTATION_REJECTED',
}

/** Converts UP42's values to ours; unknown values are left for the operation to accept or reject. */
const toOurs = (table: Readonly<Record<string, string>>, value: string): string =>
  value
    .split(',')
    .map((word) => Object.entries(table).find(([, theirs]) => theirs === word)?.[0] ?? word)
    .join(',')

/** A repeated parameter is a list; the operation takes lists with commas. */
const listed = (value: unknown): string => (Array.isArray(value) ? value.map(String) : String(value).split(',')).join(',')

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

const LIST_PARAMETERS = ['workspaceId', 'type', 'displayName', 'dataProductIds', 'orderIds', 'tags', 'sort']

function listInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { status, subStatus, budgetIds } = query
  return {
    ...windowOf(query),
    ...Object.fromEntries(Object.entries(pick(query, LIST_PARAMETERS)).map(([name, value]) => [name, listed(value)])),
    ...(status === undefined ? {} : { status: toOurs(STATUSES, listed(status)) }),
    ...(subStatus === undefined ? {} : { subStatus: toOurs(SUB_STATUSES, listed(subStatus)) }),
    // No order is charged to a budget, so none matches.
    ...(budgetIds === undefined ? {} : { orderIds: NO_ORDER }),
  }
}

const NO_ORDER = '00000000-0000-0000-0000-000000000000'

function decisionsInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { decision } = query
  return {
    ...windowOf(query),
    ...pick(query, ['id', 'workspaceId', 'orderId']),
    ...(decision === undefined ? {} : { decision: listed(decision) }),
  }
}

const windowOf = (query: Readonly<Json>): Json =>
  Object.fromEntries(Object.entries(pick(query, ['page', 'size'])).map(([name, value]) => [name, numeric(value)]))

/** The workspace is in the query or in the body. */
const withWorkspace = (request: FastifyRequest, body: Json): Json => ({ ...pick(queryOf(request), ['workspaceId']), ...body })

function taskingInput(request: FastifyRequest, body: Json): Json {
  const { workspaceId, ...rest } = withWorkspace(request, body)
  return workspaceId === undefined ? rest : { projectId: workspaceId, ...rest }
}

interface GroupRecord {
  dataProductId: string
  captures: { id: string; geometry: unknown }[] | null
  featureCollection: { features: { geometry: unknown }[] } | null
  params: Json
}

function orderShape(order: Json, accountId: string | null): Json {
  const [group] = order['groups'] as GroupRecord[]
  const status = String(order['status'])
  const isTasking = order['orderType'] === 'tasking'
  const { captures, featureCollection, params, dataProductId } = group!
  return {
    ...order,
    status: STATUSES[status] ?? status,
    workspaceId: order['projectId'],
    accountId,
    type: String(order['orderType']).toUpperCase(),
    dataProductId,
    orderDetails: isTasking
      ? {
          acquisitionStart: params['acquisitionStart'] ?? null,
          acquisitionEnd: params['acquisitionEnd'] ?? null,
          geometry: featureCollection?.features[0]?.geometry ?? null,
          subStatus: SUB_STATUSES[String(order['subStatus'])] ?? null,
          maxCloudCover: params['cloudCoverage'] ?? null,
          maxIncidenceAngle: params['maxOffNadirAngle'] ?? null,
          priority: params['priority'] ?? null,
        }
      : { aoi: captures?.[0]?.geometry ?? null, imageId: captures?.[0]?.id ?? null },
  }
}

function studyShape(study: Json, accountId: string | null): Json {
  const options = study['options'] as { id: string; description: string }[]
  const accepted = options.find(({ id }) => id === study['acceptedOptionId'])
  return {
    ...study,
    accountId,
    updatedAt: study['decisionAt'] ?? study['createdAt'],
    decisionOption: accepted ? { id: accepted.id, description: accepted.description } : null,
  }
}

const quotationShape: Shape = (quotation, accountId) => ({
  ...quotation,
  accountId,
  updatedAt: quotation['decisionAt'] ?? quotation['createdAt'],
})

const pageShape =
  (shape: Shape): Shape =>
  (page, accountId, info) => ({ ...page, content: (page['content'] as Json[]).map((entry) => shape(entry, accountId, info)) })

interface EstimateRecord {
  summary: { totalCredits: number; areaSqKm: number }
  results: { index: number; credits: number; aoi_km2: number }[]
  errors: { index: number; reason: string; id: string | null }[]
}

function estimateShape(estimate: Json): Json {
  const { summary, results, errors } = estimate as Json & EstimateRecord
  return {
    summary: { totalCredits: summary.totalCredits, totalSize: summary.areaSqKm, unit: 'SQ_KM' },
    results: results.map(({ index, credits, aoi_km2: size }) => ({ index, credits, size, unit: 'SQ_KM' })),
    errors: errors.map(({ index, reason, id }) => ({ index, message: reason, details: id ?? '' })),
  }
}

const placedShape: Shape = ({ id }) => ({ results: [{ index: 0, id }], errors: [] })
const unchanged: Shape = (document) => document
const cancelledShape: Shape = ({ orderId, status }) => ({ orderId, status: STATUSES[String(status)] ?? status })

/** Decisions are PATCH requests at UP42; POST works for clients that cannot send them. */
const deciding = (paths: readonly string[], operation: string, idName: string, shape: Shape): Route[] =>
  paths.flatMap((path) =>
    (['PATCH', 'POST'] as const).map((method) => ({
      method,
      path: `${path}/:id`,
      operation,
      input: (request: FastifyRequest, body: Json) => ({ ...body, [idName]: idOf(request) }),
      shape,
    })),
  )

const listing = (path: string, operation: string, shape: Shape): Route => ({
  method: 'GET',
  path,
  operation,
  input: decisionsInput,
  shape: pageShape(shape),
})

/** UP42's own client lists quotations under the singular name. */
const STUDIES = ['/v2/tasking/feasibility-studies', '/v2/tasking/feasibility']
const QUOTATIONS = ['/v2/tasking/quotations', '/v2/tasking/quotation']

const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v2/orders', operation: 'orders.place', input: withWorkspace, shape: placedShape },
  { method: 'POST', path: '/v2/orders/estimate', operation: 'orders.estimate', input: (_request, body) => body, shape: estimateShape },
  { method: 'GET', path: '/v2/orders', operation: 'orders.list', input: listInput, shape: pageShape(orderShape) },
  { method: 'GET', path: '/v2/orders/:id', operation: 'orders.get', input: (request) => ({ id: idOf(request) }), shape: orderShape },
  {
    method: 'POST',
    path: '/v2/orders/:id/cancellation',
    operation: 'orders.cancel',
    input: (request) => ({ id: idOf(request) }),
    shape: cancelledShape,
  },
  { method: 'POST', path: '/v2/tasking/orders', operation: 'orders.tasking.place', input: taskingInput, shape: placedShape },
  listing(STUDIES[0]!, 'orders.tasking.feasibility_studies.list', studyShape),
  ...QUOTATIONS.map((path) => listing(path, 'orders.tasking.quotations.list', quotationShape)),
  ...deciding(STUDIES, 'orders.tasking.feasibility_decide', 'study_id', studyShape),
  ...deciding(QUOTATIONS, 'orders.tasking.quotation_decide', 'quotation_id', quotationShape),
  {
    method: 'GET',
    path: '/v2/tasking/opportunities',
    operation: 'orders.tasking.opportunities_list',
    input: opportunitiesInput,
    shape: unchanged,
  },
  {
    method: 'PATCH',
    path: '/v2/orders/:id',
    operation: 'orders.update',
    // Removing a budget has no effect; setting one is rejected, naming the field.
    input: (request, { budgetId, ...body }) => ({ ...body, ...(budgetId == null ? {} : { budgetId }), order_id: idOf(request) }),
    shape: orderShape,
  },
  {
    method: 'GET',
    path: '/v2/coverage/orders/:id',
    operation: 'orders.coverage.get',
    input: (request) => ({ order_id: idOf(request) }),
    shape: unchanged,
  },
  {
    method: 'GET',
    path: '/orders/schema/:id',
    operation: 'orders.get_schema',
    input: (request) => ({ data_product_id: idOf(request) }),
    shape: unchanged,
  },
  {
    method: 'GET',
    path: '/v2/collections',
    operation: 'glossary.collections.list',
    input: (request) => ({ ...windowOf(queryOf(request)), ...pick(queryOf(request), ['sort', 'type']) }),
    shape: pageShape(collectionShape),
  },
  {
    method: 'POST',
    path: '/catalog/hosts/:id/stac/search',
    operation: 'catalog.search',
    input: (request, body) => ({ ...body, ...pick(queryOf(request), ['next']), host_name: idOf(request) }),
    shape: (page, _accountId, { request, baseUrl }) => scenesShape(page, pathOf(request.url), baseUrl),
    refusal: { 422: (problem) => ({ ...problem, error: { message: problem['detail'] } }) },
  },
  {
    method: 'GET',
    path: '/catalog/:id/image/:scene/quicklook',
    operation: 'catalog.image.quicklook',
    input: (request) => ({ host_name: idOf(request), image_id: (request.params as { scene: string }).scene }),
    shape: 'bytes',
  },
  { method: 'GET', path: '/v2/processing/jobs', operation: 'processing.jobs.list', input: jobsInput, shape: jobsShape },
  {
    method: 'GET',
    path: '/v2/processing/jobs/:id',
    operation: 'processing.job.get',
    input: (request) => ({ job_id: idOf(request) }),
    shape: ({ job }, _accountId, { baseUrl }) => jobShape(job as Json, baseUrl),
  },
  ...TEMPLATE_ROUTES,
  // There are no budgets: limits apply to members, and nothing is charged to a budget.
  { method: 'GET', path: '/v2/budgets', operation: 'organizations.get', input: () => ({}), shape: () => NO_BUDGETS },
  {
    method: 'GET',
    path: '/v2/budgets/settings',
    operation: 'organizations.get',
    input: () => ({}),
    shape: () => ({ enforcementEnabled: false }),
  },
]

const NO_BUDGETS = { content: [], page: 0, size: 0, totalElements: 0, totalPages: 0 }

const MAX_JOBS = 100

function jobsInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const numbers = Object.fromEntries(Object.entries(pick(query, ['page', 'limit'])).map(([name, value]) => [name, numeric(value)]))
  const { status, processId, minDuration, maxDuration } = query
  const limit = numbers['limit']
  return {
    ...numbers,
    ...(typeof limit === 'number' ? { limit: Math.min(limit, MAX_JOBS) } : {}),
    ...pick(query, ['workspaceId', 'ids', 'sort']),
    ...(status === undefined ? {} : { statuses: jobStatuses(listed(status)) }),
    ...(processId === undefined ? {} : { processIds: listed(processId).split(',') }),
    ...(minDuration === undefined ? {} : { min_duration_seconds: numeric(minDuration) }),
    ...(maxDuration === undefined ? {} : { max_duration_seconds: numeric(maxDuration) }),
  }
}

/** The link is a path, because the client adds its own host. */
function jobsShape(listed: Json, _accountId: string | null, { request, baseUrl }: { request: FastifyRequest; baseUrl: string }): Json {
  const { jobs, page, limit, total } = listed as Json & { jobs: Json[]; page: number; limit: number; total: number }
  const url = new URL(request.url, baseUrl)
  url.searchParams.delete('key')
  url.searchParams.set('page', String(page + 1))
  const links = (page + 1) * limit < total ? [{ rel: 'next', href: `${url.pathname}${url.search}` }] : []
  return { jobs: jobs.map((job) => jobShape(job, baseUrl)), links }
}

/** The area is GeoJSON in the query. */
function opportunitiesInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { acquisitionStart, acquisitionEnd, maxOffNadirAngle, featureCollection } = query
  return {
    ...windowOf(query),
    ...pick(query, ['dataProduct', 'displayName']),
    featureCollection: parseGeoJson(featureCollection),
    params: {
      ...(acquisitionStart === undefined ? {} : { acquisitionStart }),
      ...(acquisitionEnd === undefined ? {} : { acquisitionEnd }),
      ...(maxOffNadirAngle === undefined ? {} : { maxOffNadirAngle: numeric(maxOffNadirAngle) }),
    },
  }
}

/** Parses GeoJSON; invalid text is left for the schema to reject. */
function parseGeoJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown
  } catch {
    return text
  }
}

export function registerUp42(app: FastifyInstance, parts: RouteParts): void {
  for (const route of ROUTES) {
    const { method, path, operation, input } = route
    app.route({
      method,
      url: path,
      ...READS_BODY,
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const invoked = await project(parts, operation, request, reply, async () => input(request, await bodyOf(request)))
        const info = { request, baseUrl: parts.platform.baseUrl() }
        return send(reply, reshaped(invoked, route, info))
      },
    })
  }
}

/** Read after the caller is authorized, like the bodies of operations. */
async function bodyOf(request: FastifyRequest): Promise<Json> {
  const { method, headers } = request
  if (method === 'GET') return {}
  const type = headers['content-type']
  const isPatch = method === 'PATCH' && type?.startsWith('application/merge-patch+json')
  return parseBody(await readRequest(request), isPatch ? 'application/json' : type, headers['content-encoding'])
}

function reshaped(invoked: Invoked, { shape, refusal }: Pick<Route, 'shape' | 'refusal'>, info: RequestInfo): Invoked {
  const documentOf = () => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as Json
  const withBody = (document: unknown): Invoked => ({ ...invoked, body: Buffer.from(JSON.stringify(document)) })
  if (invoked.status !== 200) {
    const converted = refusal?.[invoked.status]?.(documentOf())
    return converted === undefined ? invoked : { ...withBody(converted), status: Number(converted['status']) }
  }
  if (shape === 'bytes') return invoked
  const document = shape(documentOf(), invoked.trace.organizationId, info)
  return document instanceof ShapeProblem ? withProblem(invoked, document.problem, info.baseUrl) : withBody(document)
}

/** For results of an operation that are errors at UP42. */
function withProblem(invoked: Invoked, problem: Problem, baseUrl: string): Invoked {
  const { status, headers, body } = problemReply(problem, invoked.trace.invocationId, baseUrl)
  return { ...invoked, status, headers: { ...invoked.headers, ...headers }, body }
}
