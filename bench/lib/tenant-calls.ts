/** Calls in the name of one organization, for the well-behaved and the hostile alike. */
import { once } from 'node:events'
import http from 'node:http'
import { tileAt } from '../../test/support/scene.ts'

const ZOOM = 14
/** Nobody waits longer for an answer; it counts as broken. */
const MAX_WAIT_MS = 20_000

export interface Tenant {
  baseUrl: string
  key: string
  projectId: string
  itemId: string
}

/** Adds up by name. */
export function count(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, number] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + number
}

interface Answer {
  status: number
  body: Buffer
}

export function caller({ baseUrl, key }: Tenant, maxSockets = Infinity) {
  const agent = new http.Agent({ keepAlive: true, maxSockets })
  return async (id: string, input: object): Promise<Answer> => {
    const request = http.request(`${baseUrl}/v1/op/${id}`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    })
    request.end(JSON.stringify(input))
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode!, body: Buffer.concat(chunks) }
  }
}

/** Another picture each time: no cache answers for the pool. */
export function randomTile(itemId: string): object {
  const first = tileAt(151.02, -33.02, ZOOM)
  const place = { z: ZOOM, x: first.x + Math.floor(Math.random() * 10), y: first.y + Math.floor(Math.random() * 6) }
  return { item_id: itemId, ...place, bands: '3,2,1', rescale: `0,${1_000 + Math.floor(Math.random() * 1e6)}` }
}
