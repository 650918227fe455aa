import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, eventsOf, features, grant, placeArchive, scenes, square, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { world } from '../../../test/support/world.ts'

// Goal: the estimate is reserved, the delivery is charged, and the imagery is in the project with its lineage.
test('an archive order', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 100_000)
  const [first, second] = await scenes(w)
  const capture = (id: string) => ({ id, geometry: square(), host: 'sandbox-hr' })
  const estimate = (captures: object[], more: object = {}) => w.ok(org.owner.token, 'orders.archive.estimate', { captures, ...more })
  let placed: { id: string; totalCredits: number; groups: { id: string }[] }

  await t.test('the estimate groups by host and, on request, by day', async () => {
    const together = await estimate([capture(first!.id), capture(second!.id)])
    assert.equal(together.groups.length, 1)
    assert.ok(Math.abs(together.groups[0].aoi_km2 - 0.8272) < 0.001, 'one area, although two scenes show it')
    assert.equal(together.total_credits, together.groups[0].credits)
    assert.equal(together.total_aud, together.total_credits / 100)
    const apart = await estimate([capture(first!.id), capture(second!.id)], { splitByDate: true })
    assert.equal(apart.groups.length, 2)
    const separate = await estimate([capture(first!.id), capture(second!.id)], { separately: true })
    assert.deepEqual(
      separate.groups.map(({ captures, aoi_km2, billed_km2 }: { captures: { id: string }[]; aoi_km2: number; billed_km2: number }) => [
        captures.map(({ id }) => id),
        aoi_km2 < 1,
        billed_km2,
      ]),
      [
        [[first!.id], true, 1],
        [[second!.id], true, 1],
      ],
      'each alone, and at least the minimum of 1 km²',
    )
    for (const [index, { id }] of [first!, second!].entries())
      assert.equal(separate.groups[index].credits, (await estimate([capture(id)])).total_credits)
    const unnamed = await estimate([{ id: first!.id, geometry: square() }])
    assert.equal(unnamed.groups[0].host, 'sandbox-hr', 'the host is found by the scene')
  })

  await t.test('captures without a price are errors of the estimate, and cannot be ordered', async () => {
    const captures = [
      capture(first!.id),
      capture('no-such-scene'),
      { ...capture(first!.id), host: 'sandbox-open' },
      { ...capture('x'), host: 'nowhere' },
    ]
    const { groups, errors } = await estimate(captures)
    assert.equal(groups.length, 1)
    assert.deepEqual(
      errors.map(({ index, host }: { index: number; host: string }) => [index, host]),
      [
        [1, 'sandbox-hr'],
        [2, 'sandbox-open'],
        [3, 'nowhere'],
      ],
    )
    const before = await balance(w, org)
    const refused = await placeArchive(w, org, { captures })
    assert.equal(refused.status, 422)
    assert.deepEqual(
      refused.body.errors.map(({ field }: { field: string }) => field),
      ['captures.1', 'captures.2', 'captures.3'],
    )
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('credits are reserved with the order, once per idempotency key', async () => {
    const { total_credits } = await estimate([capture(first!.id)])
    const key = newId()
    const response = await placeArchive(w, org, { displayName: 'Fields', tags: ['a', 'b'] }, key)
    assert.equal(response.status, 200, response.bytes.toString())
    placed = response.body
    assert.deepEqual(
      [response.body.status, response.body.orderType, response.body.billingMode, response.body.currency, response.body.simulated],
      ['processing', 'archive', 'credit', 'AUD', true],
    )
    assert.equal(response.body.totalCredits, total_credits)
    assert.deepEqual(await balance(w, org), [100_000 - total_credits, total_credits])
    const again = await placeArchive(w, org, { displayName: 'Fields', tags: ['a', 'b'] }, key)
    assert.equal(again.bytes.toString(), response.bytes.toString())
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await placeArchive(w, org, { displayName: 'Other' }, key)).status, 409)
    assert.equal((await w.ok(org.owner.token, 'orders.list')).totalElements, 1)
  })

  await t.test('a delivery creates an item with a file, tiles, lineage and events, and captures the credits', async () => {
    await work(w, [placed.id])
    const done = await w.ok(org.owner.token, 'orders.get', { id: placed.id })
    assert.deepEqual(
      done.history.map(({ status }: { status: string }) => status),
      ['processing', 'awaiting_data', 'fulfilled'],
      JSON.stringify(done),
    )
    assert.equal(done.capturedCredits, placed.totalCredits)
    assert.equal(done.groups[0].status, 'delivered')
    assert.deepEqual(await balance(w, org), [100_000 - placed.totalCredits, 0])
    assert.deepEqual(await eventsOf(w, placed.id), ['order.created', 'order.placed', 'order.being_fulfilled', 'order.fulfilled'])
    const [itemId] = done.itemIds
    const { item } = await w.ok(org.owner.token, 'items.get', { item_id: itemId })
    assert.deepEqual(
      [item.type, item.order_id, item.name, item.datetime],
      ['satellite_capture', placed.id, 'Fields', new Date(first!.datetime).toISOString()],
    )
    const [asset] = await w.ok(org.owner.token, 'orders.list_assets', { order_id: placed.id })
    assert.deepEqual([asset.item_id, asset.key, asset.band_names.length], [itemId, 'data', 8])
    const graph = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: itemId, direction: 'up', max_depth: 5 })
    assert.deepEqual(
      graph.edges.map(({ relation, dst_type }: { relation: string; dst_type: string }) => [relation, dst_type]),
      [
        ['delivered_for', 'order'],
        ['ordered', 'project'],
      ],
    )
    const tile = await w.call(org.owner.token, 'items.tile.render', { item_id: itemId, z: 13, x: 4148, y: 2831, format: 'png' })
    assert.equal(tile.status, 200)
    assert.equal((await w.ok(org.owner.token, 'visualization.profiles.list', { item_id: itemId })).profiles?.length ?? 1, 1)
    const { covered, remainder } = await w.ok(org.owner.token, 'orders.coverage.get', { order_id: placed.id })
    assert.ok(
      covered.percentage > 95 && Math.abs(covered.percentage + remainder.percentage - 100) < 0.1,
      JSON.stringify(covered.percentage),
    )
    const groups = await w.ok(org.owner.token, 'orders.coverage.groups.list', { order_id: placed.id })
    assert.equal(groups.groups[0].groupId, placed.groups[0]!.id)
  })

  await t.test('rejected: API keys, viewers, strangers, and prices above maxCredits', async () => {
    const before = await balance(w, org)
    const key = await w.key(org.owner.token, ['read', 'write'])
    const byKey = await placeArchive(w, org, {}, newId(), key.key)
    assert.deepEqual([byKey.status, byKey.body.title], [403, 'User authorization required'])
    const generic = {
      workspaceId: org.projectId,
      dataProduct: 'sandbox-hr-archive',
      params: { id: first!.id },
      featureCollection: { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: square() }] },
    }
    assert.equal((await w.call(key.key, 'orders.place', generic)).body.title, 'User authorization required')
    const viewer = await w.member(org, 'viewer')
    assert.equal((await placeArchive(w, org, {}, newId(), viewer.token)).status, 403)
    const other = await w.organization()
    assert.equal((await placeArchive(w, org, {}, newId(), other.owner.token)).status, 404)
    const ceiling = await placeArchive(w, org, { maxCredits: 1 })
    assert.deepEqual([ceiling.status, ceiling.body.max_credits, ceiling.body.required_credits], [400, 1, placed.totalCredits])
    assert.equal((await placeArchive(w, org, { licenseType: 'stolen' })).status, 400)
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('tags are replaced, and lists are filtered', async () => {
    const tagged = await w.ok(org.owner.token, 'orders.update', { order_id: placed.id, tags: ['c', 'c'] })
    assert.deepEqual(tagged.tags, ['c'])
    const count = async (filter: object) => (await w.ok(org.owner.token, 'orders.list', filter)).totalElements
    assert.equal(await count({ tags: ['c'] }), 1)
    assert.equal(await count({ tags: 'a' }), 0)
    assert.equal(await count({ status: 'fulfilled,failed', type: 'ARCHIVE', displayName: 'fiel', dataProductIds: 'sandbox-hr-archive' }), 1)
    assert.equal(await count({ projectId: newId() }), 0)
    assert.equal((await w.call(org.owner.token, 'orders.list', { status: 'lost' })).status, 422)
    assert.equal((await w.call(org.owner.token, 'orders.list', { sort: 'price' })).status, 422)
  })

  await t.test('an order by product name is priced, placed and cancelled like any other', async () => {
    const input = { dataProduct: 'sandbox-hr-archive', params: { id: first!.id }, featureCollection: features(square()) }
    const estimate = await w.ok(org.owner.token, 'orders.estimate', input)
    assert.deepEqual([estimate.summary.totalCredits, estimate.errors], [placed.totalCredits, []])
    assert.equal((await w.call(org.owner.token, 'orders.estimate', { ...input, params: {} })).status, 422)
    assert.equal((await w.call(org.owner.token, 'orders.estimate', { ...input, dataProduct: 'nothing' })).status, 404)
    const ordered = await w.ok(org.owner.token, 'orders.place', { workspaceId: org.projectId, ...input })
    assert.deepEqual([ordered.orderType, ordered.totalCredits], ['archive', placed.totalCredits])
    await w.ok(org.owner.token, 'orders.cancel', { id: ordered.id })
  })

  await t.test('a licensed product requires acceptance of its licence', async () => {
    const input = {
      workspaceId: org.projectId,
      dataProduct: 'sandbox-hr-analytic',
      params: { id: first!.id },
      featureCollection: { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: square() }] },
    }
    const refused = await w.call(org.owner.token, 'orders.place', input)
    assert.deepEqual([refused.status, refused.body.title], [403, 'Licence acceptance required'])
    assert.ok(refused.body.document_id)
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
