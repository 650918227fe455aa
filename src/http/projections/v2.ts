/**
 * `/v2`: addresses and shapes that clients of UP42 know. Each is an operation with all its stages; what is asked is turned into
 * the operation's input, and what it answers into the words of UP42. Refusals stay as they are.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Invoked } from '#pipeline/invoke.ts'
import { parseBody } from '#http/body.ts'
import { readBody, USUAL_BYTES } from '#http/read-body.ts'
import { send } from '#http/operations.ts'
import { numeric, pick, project, queryOf, type Projecting } from './project.ts'

type Json = Record<string, unknown>
/** What an operation answered, and for which account. */
type Shape = (answer: Json, accountId: string | null) => unknown

interface Route {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  operation: string
  input: (request: FastifyRequest, body: Json) => Json
  shape: Shape
}

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
    .map((one) => Object.entries(words).find(([, theirs]) => theirs === one)?.[0] ?? one)
    .join(',')

/** A parameter that comes several times is a list, and lists are written with commas. */
const listed = (value: unknown): string => (Array.isArray(value) ? value.map(String) : String(value).split(',')).join(',')

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

const LIST_PARAMETERS = ['workspaceId', 'type', 'displayName', 'dataProductIds', 'orderIds', 'tags', 'sort']

function listInput(request: FastifyRequest): Json {
  const query = queryOf(request)
  const { status, subStatus } = query
  return {
    ...windowOf(query),
    ...Object.fromEntries(Object.entries(pick(query, LIST_PARAMETERS)).map(([name, value]) => [name, listed(value)])),
    ...(status === undefined ? {} : { status: ours(STATUSES, listed(status)) }),
    ...(subStatus === undefined ? {} : { subStatus: ours(SUB_STATUSES, listed(subStatus)) }),
  }
}

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
  (page, accountId) => ({ ...page, content: (page['content'] as Json[]).map((one) => shape(one, accountId)) })

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
]

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

export function registerV2(app: FastifyInstance, projecting: Projecting): void {
  for (const { method, path, operation, input, shape } of ROUTES)
    app.route({
      method,
      url: path,
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const invoked = await project(projecting, operation, request, reply, async () => input(request, await bodyOf(request)))
        return send(reply, reshaped(invoked, shape))
      },
    })
}

/** Read when the caller has been let in, as the bodies of operations are. */
async function bodyOf({ method, raw, headers }: FastifyRequest): Promise<Json> {
  if (method === 'GET') return {}
  return parseBody(await readBody(raw, USUAL_BYTES), headers['content-type'], headers['content-encoding'])
}

function reshaped(invoked: Invoked, shape: Shape): Invoked {
  if (invoked.status !== 200) return invoked
  const answer = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as Json
  return { ...invoked, body: Buffer.from(JSON.stringify(shape(answer, invoked.trace.organizationId))) }
}
