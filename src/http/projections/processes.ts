/** OGC API – Processes, Part 1: every address is an operation by another spelling, with all its stages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalidField, problem } from '#core/problem.ts'
import { parseBody } from '#http/body.ts'
import { send } from '#http/operations.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import {
  conformance,
  processDescription,
  processSummary,
  resultsOf,
  statusInfo,
  type JobDocument,
  type ProcessDocument,
} from './processes.wire.ts'
import { numeric, pick, project, queryOf, type Projecting } from './project.ts'

const MAX_WAIT_SECONDS = 25

export function registerProcesses(app: FastifyInstance, projecting: Projecting): void {
  const base = () => projecting.platform.baseUrl()
  app.get('/conformance', async () => conformance())
  app.get('/processes', async (request, reply) => {
    const invoked = await project(projecting, 'processing.catalog.list', request, reply, () => ({}))
    return shown(reply, invoked, ({ processes }: { processes: ProcessDocument[] }) => ({
      processes: processes.map((process) => processSummary(process, base())),
      links: [{ rel: 'self', href: `${base()}/processes`, type: 'application/json' }],
    }))
  })
  app.get<{ Params: { id: string } }>('/processes/:id', async (request, reply) => {
    const invoked = await project(projecting, 'processing.catalog.get', request, reply, () => ({ process_id: request.params.id }))
    return shown(reply, invoked, (process: ProcessDocument) => processDescription(process, base()))
  })
  app.post<{ Params: { id: string } }>('/processes/:id/execution', (request, reply) => execute(projecting, request, reply))
  registerJobs(app, projecting)
}

function registerJobs(app: FastifyInstance, projecting: Projecting): void {
  const base = () => projecting.platform.baseUrl()
  app.get('/jobs', async (request, reply) => {
    const query = queryOf(request)
    const input = () => ({
      ...pick(query, ['status', 'processId']),
      ...Object.fromEntries(Object.entries(pick(query, ['limit', 'page'])).map(([name, value]) => [name, numeric(value)])),
    })
    const invoked = await project(projecting, 'processing.jobs.list', request, reply, input)
    return shown(reply, invoked, ({ jobs }: { jobs: JobDocument[] }) => ({
      jobs: jobs.map((job) => statusInfo(job, base())),
      links: [{ rel: 'self', href: `${base()}/jobs`, type: 'application/json' }],
    }))
  })
  app.get<{ Params: { id: string } }>('/jobs/:id', async (request, reply) => {
    const invoked = await project(projecting, 'processing.job.get', request, reply, () => ({ job_id: request.params.id }))
    return shown(reply, invoked, ({ job }: { job: JobDocument }) => statusInfo(job, base()))
  })
  app.get<{ Params: { id: string } }>('/jobs/:id/results', async (request, reply) => {
    const invoked = await project(projecting, 'processing.job.get', request, reply, () => ({ job_id: request.params.id }))
    return shown(reply, invoked, ({ job }: { job: JobDocument }) => {
      if (job.status === 'failed') throw problem('bad-request', `The job failed: ${job.error}`)
      if (job.status !== 'completed') throw problem('not-found', `The job has no results yet; it is ${job.status}`)
      return resultsOf(job, base())
    })
  })
  app.delete<{ Params: { id: string } }>('/jobs/:id', async (request, reply) => {
    const found = await project(projecting, 'processing.job.get', request, reply, () => ({ job_id: request.params.id }))
    if (found.status !== 200) return send(reply, found)
    const { job } = documentOf(found) as { job: JobDocument }
    const gone = await project(projecting, 'processing.job.delete', request, reply, () => ({ job_id: request.params.id }))
    return shown(reply, gone, () => statusInfo({ ...job, status: 'cancelled' }, base()))
  })
}

/** Waits for the end unless asked not to; what is not done by then is told as a job. */
async function execute(
  projecting: Projecting,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const base = projecting.platform.baseUrl()
  const prefer = String(request.headers['prefer'] ?? '')
  const isAsync = /\brespond-async\b/.test(prefer)
  const asked = /\bwait=(\d{1,4})\b/.exec(prefer)?.[1]
  const wait = isAsync ? Number(asked ?? 0) : Number(asked ?? MAX_WAIT_SECONDS)
  const invoked = await project(projecting, 'processing.execute', request, reply, () => {
    const { inputs, projectId } = requestOf(request)
    return { process_id: request.params.id, workspaceId: projectId, inputs, wait_seconds: Math.min(wait, MAX_WAIT_SECONDS) }
  })
  if (invoked.status !== 200) return send(reply, invoked)
  const { job } = documentOf(invoked) as { job: JobDocument }
  if (isAsync || prefer.includes('wait'))
    reply.header('Preference-Applied', isAsync ? 'respond-async' : `wait=${Math.min(wait, MAX_WAIT_SECONDS)}`)
  if (job.status === 'completed' && !isAsync) return shown(reply, invoked, () => resultsOf(job, base))
  if (job.status === 'failed' && !isAsync) throw problem('bad-request', `The job failed: ${job.error}`)
  reply.header('Location', `${base}/jobs/${job.id}`)
  return shown(reply.code(201), invoked, () => statusInfo(job, base))
}

/** The project stands in the address as `project_id`, or among the inputs. */
function requestOf(request: FastifyRequest): { inputs: Record<string, unknown>; projectId: unknown } {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  const given = body['inputs'] ?? {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalidField('inputs', 'must be an object')
  const { project_id: named, ...inputs } = given as Record<string, unknown>
  const projectId = queryOf(request)['project_id'] ?? named
  if (projectId === undefined) throw invalidField('inputs.project_id', 'is required: the project that the outputs are registered in')
  return { inputs, projectId }
}

const documentOf = (invoked: Invoked): unknown => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString())

/** An answer of an operation in the words of OGC; what it refused is shown as it is. */
function shown<D>(reply: FastifyReply, invoked: Invoked, words: (document: D) => object): FastifyReply {
  if (invoked.status !== 200) return send(reply, invoked)
  const { 'Content-Type': _type, ...headers } = invoked.headers
  return reply
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(words(documentOf(invoked) as D))))
}
