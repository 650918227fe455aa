/** The documents of OGC API – Processes, made of what operations answer. */

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
  output_artifacts: { items?: { item_id: string; name: string; assets: { key: string; media_type: string }[] }[] } | null
  created_at: string
  started_at: string | null
  completed_at: string | null
}

const CLASSES = ['core', 'ogc-process-description', 'json', 'job-list', 'dismiss'].map(
  (name) => `http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${name}`,
)
export const conformance = () => ({ conformsTo: ['http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core', ...CLASSES] })

const JSON_TYPE = 'application/json'

export const processSummary = ({ id, title, description, version, category }: ProcessDocument, base: string) => ({
  id,
  title,
  description,
  version,
  keywords: [category],
  jobControlOptions: ['sync-execute', 'async-execute', 'dismiss'],
  outputTransmission: ['value', 'reference'],
  links: [
    { rel: 'self', href: `${base}/processes/${id}`, type: JSON_TYPE, title: 'This process' },
    {
      rel: 'http://www.opengis.net/def/rel/ogc/1.0/execute',
      href: `${base}/processes/${id}/execution`,
      type: JSON_TYPE,
      title: 'Execute it',
    },
  ],
})

const PROJECT_INPUT = {
  title: 'project_id',
  description: 'The project that the outputs are registered in; it may stand in the address as ?project_id= instead',
  minOccurs: 0,
  schema: { type: 'string', format: 'uuid' },
}

export function processDescription(process: ProcessDocument, base: string) {
  const { properties = {}, required = [] } = process.input_schema ?? {}
  const inputs = Object.entries(properties).map(([name, schema]) => [
    name,
    { title: name, description: schema.description ?? name, minOccurs: required.includes(name) ? 1 : 0, maxOccurs: 1, schema },
  ])
  const outputs = Object.entries(process.output_schema?.properties ?? {}).map(([name, schema]) => [
    name,
    { title: name, description: schema.description ?? name, schema },
  ])
  return {
    ...processSummary(process, base),
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

export const statusInfo = (job: JobDocument, base: string) => ({
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
    { rel: 'self', href: `${base}/jobs/${job.id}`, type: JSON_TYPE, title: 'This job' },
    ...(job.status === 'completed'
      ? [
          {
            rel: 'http://www.opengis.net/def/rel/ogc/1.0/results',
            href: `${base}/jobs/${job.id}/results`,
            type: JSON_TYPE,
            title: 'Its results',
          },
        ]
      : []),
  ],
})

/** Each item with the addresses of its files: they are fetched with the same credential. */
export function resultsOf({ output_artifacts }: JobDocument, base: string) {
  const { items = [], ...rest } = output_artifacts ?? {}
  const withLinks = items.map((item) => ({
    ...item,
    assets: item.assets.map((asset) => ({
      ...asset,
      href: `${base}/api/v1/items/${encodeURIComponent(item.item_id)}/assets/${encodeURIComponent(asset.key)}`,
      type: asset.media_type,
    })),
  }))
  return { items: withLinks, ...rest }
}
