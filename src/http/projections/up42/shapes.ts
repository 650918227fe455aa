/** Collections, scenes and jobs in UP42's shapes, from the responses of operations. */

import type { Json } from './route.ts'

/** UP42's host name is our `host_name` of searches. */
function providersOf({ providers, hostName }: Json): Json[] {
  const producers = (providers as { name: string; title: string; roles: string[] }[])
    .filter(({ roles }) => roles.includes('PRODUCER'))
    .map(({ name, title }) => ({ name, title, description: title, roles: ['PRODUCER'] }))
  return [...producers, { name: hostName, title: hostName, description: hostName, roles: ['HOST'] }]
}

export const collectionShape = (collection: Json): Json => ({
  ...collection,
  providers: providersOf(collection),
  dataProducts: (collection['dataProducts'] as Json[]).map((product) => ({ ...product, description: product['title'] })),
  metadata: {
    productType: null,
    resolutionClass: null,
    resolutionValue: collection['resolutionMeters'] == null ? null : { minimum: collection['resolutionMeters'] },
  },
})

interface Scenes {
  features: { id: string; bbox?: unknown; geometry: unknown; properties: Json; collection?: string }[]
  links: { rel: string; body?: { next?: string }; href?: string }[]
}

/** The next page is at the same URL, with the cursor in its query. */
export function scenesShape(answer: Json, path: string, baseUrl: string): Json {
  const { features, links } = answer as Json & Scenes
  const next = links.find(({ rel }) => rel === 'next')
  const cursor = next && (next.body?.next ?? new URL(next.href!, baseUrl).searchParams.get('next'))
  return {
    type: 'FeatureCollection',
    features: features.map(({ id, bbox, geometry, properties, collection }) => ({
      type: 'Feature',
      ...(bbox ? { bbox } : {}),
      geometry,
      properties: {
        id,
        constellation: properties['constellation'] ?? properties['platform'] ?? properties['hostName'] ?? '',
        collection: collection ?? properties['collectionId'] ?? properties['collection'] ?? '',
        producer: properties['producer'] ?? properties['hostName'] ?? '',
        datetime: properties['datetime'] ?? null,
        cloudCoverage: properties['cloudCoverage'] ?? properties['eo:cloud_cover'] ?? null,
        resolution: properties['resolution'] ?? properties['gsd'] ?? null,
        deliveryTime: null,
        providerProperties: properties,
      },
    })),
    links: cursor ? [{ rel: 'next', href: `${baseUrl}${path}?next=${encodeURIComponent(cursor)}` }] : [],
  }
}

/** Credits of a job without outputs are released, which UP42 has a status for. */
const JOB_STATUSES: Readonly<Record<string, string>> = {
  pending: 'created',
  dispatched: 'accepted',
  running: 'running',
  completed: 'successful',
  failed: 'released',
  cancelled: 'released',
}
const JOB_ALIASES: Readonly<Record<string, string>> = { captured: 'successful', failed: 'released' }

/** Converts UP42's statuses to ours; unknown ones are left for the operation to reject. */
export function jobStatuses(given: string): string[] {
  return given.split(',').flatMap((name) => {
    const theirs = JOB_ALIASES[name] ?? name
    const statuses = Object.keys(JOB_STATUSES).filter((status) => JOB_STATUSES[status] === theirs)
    return statuses.length > 0 ? statuses : [name]
  })
}

export function jobShape(job: Json, baseUrl: string): Json {
  const collectionId = job['target_collection_id']
  return {
    processID: job['job_type'],
    jobID: job['id'],
    accountID: job['organization_id'],
    workspaceID: job['project_id'],
    definition: { inputs: job['input_params'] },
    status: JOB_STATUSES[String(job['status'])] ?? job['status'],
    results: {
      collection: collectionId == null ? null : `${baseUrl}/v2/assets/stac/collections/${String(collectionId)}`,
      errors: job['error'] == null ? null : [{ name: 'JobFailed', message: job['error'] }],
      itemIDs: job['output_item_ids'],
    },
    creditConsumption: { credits: job['captured_credits'] ?? job['reserved_credits'] },
    created: job['created_at'],
    started: job['started_at'],
    finished: job['completed_at'],
    updated: job['completed_at'] ?? job['started_at'] ?? job['dispatched_at'] ?? job['created_at'],
  }
}
