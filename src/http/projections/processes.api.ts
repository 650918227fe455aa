/** OGC API – Processes as OpenAPI 3.0, as the standard requires. The operations behind it are in `/openapi.json`. */
import { VERSION } from '#core/version.ts'
import { JOB_RESPONSES } from '#core/vocabulary.ts'
import { JOB_STATES } from './processes.wire.ts'

type Json = Record<string, unknown>

const JSON_TYPE = 'application/json'
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const list = (items: Json) => ({ type: 'array', items })
const object = (properties: Json, required: string[] = []): Json => ({
  type: 'object',
  ...(required.length > 0 ? { required } : {}),
  properties,
})
const text = { type: 'string' }
const instant = { type: 'string', format: 'date-time' }

const described = object({ title: text, description: text, schema: { type: 'object' } }, ['schema'])
const summary = {
  id: text,
  version: text,
  title: text,
  description: text,
  keywords: list(text),
  jobControlOptions: list({ type: 'string', enum: ['sync-execute', 'async-execute', 'dismiss'] }),
  outputTransmission: list({ type: 'string', enum: ['value'] }),
  links: list(ref('link')),
}
const SCHEMAS: Json = {
  link: object({ href: text, rel: text, type: text, title: text }, ['href']),
  landingPage: object({ title: text, description: text, links: list(ref('link')) }, ['links']),
  confClasses: object({ conformsTo: list(text) }, ['conformsTo']),
  processSummary: object(summary, ['id', 'version']),
  process: object(
    {
      ...summary,
      inputs: { type: 'object', additionalProperties: described },
      outputs: { type: 'object', additionalProperties: described },
    },
    ['id', 'version'],
  ),
  processList: object({ processes: list(ref('processSummary')), links: list(ref('link')) }, ['processes', 'links']),
  execute: object({
    inputs: { type: 'object', additionalProperties: true },
    outputs: { type: 'object', additionalProperties: object({ transmissionMode: { type: 'string', enum: ['value'] } }) },
    response: { type: 'string', enum: [...JOB_RESPONSES], default: 'document' },
  }),
  statusInfo: object(
    {
      processID: text,
      type: { type: 'string', enum: ['process'] },
      jobID: text,
      status: { type: 'string', enum: [...JOB_STATES] },
      message: text,
      progress: { type: 'integer', minimum: 0, maximum: 100 },
      created: instant,
      started: instant,
      finished: instant,
      links: list(ref('link')),
    },
    ['jobID', 'status', 'type'],
  ),
  jobList: object({ jobs: list(ref('statusInfo')), links: list(ref('link')) }, ['jobs', 'links']),
  results: { type: 'object', additionalProperties: true },
  rawResults: list({ type: 'object', additionalProperties: true }),
  requestedResults: { oneOf: [ref('results'), ref('rawResults')] },
  exception: { ...object({ type: text, title: text, status: { type: 'integer' }, detail: text, instance: text }, ['type']) },
}

const query = (name: string, description: string, schema: Json) => {
  const isList = schema['type'] === 'array'
  return { name, in: 'query', required: false, description, schema, ...(isList ? { style: 'form', explode: false } : {}) }
}
const inPath = (name: string, description: string) => ({ name, in: 'path', required: true, description, schema: text })
const limit = (maximum: number, standard: number) =>
  query('limit', 'Maximum entries per page; the `next` link leads to the rest', {
    type: 'integer',
    minimum: 1,
    maximum,
    default: standard,
  })
const seconds = { type: 'integer', minimum: 0 }
const processId = inPath('processID', 'Process ID')
const jobId = inPath('jobID', 'Job ID')
const form = [
  query('outputs', 'Names of the outputs to return; defaults to those requested on execution', list(text)),
  query('response', '`raw` returns only the value of the output; defaults to the form requested on execution', {
    type: 'string',
    enum: [...JOB_RESPONSES],
  }),
]

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'Not possible in the current state',
  401: 'Missing or invalid credential',
  402: 'Not enough credits',
  403: 'The credential does not allow this',
  404: 'No such process, job or result',
  409: 'The Idempotency-Key was used with another body',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Invalid parameter or input; see `errors`',
  429: 'Rate limit exceeded',
  500: 'Internal error',
}

