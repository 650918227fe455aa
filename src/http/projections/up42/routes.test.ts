import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, features, grant, scenes, square, until, work } from '../../../../test/orders/support.ts'
import { world } from '../../../../test/support/world.ts'

const WINDOW = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }

// Goal: UP42's requests work and get UP42's responses, through the same operations, with the same keys and problems.
test('/v2', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    w.request(method, path, {
      headers: { authorization: `Bearer ${org.owner.token}`, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const [scene] = await scenes(w)
  const archive = {
    dataProduct: 'sandbox-hr-archive',
    displayName: 'From elsewhere',
    params: { id: scene!.id },
    featureCollection: features(square()),
    tags: ['x'],
  }
  const tasking = {
    dataProduct: 'sandbox-vhr-quoted',
    displayName: 'New',
    params: WINDOW,
    featureCollection: features(square(2.3, 48.2, 0.005)),
  }

  await t.test('estimate, place, read, list and cancel', async () => {
    const estimate = await send('POST', '/v2/orders/estimate', archive)
    assert.equal(estimate.status, 200, estimate.bytes.toString())
    assert.deepEqual(Object.keys(estimate.body.results[0]), ['index', 'credits', 'size', 'unit'])
    assert.deepEqual([estimate.body.summary.unit, estimate.body.errors], ['SQ_KM', []])
    const key = newId()
    const placed = await send('POST', `/v2/orders?workspaceId=${org.projectId}`, archive, { 'idempotency-key': key })
    assert.deepEqual([placed.status, placed.body.errors, placed.body.results[0].index], [200, [], 0], placed.bytes.toString())
    const { id } = placed.body.results[0]
    assert.equal(
      (await send('POST', `/v2/orders?workspaceId=${org.projectId}`, archive, { 'idempotency-key': key })).body.results[0].id,
      id,
    )
    assert.equal((await balance(w, org))[1], estimate.body.summary.totalCredits, 'once')
    const read = await send('GET', `/v2/orders/${id}`)
    assert.deepEqual(
      [read.body.status, read.body.type, read.body.workspaceId, read.body.accountId, read.body.orderDetails.imageId],
      ['PLACED', 'ARCHIVE', org.projectId, org.id, scene!.id],
    )
    const list = await send('GET', '/v2/orders?status=PLACED&status=CREATED&type=ARCHIVE&tags=x&sort=createdAt,desc&page=0')
    assert.deepEqual([list.body.content.length, list.body.totalPages, list.body.content[0].status], [1, 1, 'PLACED'])
    assert.equal((await send('GET', '/v2/orders?status=FULFILLED')).body.totalElements, 0)
    assert.deepEqual((await send('POST', `/v2/orders/${id}/cancellation`)).body, { orderId: id, status: 'CANCELED' })
    assert.equal((await send('POST', `/v2/orders/${id}/cancellation`)).status, 400)
    assert.equal((await send('GET', `/v2/orders/${newId()}`)).status, 404)
    assert.equal((await w.request('GET', '/v2/orders')).status, 401)
    assert.equal((await send('GET', '/v2/nothing')).status, 404)
  })

  await t.test('tasking: studies and quotations are listed and decided by PATCH and by POST', async () => {
    const both = await Promise.all(
      [tasking, { ...tasking, dataProduct: 'sandbox-vhr-tasking' }].map((body) =>
        send('POST', '/v2/orders', { workspaceId: org.projectId, ...body }),
      ),
    )
    const [quoted, studied] = both.map(({ body }) => body.results[0].id as string) as [string, string]
    await work(w, [quoted], until('quotation_ready'))
    await work(w, [studied], until('feasibility_ready'))
    const order = (await send('GET', `/v2/orders/${quoted}`)).body
    assert.deepEqual([order.status, order.orderDetails.subStatus], ['CREATED', 'QUOTATION_WAITING_RESPONSE'])
    const states = 'subStatus=QUOTATION_WAITING_RESPONSE&subStatus=FEASIBILITY_WAITING_RESPONSE'
    assert.equal((await send('GET', `/v2/orders?${states}&sort=type,asc`)).body.totalElements, 2)
    const quotations = (await send('GET', '/v2/tasking/quotations?decision=NOT_DECIDED')).body
    assert.deepEqual((await send('GET', `/v2/tasking/quotation?orderId=${quoted}`)).body.content, quotations.content)
    const { id, creditsPrice } = quotations.content[0]
    const decided = await send('PATCH', `/v2/tasking/quotation/${id}`, { decision: 'ACCEPTED' })
    assert.deepEqual([decided.status, decided.body.decision, decided.body.accountId], [200, 'ACCEPTED', org.id])
    assert.equal((await balance(w, org))[1], creditsPrice)
    const study = (await send('GET', `/v2/tasking/feasibility-studies?orderId=${studied}`)).body.content[0]
    const accepted = await send('POST', `/v2/tasking/feasibility/${study.id}`, { acceptedOptionId: study.options[0].id })
    assert.deepEqual([accepted.status, accepted.body.decisionOption.id], [200, study.options[0].id])
    for (const orderId of [quoted, studied]) assert.equal((await send('POST', `/v2/orders/${orderId}/cancellation`)).status, 200)
  })

  await t.test('a tasking order with several groups, and satellite passes', async () => {
    const { dataProduct, params, featureCollection } = tasking
    const placed = await send('POST', '/v2/tasking/orders', {
      workspaceId: org.projectId,
      groups: [{ dataProduct, params, featureCollection }],
    })
    assert.equal(placed.status, 200, placed.bytes.toString())
    const query = new URLSearchParams({ dataProduct, ...WINDOW, featureCollection: JSON.stringify(featureCollection), size: '3' })
    const passes = await send('GET', `/v2/tasking/opportunities?${query}`)
    assert.equal(passes.body.content.length, 3)
    assert.equal((await send('GET', `/v2/tasking/opportunities?dataProduct=${dataProduct}&featureCollection=x`)).status, 422)
  })
})
