/** OGC API – Processes, Part 1: every route calls an operation, with all its stages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUuid } from '#core/ids.ts'
import { invalidField, problem, type Problem } from '#core/problem.ts'
import { parseBody } from '#http/body.ts'
import { send } from '#http/operations.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { processesApi } from './processes.api.ts'
import { formOf, inputValue, type Form } from './processes.inputs.ts'
import {
  conformance,
  EXCEPTIONS,
  jobStatuses,
  processDescription,
  processSummary,
  resultsOf,
  statusInfo,
  type JobDocument,
  type ProcessDocument,
} from './processes.wire.ts'
import { numeric, pick, project, queryOf } from './project.ts'
import type { RouteParts } from '#http/parts.ts'
import { STANDARD_BYTES } from '#http/read-body.ts'

const MAX_WAIT_SECONDS = 25
/** The maximum of `processing.jobs.list`; a larger limit is reduced to it, and a `next` link leads to the rest. */
const MAX_JOBS = 100
const DEFAULT_JOBS = 20
const MAX_PROCESSES = 10_000

export function registerProcesses(app: FastifyInstance, parts: RouteParts): void {
  const baseUrl = () => parts.platform.baseUrl()
  app.get('/conformance', async () => conformance())
  app.get('/api', async (_request, reply) => reply.type('application/vnd.oai.openapi+json;version=3.0').send(processesApi(baseUrl())))
  app.get('/processes', async (request, reply) => {
    const query = queryOf(request)
    const [limit, offset] = [countOf(query, 'limit', MAX_PROCESSES, 1), countOf(query, 'offset', 0, 0)]
    const invoked = await project(parts, 'processing.catalog.list', request, reply, () => ({}))
    return sendConverted(reply, invoked, ({ processes }: { processes: ProcessDocument[] }) => ({
      processes: processes.slice(offset, offset + limit).map((process) => processSummary(process, baseUrl())),
      links: pageLinks(request, baseUrl(), { previous: null, next: offset + limit < processes.length ? { offset: offset + limit } : null }),
    }))
  })
  app.get<{ Params: { id: string } }>('/processes/:id', async (request, reply) => {
    const invoked = await project(parts, 'processing.catalog.get', request, reply, () => ({ process_id: request.params.id }))
    return sendConverted(reply, invoked, (process: ProcessDocument) => processDescription(process, baseUrl()), EXCEPTIONS.noSuchProcess)
  })
  app.post<{ Params: { id: string } }>('/processes/:id/execution', { bodyLimit: STANDARD_BYTES }, (request, reply) =>
    execute(parts, request, reply),
  )
  registerJobs(app, parts)
}

type JobRoute = { Params: { id: string } }

function registerJobs(app: FastifyInstance, parts: RouteParts): void {
  const baseUrl = () => parts.platform.baseUrl()
  app.get('/jobs', async (request, reply) => {
    const query = queryOf(request)
    const limit = Math.min(countOf(query, 'limit', DEFAULT_JOBS, 1), MAX_JOBS)
    const page = countOf(query, 'page', 0, 0)
    const invoked = await project(parts, 'processing.jobs.list', request, reply, () => ({ ...jobFilter(query), limit, page }))
    return sendConverted(reply, invoked, ({ jobs, total }: { jobs: JobDocument[]; total: number }) => ({
      jobs: jobs.map((job) => statusInfo(job, baseUrl())),
      links: pageLinks(request, baseUrl(), {
        previous: page > 0 ? { page: page - 1 } : null,
        next: (page + 1) * limit < total ? { page: page + 1 } : null,
      }),
    }))
  })
  const job = async (request: FastifyRequest<JobRoute>, reply: FastifyReply, operation: string, words: (job: JobDocument) => unknown) => {
    const { id } = request.params
    // A missing credential is reported first; an invalid ID is an unknown job.
    const invoked = await project(parts, operation, request, reply, () => {
      if (!isUuid(id)) throw noSuchJob()
      return { job_id: id }
    })
    return sendConverted(reply, invoked, (document: { job: JobDocument }) => words(document.job), EXCEPTIONS.noSuchJob)
  }
  app.get<JobRoute>('/jobs/:id', (request, reply) =>
    job(request, reply, 'processing.job.get', (document) => statusInfo(document, baseUrl())),
  )
  app.get<JobRoute>('/jobs/:id/results', async (request, reply) => {
    const query = queryOf(request)
    const requestedForm = formOf(query)
    return job(request, reply, 'processing.job.get', (document) => {
      if (document.status !== 'completed') throw withoutResults(document)
      // As requested on execution, unless the query says otherwise.
      const response = query['response'] === undefined ? document.response : requestedForm.response
      return resultsOf(document, baseUrl(), { response, outputs: requestedForm.outputs ?? document.requested_outputs })
    })
  })
  app.delete<JobRoute>('/jobs/:id', (request, reply) =>
    job(request, reply, 'processing.job.cancel', (cancelled) => statusInfo(cancelled, baseUrl())),
  )
}

const noSuchJob = (): Problem => problem('not-found', 'No such job', { members: { type: EXCEPTIONS.noSuchJob } })

function withoutResults({ status, error }: JobDocument): Problem {
  if (status === 'failed') return problem('bad-request', `The job failed: ${error}`)
  if (status === 'cancelled') return problem('not-found', 'The job was cancelled, so it has no results')
  return problem('not-found', `The job has no results yet; it is ${status}`, { members: { type: EXCEPTIONS.resultNotReady } })
}

