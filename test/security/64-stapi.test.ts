import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, grant, square, until, work } from '../orders/support.ts'
import { world } from '../support/world.ts'

const PRODUCT = 'sandbox-vhr-tasking'
const ORDERS = `/stapi/products/${PRODUCT}/orders`
const PASSES = `/stapi/products/${PRODUCT}/opportunities`
const SEARCH = { datetime: '2030-01-02T00:00:00Z/2030-01-20T00:00:00Z', geometry: square(2.3, 48.2, 0.005) }
const KIB_256 = 256 * 1024

interface Link {
  rel: string
  href: string
  body: object
}

/** So many upper limits, one inside the other. */
const nested = (depth: number): object => {
  const limit = { op: '<=', args: [{ property: 'eo:cloud_cover' }, 20] }
  return Array.from({ length: depth }).reduce<object>((inner) => ({ op: 'and', args: [inner, limit] }), limit)
}

/** A ring of so many positions. */
const ringOf = (count: number) => {
  const at = (n: number) => [2.3 + 0.002 * Math.cos((2 * Math.PI * n) / count), 48.2 + 0.002 * Math.sin((2 * Math.PI * n) / count)]
  const ring = Array.from({ length: count }, (_, n) => at(n))
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

// Goal: STAPI shows and does nothing that the operations would refuse: orders of others and of private projects stay hidden, decisions
// by links need the rights of the operation, and no request is larger than those of the operations.
test('row 64: another way to the orders', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const insider = org.owner.token
  const outsider = (await w.member(org, 'editor')).token
  const stranger = (await w.organization()).owner.token
  const { id: projectId } = await w.ok(insider, 'projects.create', { name: 'Hidden valley', visibility: 'private' })
  const bearer = (token: string | null): Record<string, string> => (token === null ? {} : { authorization: `Bearer ${token}` })
  const get = (token: string | null, path: string) => w.request('GET', path.replace(w.baseUrl, ''), { headers: bearer(token) })
  const post = (token: string | null, path: string, body: object, more: Record<string, string> = {}) =>
    w.post(path.replace(w.baseUrl, ''), body, { ...bearer(token), ...more })
  const orderOf = (more: object = {}) => ({ ...SEARCH, order_parameters: { project_id: projectId, display_name: 'Secret' }, ...more })
  const placed = await post(insider, ORDERS, orderOf(), { 'idempotency-key': newId() })
  assert.equal(placed.status, 201)
  const { id } = placed.body as { id: string }
  await work(w, [id], until('feasibility_ready'))
  const before = await balance(w, org)
  const links = (await get(insider, `/stapi/orders/${id}`)).body.properties.status.links as Link[]
  const accept = links.find(({ rel }) => rel === 'accept-option')!

  await t.test('without a credential there is nothing but the landing page', async () => {
    for (const path of [
      '/stapi/products',
      `/stapi/products/${PRODUCT}`,
      '/stapi/orders',
      `/stapi/orders/${id}`,
      `/stapi/orders/${id}/statuses`,
    ])
      assert.equal((await get(null, path)).status, 401, path)
    for (const path of [ORDERS, PASSES]) assert.equal((await post(null, path, orderOf())).status, 401, path)
    const unread = await w.request('POST', ORDERS, {
      headers: { 'content-type': 'application/json' },
      body: ' '.repeat(KIB_256 + 1),
    })
    assert.equal(unread.status, 401, 'the body of a stranger is not read')
  })

  await t.test('an order of a private project is hidden from other members and other organizations, in lists and alone', async () => {
    for (const [token, refusal] of [
      [outsider, 403],
      [stranger, 404],
    ] as const) {
      assert.equal((await w.call(token, 'orders.get', { id })).status, refusal, 'as the operation does')
      const list = await get(token, '/stapi/orders?limit=100')
      assert.deepEqual([list.status, list.body.features], [200, []])
      for (const suffix of ['', '/statuses']) {
        const { status, bytes } = await get(token, `/stapi/orders/${id}${suffix}`)
        assert.equal(status, refusal)
        assert.doesNotMatch(bytes.toString(), /Secret|Hidden valley/)
      }
      assert.equal((await post(token, ORDERS, orderOf())).status, refusal, 'nor can they order into it')
    }
  })

  await t.test('a link to a decision is no permission', async () => {
    for (const [token, refusal] of [
      [outsider, 403],
      [stranger, 404],
      [null, 401],
    ] as const)
      assert.equal((await post(token, accept.href, accept.body, { 'idempotency-key': newId() })).status, refusal)
    const { key } = await w.ok(insider, 'api_keys.create', { name: 'reader', permissions: ['read'] })
    assert.equal((await w.post(ORDERS, orderOf(), { 'x-api-key': key })).status, 403)
    assert.equal((await w.post(`${ORDERS}?key=${key}`, orderOf())).status, 401)
    assert.deepEqual(await balance(w, org), before, 'nothing is reserved')
  })

  await t.test('bodies, filters, geometries and pages are bounded as those of the operations', async () => {
    const send = (body: string) => w.request('POST', PASSES, { headers: { ...bearer(insider), 'content-type': 'application/json' }, body })
    const padded = JSON.stringify(SEARCH)
    assert.equal((await send(padded.padEnd(KIB_256, ' '))).status, 200)
    assert.equal((await send(padded.padEnd(KIB_256 + 1, ' '))).status, 413)
    assert.ok([400, 413, 422].includes((await send(`{"filter":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)).status))
    const statusOf = async (change: object) => (await post(insider, PASSES, { ...SEARCH, ...change })).status
    assert.equal(await statusOf({ filter: nested(9) }), 200)
    for (const depth of [40, 1_000]) assert.ok([400, 422].includes(await statusOf({ filter: nested(depth) })))
    assert.equal(await statusOf({ geometry: ringOf(900) }), 200)
    assert.equal(await statusOf({ geometry: ringOf(1_000) }), 422)
    const { body } = await post(insider, PASSES, { ...SEARCH, limit: 1_000_000 })
    assert.ok(body.features.length <= 100)
    for (const query of ['limit=-1', 'limit=1e9x', 'next=10001', 'next=1e3'])
      assert.equal((await get(insider, `/stapi/orders?${query}`)).status, 422, query)
    assert.equal((await get(insider, '/stapi/orders')).body.features.length, 1, 'nothing was placed')
  })
})
