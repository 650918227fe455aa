// Goal: from an empty data folder, over HTTP only, a new user signs up, pays, searches, buys and views imagery, as in the guide.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openLab, until } from '../support/service.ts'

const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [2.3, 48.2],
      [2.31, 48.2],
      [2.31, 48.21],
      [2.3, 48.21],
      [2.3, 48.2],
    ],
  ],
}
const DELIVERY_MS = 1_200_000

test('buying imagery, from sign-up to tiles', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX_DELIVERY_SECONDS: '1' } })
  let token = ''
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
      body: JSON.stringify(body),
    })
    // oxlint-disable-next-line typescript/no-explicit-any
    const answer = (await response.json()) as any
    assert.ok(response.ok, `${path}: ${response.status} ${JSON.stringify(answer)}\n${service.output()}`)
    return answer
  }
  const call = (id: string, input: object = {}, headers: Record<string, string> = {}) => post(`/v1/op/${id}`, input, headers)

  const signedUp = await post('/auth/sign-up', { email: 'ada@example.com', password: 'a long enough password', name: 'Ada' })
  token = signedUp.access_token
  const organization = await call('organizations.create', { name: 'Ada Surveys' })
  const refreshed = await post('/auth/refresh', { refresh_token: signedUp.refresh_token, organization_id: organization.id })
  token = refreshed.access_token
  const project = await call('projects.create', { name: 'Fields' })
  await call('payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  const topup = await call('billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'topup-1' })
  assert.equal(topup.status, 'succeeded')

  const search = await call('catalog.search', {
    host_name: 'sandbox-hr',
    intersects: AREA,
    query: { cloudCoverage: { LTE: 30 } },
    limit: 5,
  })
  const scene = search.features[0]
  assert.ok(scene.properties.creditsPerSqKm > 0)
  const captures = [{ id: scene.id, geometry: AREA, host: 'sandbox-hr' }]
  const estimate = await call('orders.archive.estimate', { captures })
  const order = await call(
    'orders.archive.place',
    { projectId: project.id, captures, displayName: 'First scene', maxCredits: estimate.total_credits },
    { 'idempotency-key': 'order-1' },
  )
  assert.equal(order.totalCredits, estimate.total_credits)

  const placedAt = performance.now()
  const done = await until(
    'the delivery',
    async () => {
      const now = await call('orders.get', { id: order.id })
      return ['fulfilled', 'failed', 'cancelled'].includes(now.status) && now
    },
    DELIVERY_MS,
  )
  t.diagnostic(`delivered after ${((performance.now() - placedAt) / 1000).toFixed(1)} s (two steps of a second each; wall time)`)
  assert.equal(done.status, 'fulfilled', JSON.stringify(done))
  const [itemId] = done.itemIds

  const { tiles, bounds } = await call('items.tile.tilejson', { item_id: itemId })
  const [x, y, z] = tileAt([(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2], 14)
  const address = tiles[0].replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y))
  const tile = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(tile.status, 200)
  assert.match(tile.headers.get('content-type')!, /^image\//)
  assert.ok((await tile.arrayBuffer()).byteLength > 500, 'it shows something')

  const graph = await call('provenance.get', { entity_type: 'item', entity_id: itemId, direction: 'up', max_depth: 5 })
  assert.deepEqual(
    graph.edges.map(({ relation, dst_id }: { relation: string; dst_id: string }) => [relation, dst_id]),
    [
      ['delivered_for', order.id],
      ['ordered', project.id],
    ],
  )
  const { transactions } = await call('billing.credits.transactions')
  assert.deepEqual(transactions.map(({ type, credits }: { type: string; credits: number }) => [type, credits]).toReversed(), [
    ['topup', 10_000],
    ['reservation', -order.totalCredits],
    ['capture', -order.totalCredits],
  ])

  await t.test('the guide names each step', () => {
    const guide = readFileSync('docs/guides/buying.md', 'utf8')
    for (const name of [
      '/auth/sign-up',
      'organizations.create',
      'payment_methods.attach',
      'billing.topup',
      'catalog.search',
      'orders.archive.estimate',
      'orders.archive.place',
      'orders.get',
      'items.tile.tilejson',
      'provenance.get',
      'billing.credits.transactions',
    ])
      assert.ok(guide.includes(name), name)
  })
})

function tileAt([longitude, latitude]: [number, number], z: number): [number, number, number] {
  const turn = (latitude * Math.PI) / 180
  const y = (1 - Math.log(Math.tan(turn) + 1 / Math.cos(turn)) / Math.PI) / 2
  return [Math.floor(((longitude + 180) / 360) * 2 ** z), Math.floor(y * 2 ** z), z]
}