/** Converts the filters to those of `processing.jobs.list`. Lists have commas or repeat the parameter. */
function jobFilter(query: ReturnType<typeof queryOf>): object {
  const many = (name: string): string[] | null => {
    const values = [query[name] ?? []].flat().flatMap((text) => String(text).split(','))
    return values.length > 0 ? values : null
  }
  const seconds = (name: string): object => pick({ [name]: numeric(query[name]) }, query[name] === undefined ? [] : [name])
  const [statuses, processIds, types] = [many('status'), many('processID') ?? many('processId'), many('type')]
  const isNone = types !== null && !types.includes('process')
  const { minDuration = null, maxDuration = null } = { ...seconds('minDuration'), ...seconds('maxDuration') } as Record<string, unknown>
  return {
    statuses: statuses && jobStatuses(statuses),
    processIds,
    created: query['datetime'] ?? null,
    min_duration_seconds: minDuration,
    max_duration_seconds: maxDuration,
    ...(isNone ? { ids: NO_JOB } : {}),
  }
}

/** An ID that no job has: all jobs are of type `process`. */
const NO_JOB = '00000000-0000-0000-0000-000000000000'

function countOf(query: ReturnType<typeof queryOf>, name: string, standard: number, least: number): number {
  const value = numeric(query[name] ?? standard)
  if (typeof value !== 'number' || value < least) throw invalidField(name, `must be an integer of at least ${least}`)
  return value
}

/** Links to this page and its neighbours with the same parameters, except for a key in the query. */
function pageLinks(
  request: FastifyRequest,
  baseUrl: string,
  { previous, next }: { previous: Record<string, number> | null; next: Record<string, number> | null },
): object[] {
  const to = (rel: string, changed: Record<string, number>, title: string) => {
    const url = new URL(request.url, baseUrl)
    url.searchParams.delete('key')
    for (const [name, value] of Object.entries(changed)) url.searchParams.set(name, String(value))
    return { rel, href: `${baseUrl}${url.pathname}${url.search}`, type: 'application/json', title }
  }
  return [
    to('self', {}, 'This page'),
    ...(previous ? [to('prev', previous, 'Previous page')] : []),
    ...(next ? [to('next', next, 'Next page')] : []),
  ]
}

/** Waits for the job to end unless the client prefers not to; otherwise returns the running job. */
async function execute(parts: RouteParts, request: FastifyRequest<JobRoute>, reply: FastifyReply): Promise<FastifyReply> {
  const baseUrl = parts.platform.baseUrl()
  const prefer = String(request.headers['prefer'] ?? '')
  const isAsync = /\brespond-async\b/.test(prefer)
  const waitSeconds = /\bwait=(\d{1,4})\b/.exec(prefer)?.[1]
  const wait = isAsync ? Number(waitSeconds ?? 0) : Number(waitSeconds ?? MAX_WAIT_SECONDS)
  const invoked = await project(parts, 'processing.execute', request, reply, () => {
    const execution = requestOf(request)
    return {
      process_id: request.params.id,
      workspaceId: execution.projectId,
      inputs: execution.inputs,
      ...execution.form,
      wait_seconds: Math.min(wait, MAX_WAIT_SECONDS),
    }
  })
  if (invoked.status !== 200) return sendConverted(reply, invoked, () => ({}), EXCEPTIONS.noSuchProcess)
  const { job } = documentOf(invoked) as { job: JobDocument }
  if (isAsync || prefer.includes('wait'))
    reply.header('Preference-Applied', isAsync ? 'respond-async' : `wait=${Math.min(wait, MAX_WAIT_SECONDS)}`)
  if (job.status === 'completed' && !isAsync) {
    reply.header('Link', `<${baseUrl}/jobs/${job.id}>; rel="monitor"`)
    return sendConverted(reply, invoked, () => resultsOf(job, baseUrl, { response: job.response, outputs: job.requested_outputs }))
  }
  if (job.status === 'failed' && !isAsync) throw withoutResults(job)
  reply.header('Location', `${baseUrl}/jobs/${job.id}`)
  return sendConverted(reply.code(201), invoked, () => statusInfo(job, baseUrl))
}

/** The project is in the query as `project_id`, or among the inputs. */
function requestOf(request: FastifyRequest): { inputs: Record<string, unknown>; projectId: unknown; form: Form } {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  const rawInputs = body['inputs'] ?? {}
  if (typeof rawInputs !== 'object' || rawInputs === null || Array.isArray(rawInputs)) throw invalidField('inputs', 'must be an object')
  const values = Object.fromEntries(Object.entries(rawInputs).map(([name, value]) => [name, inputValue(value, `inputs.${name}`)]))
  const { project_id: named, ...inputs } = values
  const projectId = queryOf(request)['project_id'] ?? named
  if (projectId === undefined) throw invalidField('inputs.project_id', 'is required: the ID of the project for the outputs')
  return { inputs, projectId, form: formOf(body) }
}

const documentOf = (invoked: Invoked): unknown => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString())

/** Converts an operation's response to OGC's form; a 404 about `missing` gets the standard's `type`. */
function sendConverted<D>(reply: FastifyReply, invoked: Invoked, convert: (document: D) => unknown, missing?: string): FastifyReply {
  const { 'Content-Type': _type, ...headers } = invoked.headers
  if (invoked.status === 404 && missing) {
    const document = documentOf(invoked) as { detail: string }
    // The detail can continue with the given name and a suggestion.
    const isAbout = document.detail
      .toLowerCase()
      .replaceAll(' ', '-')
      .startsWith(missing.slice(missing.lastIndexOf('/') + 1))
    const converted = isAbout ? { ...document, type: missing } : document
    return reply
      .code(404)
      .headers(headers)
      .type('application/problem+json; charset=utf-8')
      .send(Buffer.from(JSON.stringify(converted)))
  }
  if (invoked.status !== 200) return send(reply, invoked)
  return reply
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(convert(documentOf(invoked) as D))))
}
