/**
 * Goal: every document of our STAPI server is valid for `stapi-pydantic`, the models that the standard's own server and client share,
 * and a client that follows links as they are can search, order and follow an order. The same holds for the simulated server that our
 * adapter is tested with, so that it speaks the standard and not a dialect of ours.
 *
 * Run: npm test -- test/peers/stapi.ts. PEER_PYTHON is a Python with stapi-pydantic (`.ci/requirements.txt`); skips where there is none.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newId } from '#core/ids.ts'
import { startStapi } from '../../sandbox/vendors/stapi/server.ts'
import { features, grant, square, until, work } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'

const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const skip = spawnSync(PYTHON, ['-c', 'import stapi_pydantic, httpx']).status === 0 ? false : 'There is no Python with stapi-pydantic here'

const PRODUCT = 'sandbox-vhr-tasking'
const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }

/** What the client found. */
async function used(given: object) {
  const script = new URL('./stapi.py', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(PYTHON, [script, JSON.stringify(given)], { maxBuffer: 1e7 })
  return JSON.parse(stdout)
}

const SEARCH = {
  datetime: `${WINDOW.acquisitionStart}/${WINDOW.acquisitionEnd}`,
  geometry: square(2.3, 48.2, 0.005),
  filter: { op: '<=', args: [{ property: 'view:off_nadir' }, 20] },
}

test('stapi-pydantic at our STAPI server', { skip }, async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const { token } = org.owner
  const group = (dataProduct: string, west = 2.3) => ({
    dataProduct,
    featureCollection: features(square(west, 48.2, 0.005)),
    params: WINDOW,
  })
  const place = async (...groups: object[]): Promise<string> =>
    (await w.ok(token, 'orders.tasking.place', { projectId: org.projectId, groups }, { 'idempotency-key': newId() })).id
  const [studied, quoted, several, gone, done] = [
    await place(group(PRODUCT)),
    await place(group('sandbox-vhr-quoted')),
    await place(group(PRODUCT), group(PRODUCT, 2.4)),
    await place(group(PRODUCT)),
    await place(group('sandbox-vhr-quoted')),
  ]
  await w.ok(token, 'orders.cancel', { id: gone })
  await work(w, [studied, quoted, several, done], until('feasibility_ready', 'quotation_ready'))
  const [{ id: quotation_id }] = (await w.ok(token, 'orders.tasking.quotations.list', { orderId: done })).content
  await w.ok(token, 'orders.tasking.quotation_decide', { quotation_id, decision: 'ACCEPTED' })
  await work(w, [done])
  const codes = { [studied]: 'reserved', [quoted]: 'reserved', [several]: 'reserved', [gone]: 'user_cancelled', [done]: 'completed' }

  const { key } = await w.ok(token, 'api_keys.create', { name: 'tasking', permissions: ['read', 'write'] })
  const given = {
    url: `${w.baseUrl}/stapi`,
    headers: { 'x-api-key': key },
    product: PRODUCT,
    ...SEARCH,
    order_parameters: { project_id: org.projectId, priority: 'standard' },
    orders: Object.entries(codes).map(([id, code]) => ({ id, code })),
  }
  const { products, product, passes, ...rest } = await used(given)

  const { sensors } = await w.ok(token, 'orders.tasking.sensors')
  const names = sensors.flatMap(({ dataProducts }: { dataProducts: { name: string }[] }) => dataProducts.map(({ name }) => name))
  assert.deepEqual(products, names, 'over several pages')
  assert.deepEqual([product.conforms, product.queryables], [true, ['eo:cloud_cover', 'view:off_nadir']])
  assert.ok(product.parameters.includes('project_id') && product.parameters.includes('priority'))
  assert.ok(passes.pages > 1 && passes.count > 3 && passes.sorted, JSON.stringify(passes))
  assert.deepEqual(rest, {
    conformance: true,
    order: { product: PRODUCT, code: 'received' },
    listed: true,
    codes,
    statuses: ['received'],
  })
})

test('stapi-pydantic at the simulated server', { skip }, async (t) => {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-peer-'))
  const vendor = await startStapi({ clock: testClock('2030-01-01T00:00:00.000Z'), workDir })
  t.after(async () => {
    await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const headers = { authorization: `Bearer ${vendor.key}` }
  const { products, product, passes, ...rest } = await used({
    url: vendor.url,
    headers,
    product: 'Area:Standard',
    ...SEARCH,
    order_parameters: { priority: 'standard' },
  })
  assert.deepEqual([products, product.conforms], [['Area:Standard', 'Spot:Standard'], true])
  assert.ok(passes.pages > 1 && passes.sorted, JSON.stringify(passes))
  const order = { product: 'Area:Standard', code: 'received' }
  assert.deepEqual(rest, { conformance: true, order, listed: true, codes: {}, statuses: ['received'] })
  assert.equal(vendor.orders.length, 1)
})
