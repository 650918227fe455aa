/** OGC API – Processes, Part 1: every address is an operation by another spelling, with all its stages. */
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
/** As many jobs as `processing.jobs.list` gives at once; who asks for more gets these and a `next` link. */
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
    return shown(reply, invoked, ({ processes }: { processes: ProcessDocument[] }) => ({
      processes: processes.slice(offset, offset + limit).map((process) => processSummary(process, baseUrl())),
      links: pageLinks(request, baseUrl(), { previous: null, next: offset + limit < processes.length ? { offset: offset + limit } : null }),
    }))
  })
  app.get<{ Params: { id: string } }>('/processes/:id', async (request, reply) => {
    const invoked = await project(parts, 'processing.catalog.get', request, reply, () => ({ process_id: request.params.id }))
    return shown(reply, invoked, (process: ProcessDocument) => processDescription(process, baseUrl()), EXCEPTIONS.noSuchProcess)
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
    return shown(reply, invoked, ({ jobs, total }: { jobs: JobDocument[]; total: number }) => ({
      jobs: jobs.map((job) => statusInfo(job, baseUrl())),
      links: pageLinks(request, baseUrl(), {
        previous: page > 0 ? { page: page - 1 } : null,
        next: (page + 1) * limit < total ? { page: page + 1 } : null,
      }),
    }))
  })
  const job = async (request: FastifyRequest<JobRoute>, reply: FastifyReply, operation: string, words: (job: JobDocument) => unknown) => {
    const { id } = request.params
    // Whoever is not signed in learns that first; what is no id is the id of no job.
    const invoked = await project(parts, operation, request, reply, () => {
      if (!isUuid(id)) throw noSuchJob()
      return { job_id: id }
    })
    return shown(reply, invoked, (document: { job: JobDocument }) => words(document.job), EXCEPTIONS.noSuchJob)
  }
  app.get<JobRoute>('/jobs/:id', (request, reply) =>
    job(request, reply, 'processing.job.get', (document) => statusInfo(document, baseUrl())),
  )
  app.get<JobRoute>('/jobs/:id/results', async (request, reply) => {
    const query = queryOf(request)
    const asked = formOf(query)
    return job(request, reply, 'processing.job.get', (document) => {
      if (document.status !== 'completed') throw withoutResults(document)
      // As the job was executed, unless the address says otherwise.
      const response = query['response'] === undefined ? document.response : asked.response
      return resultsOf(document, baseUrl(), { response, outputs: asked.outputs ?? document.requested_outputs })
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

/** The filters of a list of jobs, as `processing.jobs.list` names them. Lists have commas, or name the parameter again. */
function jobFilter(query: ReturnType<typeof queryOf>): object {
  const many = (name: string): string[] | null => {
    const given = [query[name] ?? []].flat().flatMap((text) => String(text).split(','))
    return given.length > 0 ? given : null
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

/** The id of no job: all jobs here are of type `process`. */
const NO_JOB = '00000000-0000-0000-0000-000000000000'

function countOf(query: ReturnType<typeof queryOf>, name: string, standard: number, least: number): number {
  const value = numeric(query[name] ?? standard)
  if (typeof value !== 'number' || value < least) throw invalidField(name, `must be a whole number of at least ${least}`)
  return value
}

/** This page and its neighbours, with every other parameter as it came. A key in the address is not repeated. */
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
    ...(previous ? [to('prev', previous, 'The page before')] : []),
    ...(next ? [to('next', next, 'The next page')] : []),
  ]
}

/** Waits for the end unless asked not to; what is not done by then is told as a job. */
async function execute(parts: RouteParts, request: FastifyRequest<JobRoute>, reply: FastifyReply): Promise<FastifyReply> {
  const baseUrl = parts.platform.baseUrl()
  const prefer = String(request.headers['prefer'] ?? '')
  const isAsync = /\brespond-async\b/.test(prefer)
  const asked = /\bwait=(\d{1,4})\b/.exec(prefer)?.[1]
  const wait = isAsync ? Number(asked ?? 0) : Number(asked ?? MAX_WAIT_SECONDS)
  const invoked = await project(parts, 'processing.execute', request, reply, () => {
    const wanted = requestOf(request)
    return {
      process_id: request.params.id,
      workspaceId: wanted.projectId,
      inputs: wanted.inputs,
      ...wanted.form,
      wait_seconds: Math.min(wait, MAX_WAIT_SECONDS),
    }
  })
  if (invoked.status !== 200) return shown(reply, invoked, () => ({}), EXCEPTIONS.noSuchProcess)
  const { job } = documentOf(invoked) as { job: JobDocument }
  if (isAsync || prefer.includes('wait'))
    reply.header('Preference-Applied', isAsync ? 'respond-async' : `wait=${Math.min(wait, MAX_WAIT_SECONDS)}`)
  if (job.status === 'completed' && !isAsync) {
    reply.header('Link', `<${baseUrl}/jobs/${job.id}>; rel="monitor"`)
    return shown(reply, invoked, () => resultsOf(job, baseUrl, { response: job.response, outputs: job.requested_outputs }))
  }
  if (job.status === 'failed' && !isAsync) throw withoutResults(job)
  reply.header('Location', `${baseUrl}/jobs/${job.id}`)
  return shown(reply.code(201), invoked, () => statusInfo(job, baseUrl))
}

/** The project stands in the address as `project_id`, or among the inputs. */
function requestOf(request: FastifyRequest): { inputs: Record<string, unknown>; projectId: unknown; form: Form } {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  const given = body['inputs'] ?? {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalidField('inputs', 'must be an object')
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, inputValue(value, `inputs.${name}`)]))
  const { project_id: named, ...inputs } = values
  const projectId = queryOf(request)['project_id'] ?? named
  if (projectId === undefined) throw invalidField('inputs.project_id', 'is required: the project that the outputs are registered in')
  return { inputs, projectId, form: formOf(body) }
}

const documentOf = (invoked: Invoked): unknown => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString())

/** An answer of an operation in the words of OGC; a 404 has the `type` that the standard gives it where it is about `missing`. */
function shown<D>(reply: FastifyReply, invoked: Invoked, words: (document: D) => unknown, missing?: string): FastifyReply {
  const { 'Content-Type': _type, ...headers } = invoked.headers
  if (invoked.status === 404 && missing) {
    const document = documentOf(invoked) as { detail: string }
    // The detail may go on with the name that was given and the nearest that there is.
    const isAbout = document.detail
      .toLowerCase()
      .replaceAll(' ', '-')
      .startsWith(missing.slice(missing.lastIndexOf('/') + 1))
    const told = isAbout ? { ...document, type: missing } : document
    return reply
      .code(404)
      .headers(headers)
      .type('application/problem+json; charset=utf-8')
      .send(Buffer.from(JSON.stringify(told)))
  }
  if (invoked.status !== 200) return send(reply, invoked)
  return reply
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(words(documentOf(invoked) as D))))
}
