/**
 * Goal: what pystapi-client, the standard's own client, can do at our STAPI server and at the simulated one is known, and is what
 * docs/adr/0046-stapi.md says.
 *
 * Run: npm test -- test/peers/stapi-client.ts. PYSTAPI_PYTHON is a Python with pystapi-client 0.0.1, which is not on the package index:
 * install it from a copy of its repository (stapi-spec/pystapi), with stapi-pydantic 0.1.0. Skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { newId } from '#core/ids.ts'
import { startStapi } from '../../sandbox/vendors/stapi/server.ts'
import { features, grant, square } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'

const PYTHON = process.env['PYSTAPI_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import pystapi_client.client']).status === 0 ? false : 'There is no Python with pystapi-client here'

const SEARCH = {
  datetime: '2030-01-02T00:00:00+00:00/2030-01-20T00:00:00+00:00',
  geometry: square(2.3, 48.2, 0.005),
  filter: { op: '<=', args: [{ property: 'view:off_nadir' }, 20] },
}

/** Serves what is below a URL at the root of a host, which is the only place where the client looks for a landing page. */
async function atRoot(t: TestContext, url: string): Promise<string> {
  const server = http.createServer((request, response) => {
    const behind = http.request(
      `${url}${request.url === '/' ? '' : request.url}`,
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    request.pipe(behind)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function used(given: object) {
  const script = new URL('./stapi-client.py', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(PYTHON, [script, JSON.stringify(given)], { maxBuffer: 1e7 })
  return JSON.parse(stdout)
}

test('pystapi-client at our STAPI server', { skip }, async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const { token } = org.owner
  const params = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
  const group = { dataProduct: 'sandbox-vhr-tasking', featureCollection: features(SEARCH.geometry), params }
  const place = () => w.ok(token, 'orders.tasking.place', { projectId: org.projectId, groups: [group] }, { 'idempotency-key': newId() })
  const orders: string[] = [(await place()).id, (await place()).id]
  const { key } = await w.ok(token, 'api_keys.create', { name: 'tasking', permissions: ['read', 'write'] })
  const url = `${w.baseUrl}/stapi`
  const found = await used({
    url,
    root: await atRoot(t, url),
    headers: { 'x-api-key': key },
    product: 'sandbox-vhr-tasking',
    ...SEARCH,
    order_parameters: { project_id: org.projectId, priority: 'standard' },
    orders,
  })
  assert.deepEqual(found, {
    'below a path': 'ValueError None', // The landing page of the service has no products.
    'with headers': 'APIError 401',
    conformance: true,
    products: ['sandbox-vhr-tasking', 'sandbox-vhr-quoted', 'sandbox-vhr-assured'],
    product: 'sandbox-vhr-tasking',
    passes: 9,
    order: 'APIError 201',
    orders: 3,
    'one order': orders,
  })
})

test('pystapi-client at the simulated server', { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-peer-'))
  const vendor = await startStapi({ clock: testClock('2030-01-01T00:00:00.000Z'), workDir })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const found = await used({
    url: vendor.url,
    root: await atRoot(t, vendor.url),
    headers: { authorization: `Bearer ${vendor.key}` },
    product: 'Area:Standard',
    ...SEARCH,
    order_parameters: { priority: 'standard' },
    orders: [],
  })
  assert.deepEqual(found, {
    'below a path': 'APIError 404',
    'with headers': 'APIError 401',
    conformance: true,
    products: ['Area:Standard', 'Spot:Standard'],
    product: 'Area:Standard',
    passes: 9,
    order: 'APIError 201',
    orders: 1, // What it reports as an error was placed.
    'one order': [],
  })
})
