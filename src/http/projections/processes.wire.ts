/** The documents of OGC API – Processes, from the responses of operations. */
import { JOB_OUTPUTS } from '#core/vocabulary.ts'
import { invalidField } from '#core/problem.ts'
import type { Form } from './processes.inputs.ts'

export interface ProcessDocument {
  id: string
  title: string
  description: string
  version: string
  category: string
  input_schema?: { properties: Record<string, Schema>; required?: string[] }
  output_schema?: { properties: Record<string, Schema> }
}

interface Schema {
  title?: string
  description?: string
  [keyword: string]: unknown
}

export interface JobDocument {
  id: string
  job_type: string
  status: string
  progress: number
  stage: string
  error: string | null
  response: Form['response']
  requested_outputs: string[] | null
  output_artifacts: { items?: { item_id: string; name: string; assets: { key: string; media_type: string }[] }[] } | null
  created_at: string
  started_at: string | null
  completed_at: string | null
}

/** Problem types of the standard. */
const exception = (name: string) => `http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/${name}`
export const EXCEPTIONS = {
  noSuchProcess: exception('no-such-process'),
  noSuchJob: exception('no-such-job'),
  resultNotReady: exception('result-not-ready'),
}

/** Conformance classes; `test/ogc/processes.test.ts` tests them. */
const CLASSES = ['core', 'ogc-process-description', 'json', 'oas30', 'job-list', 'dismiss'].map(
  (name) => `http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${name}`,
)
export const conformance = () => ({ conformsTo: ['http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core', ...CLASSES] })

const JSON_TYPE = 'application/json'

export const JOB_STATES = ['accepted', 'running', 'successful', 'failed', 'dismissed'] as const

export const processSummary = ({ id, title, description, version, category }: ProcessDocument, baseUrl: string) => ({
  id,
  title,
  description,
  version,
  keywords: [category],
  jobControlOptions: ['sync-execute', 'async-execute', 'dismiss'],
  outputTransmission: ['value'],
  links: [
    { rel: 'self', href: `${baseUrl}/processes/${id}`, type: JSON_TYPE, title: 'This process' },
    {
      rel: 'http://www.opengis.net/def/rel/ogc/1.0/execute',
      href: `${baseUrl}/processes/${id}/execution`,
      type: JSON_TYPE,
      title: 'Execute this process',
    },
  ],
})

const PROJECT_INPUT = {
  title: 'project_id',
  description: 'ID of the project for the outputs; can be sent as ?project_id= instead',
  minOccurs: 0,
  schema: { type: 'string', format: 'uuid' },
}

export function processDescription(process: ProcessDocument, baseUrl: string) {
  const { properties = {}, required = [] } = process.input_schema ?? {}
  const inputs = Object.entries(properties).map(([name, schema]) => [
    name,
    { title: name, description: schema.description ?? name, minOccurs: required.includes(name) ? 1 : 0, maxOccurs: 1, schema },
  ])
  // Warnings are part of the job's document, but cannot be requested as an output.
  const outputs = Object.entries(process.output_schema?.properties ?? {})
    .filter(([name]) => (JOB_OUTPUTS as readonly string[]).includes(name))
    .map(([name, schema]) => [name, { title: name, description: schema.description ?? name, schema }])
  return {
    ...processSummary(process, baseUrl),
    inputs: { project_id: PROJECT_INPUT, ...Object.fromEntries(inputs) },
    outputs: Object.fromEntries(outputs),
  }
}

const STATUSES: Readonly<Record<string, string>> = {
  pending: 'accepted',
  dispatched: 'accepted',
  running: 'running',
  completed: 'successful',
  failed: 'failed',
  cancelled: 'dismissed',
}

/** Converts OGC's statuses to ours; OGC has one status for everything that waits. */
export function jobStatuses(requested: readonly string[]): string[] {
  const known = Object.values(STATUSES)
  const unknown = requested.find((status) => !known.includes(status))
  if (unknown !== undefined) throw invalidField('status', `must be one of ${[...new Set(known)].join(', ')}`)
  return Object.keys(STATUSES).filter((status) => requested.includes(STATUSES[status]!))
}

export const statusInfo = (job: JobDocument, baseUrl: string) => ({
  processID: job.job_type,
  type: 'process',
  jobID: job.id,
  status: STATUSES[job.status] ?? 'accepted',
  message: job.error ?? job.stage,
  progress: Math.floor(job.progress),
  created: job.created_at,
  ...(job.started_at ? { started: job.started_at } : {}),
  ...(job.completed_at ? { finished: job.completed_at } : {}),
  links: [
    { rel: 'self', href: `${baseUrl}/jobs/${job.id}`, type: JSON_TYPE, title: 'This job' },
    ...(job.status === 'completed'
      ? [
          {
            rel: 'http://www.opengis.net/def/rel/ogc/1.0/results',
            href: `${baseUrl}/jobs/${job.id}/results`,
            type: JSON_TYPE,
            title: 'Results',
          },
        ]
      : []),
  ],
})

/**
 * Each item with the URLs of its files, which accept the same credential. As `raw`, the list itself; in a document, objects are
 * qualified values.
 */
export function resultsOf({ output_artifacts }: JobDocument, baseUrl: string, { outputs, response }: Form) {
  const { items = [], ...more } = output_artifacts ?? {}
  const withLinks = items.map((item) => ({
    ...item,
    assets: item.assets.map((asset) => ({
      ...asset,
      href: `${baseUrl}/api/v1/items/${encodeURIComponent(item.item_id)}/assets/${encodeURIComponent(asset.key)}`,
      type: asset.media_type,
    })),
  }))
  if (response === 'raw') return withLinks
  if (outputs) return { items: withLinks }
  const rest = Object.entries(more).map(([name, value]) => [name, isObject(value) ? { value, mediaType: JSON_TYPE } : value])
  return { items: withLinks, ...(Object.fromEntries(rest) as Record<string, unknown>) }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