interface Route {
  id: string
  summary: string
  answers: Readonly<Record<string, string>>
  parameters?: readonly Json[]
  refusals?: readonly number[]
  isPublic?: true
  body?: string
}

function route({ id, summary: what, answers, parameters = [], refusals = [], isPublic, body }: Route): Json {
  const content = (schema: string, type = JSON_TYPE) => ({ content: { [type]: { schema: ref(schema) } } })
  const statuses = isPublic ? [500] : [401, 403, 429, 500, ...refusals]
  return {
    operationId: id,
    summary: what,
    ...(isPublic ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, ...content(body) } } : {}),
    responses: Object.fromEntries([
      ...Object.entries(answers).map(([status, schema]) => [status, { description: 'Done', ...content(schema) }]),
      ...statuses
        .toSorted()
        .map((status) => [status, { description: REFUSALS[status], ...content('exception', 'application/problem+json') }]),
    ]),
  }
}

const PATHS: Json = {
  '/': { get: route({ id: 'landingPage', summary: 'Landing page', answers: { 200: 'landingPage' }, isPublic: true }) },
  '/conformance': { get: route({ id: 'conformance', summary: 'Conformance classes', answers: { 200: 'confClasses' }, isPublic: true }) },
  '/processes': {
    get: route({
      id: 'processes',
      summary: 'Processes',
      answers: { 200: 'processList' },
      parameters: [limit(10_000, 10_000), query('offset', 'Number of results to skip', seconds)],
      refusals: [422],
    }),
  },
  '/processes/{processID}': {
    get: route({ id: 'process', summary: 'Get a process', answers: { 200: 'process' }, parameters: [processId], refusals: [404] }),
  },
  '/processes/{processID}/execution': {
    post: route({
      id: 'execute',
      summary: 'Execute a process',
      answers: { 200: 'requestedResults', 201: 'statusInfo' },
      parameters: [processId, query('project_id', 'ID of the project for the outputs, unless it is among the inputs', text)],
      refusals: [400, 402, 404, 409, 413, 415, 422],
      body: 'execute',
    }),
  },
  '/jobs': {
    get: route({
      id: 'jobs',
      summary: 'List jobs, newest first',
      answers: { 200: 'jobList' },
      parameters: [
        query('type', 'Job type; always `process`', list({ type: 'string', enum: ['process'] })),
        query('processID', 'Process IDs to include', list(text)),
        query('status', 'Job statuses to include', list({ type: 'string', enum: [...JOB_STATES] })),
        query('datetime', 'Creation time as an RFC 3339 timestamp, or start/end with `..` for an open end', text),
        query('minDuration', 'Minimum run time in seconds', seconds),
        query('maxDuration', 'Maximum run time in seconds', seconds),
        limit(100, 20),
        query('page', '0-based page number', seconds),
      ],
      refusals: [422],
    }),
  },
  '/jobs/{jobID}': {
    get: route({ id: 'job', summary: 'Get a job', answers: { 200: 'statusInfo' }, parameters: [jobId], refusals: [404] }),
    delete: route({ id: 'dismiss', summary: 'Cancel a job', answers: { 200: 'statusInfo' }, parameters: [jobId], refusals: [400, 404] }),
  },
  '/jobs/{jobID}/results': {
    get: route({
      id: 'results',
      summary: 'Get the results of a job',
      answers: { 200: 'requestedResults' },
      parameters: [jobId, ...form],
      refusals: [400, 404, 422],
    }),
  },
}

export function processesApi(baseUrl: string): Json {
  return {
    openapi: '3.0.3',
    info: { title: 'Groundtrack, OGC API Processes', version: VERSION },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: PATHS,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: SCHEMAS,
    },
  }
}
