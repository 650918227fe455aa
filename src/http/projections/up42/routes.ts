/**
 * `/v2`: addresses and shapes that clients of UP42 know. Each is an operation with all its stages; what is asked is turned into
 * the operation's input, and what it answers into the words of UP42. Refusals stay as they are.
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
import { Refused, type Asked, type Json, type Route, type Shape } from './route.ts'

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

/** Our words for theirs; what is none of theirs stays, for the operation to take or refuse. */
const ours = (words: Readonly<Record<string, string>>, given: string): string =>
  given
    .split(',')
    .map((word) => Object.entries(words).find(([, theirs]) => theirs === word)?.[0] ?? word)
    .join(',')

/** A parameter that comes several times is a list, and lists are written with commas. */
const listed = (value: unknown): string => (Array.isArray(value) ? value.map(String) : String(value).split(',')).join(',')

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

const LIST_PARAMETERS = ['workspaceId', 'type', 'displayName', 'dataProductIds', 'orderIds', 'tags', 'sort']

function listInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { status, subStatus, budgetIds } = query
  return {
    ...windowOf(query),
    ...Object.fromEntries(Object.entries(pick(query, LIST_PARAMETERS)).map(([name, value]) => [name, listed(value)])),
    ...(status === undefined ? {} : { status: ours(STATUSES, listed(status)) }),
    ...(subStatus === undefined ? {} : { subStatus: ours(SUB_STATUSES, listed(subStatus)) }),
    // No order is charged to a budget, so none is of these.
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

/** The workspace stands in the address or in the body. */
const withWorkspace = (request: FastifyRequest, body: Json): Json => ({ ...pick(queryOf(request), ['workspaceId']), ...body })

function taskingInput(request: FastifyRequest, body: Json): Json {
  const { workspaceId, ...rest } = withWorkspace(request, body)
  return workspaceId === undefined ? rest : { projectId: workspaceId, ...rest }
}

interface GroupAnswer {
  dataProductId: string
  captures: { id: string; geometry: unknown }[] | null
  featureCollection: { features: { geometry: unknown }[] } | null
  params: Json
}

function orderShape(order: Json, accountId: string | null): Json {
  const [group] = order['groups'] as GroupAnswer[]
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
  (page, accountId, asked) => ({ ...page, content: (page['content'] as Json[]).map((entry) => shape(entry, accountId, asked)) })

interface EstimateAnswer {
  summary: { totalCredits: number; areaSqKm: number }
  results: { index: number; credits: number; aoi_km2: number }[]
  errors: { index: number; reason: string; id: string | null }[]
}

function estimateShape(answer: Json): Json {
  const { summary, results, errors } = answer as Json & EstimateAnswer
  return {
    summary: { totalCredits: summary.totalCredits, totalSize: summary.areaSqKm, unit: 'SQ_KM' },
    results: results.map(({ index, credits, aoi_km2: size }) => ({ index, credits, size, unit: 'SQ_KM' })),
    errors: errors.map(({ index, reason, id }) => ({ index, message: reason, details: id ?? '' })),
  }
}

const placedShape: Shape = ({ id }) => ({ results: [{ index: 0, id }], errors: [] })
const asItIs: Shape = (answer) => answer
const cancelledShape: Shape = ({ orderId, status }) => ({ orderId, status: STATUSES[String(status)] ?? status })

/** Deciding is a PATCH at UP42, and a POST for whoever cannot send one. */
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
    shape: asItIs,
  },
  {
    method: 'PATCH',
    path: '/v2/orders/:id',
    operation: 'orders.update',
    // A budget that is taken away was never there; one that is given is refused by its name.
    input: (request, { budgetId, ...body }) => ({ ...body, ...(budgetId == null ? {} : { budgetId }), order_id: idOf(request) }),
    shape: orderShape,
  },
  {
    method: 'GET',
    path: '/v2/coverage/orders/:id',
    operation: 'orders.coverage.get',
    input: (request) => ({ order_id: idOf(request) }),
    shape: asItIs,
  },
  {
    method: 'GET',
    path: '/orders/schema/:id',
    operation: 'orders.get_schema',
    input: (request) => ({ data_product_id: idOf(request) }),
    shape: asItIs,
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
    shape: (answer, _accountId, { request, baseUrl }) => scenesShape(answer, pathOf(request.url), baseUrl),
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
  // There are no budgets here: limits are on members, and nothing is charged to a budget.
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

/** The client asks its own host for the next page, so that the link is a path. */
function jobsShape(answer: Json, _accountId: string | null, { request, baseUrl }: { request: FastifyRequest; baseUrl: string }): Json {
  const { jobs, page, limit, total } = answer as Json & { jobs: Json[]; page: number; limit: number; total: number }
  const url = new URL(request.url, baseUrl)
  url.searchParams.delete('key')
  url.searchParams.set('page', String(page + 1))
  const links = (page + 1) * limit < total ? [{ rel: 'next', href: `${url.pathname}${url.search}` }] : []
  return { jobs: jobs.map((job) => jobShape(job, baseUrl)), links }
}

/** The area comes as GeoJSON in the address. */
function opportunitiesInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { acquisitionStart, acquisitionEnd, maxOffNadirAngle, featureCollection } = query
  return {
    ...windowOf(query),
    ...pick(query, ['dataProduct', 'displayName']),
    featureCollection: parsed(featureCollection),
    params: {
      ...(acquisitionStart === undefined ? {} : { acquisitionStart }),
      ...(acquisitionEnd === undefined ? {} : { acquisitionEnd }),
      ...(maxOffNadirAngle === undefined ? {} : { maxOffNadirAngle: numeric(maxOffNadirAngle) }),
    },
  }
}

/** GeoJSON as text; what cannot be parsed is left for the schema to refuse. */
function parsed(text: unknown): unknown {
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
        const asked = { request, baseUrl: parts.platform.baseUrl() }
        return send(reply, reshaped(invoked, route, asked))
      },
    })
  }
}

/** Read when the caller has been let in, as the bodies of operations are. */
async function bodyOf(request: FastifyRequest): Promise<Json> {
  const { method, headers } = request
  if (method === 'GET') return {}
  const type = headers['content-type']
  const isPatch = method === 'PATCH' && type?.startsWith('application/merge-patch+json')
  return parseBody(await readRequest(request), isPatch ? 'application/json' : type, headers['content-encoding'])
}

function reshaped(invoked: Invoked, { shape, refusal }: Pick<Route, 'shape' | 'refusal'>, asked: Asked): Invoked {
  const documentOf = () => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as Json
  const answered = (document: unknown): Invoked => ({ ...invoked, body: Buffer.from(JSON.stringify(document)) })
  if (invoked.status !== 200) {
    const told = refusal?.[invoked.status]?.(documentOf())
    return told === undefined ? invoked : { ...answered(told), status: Number(told['status']) }
  }
  if (shape === 'bytes') return invoked
  const document = shape(documentOf(), invoked.trace.organizationId, asked)
  return document instanceof Refused ? refusedWith(invoked, document.problem, asked.baseUrl) : answered(document)
}

/** For what an operation answers as a finding and UP42 as a refusal. */
function refusedWith(invoked: Invoked, refused: Problem, baseUrl: string): Invoked {
  const { status, headers, body } = problemReply(refused, invoked.trace.invocationId, baseUrl)
  return { ...invoked, status, headers: { ...invoked.headers, ...headers }, body }
}
