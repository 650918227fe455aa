import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { balance, features, grant, scenes, square } from '../orders/support.ts'
import { orderViolations } from '../orders/invariants.ts'
import { world } from '../support/world.ts'

// Goal: an approval spends at most the amount it names, and the approver sees the price of the call it describes.
test('row 45: the amount of an approval is a ceiling', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const owner = org.owner.token
  const member = await w.member(org, 'editor')
  await w.ok(owner, 'organizations.members.set_spend_limit', { organizationId: org.id, userId: member.id, perOrderLimitCredits: 1 })
  const [scene] = await scenes(w)
  const captures = [{ id: scene!.id, geometry: square(), host: 'sandbox-hr' }]
  const input = { projectId: org.projectId, captures, displayName: 'Harbour' }
  const price = (await w.ok(member.token, 'orders.archive.estimate', { captures })).total_credits as number
  assert.ok(price > 1)
  const request = (more: object = {}, operation = 'orders.archive.place', described: object = input) =>
    w.ok(member.token, 'billing.approvals.request', { operation, input: described, ...more })
  const approve = (id: string, token = owner) =>
    w.call(token, 'billing.approvals.approve', { approval_id: id }, { 'idempotency-key': newId() })
  const orderCount = async () => (await w.ok(owner, 'orders.list')).totalElements as number

  await t.test('one credit for an order that costs more: 409, and nothing is reserved or placed', async () => {
    const before = await balance(w, org)
    const asked = await request({ credits: 1 })
    assert.deepEqual([asked.credits, asked.price_credits], [1, price])
    const { status, body } = await approve(asked.id)
    assert.deepEqual([status, body.code, body.required_credits, body.approved_credits], [409, 'approval-exceeded', price, 1])
    assert.deepEqual(await balance(w, org), before)
    assert.equal(await orderCount(), 0)
    assert.equal((await w.ok(owner, 'billing.approvals.get', { approval_id: asked.id })).status, 'pending')
  })

  await t.test('the same for tasking, quoted and generic orders', async () => {
    const params = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
    const featureCollection = features(square(2.3, 48.2, 0.005))
    const described: [string, object][] = [
      ['orders.tasking.place', { projectId: org.projectId, groups: [{ dataProduct: 'sandbox-vhr-quoted', featureCollection, params }] }],
      ['orders.place', { workspaceId: org.projectId, dataProduct: 'sandbox-vhr-quoted', featureCollection, params }],
      [
        'orders.place',
        { workspaceId: org.projectId, dataProduct: 'sandbox-hr-archive', featureCollection: features(square()), params: { id: scene!.id } },
      ],
    ]
    for (const [operation, of] of described) {
      const asked = await request({ credits: 1 }, operation, of)
      assert.ok(asked.price_credits > 1, operation)
      assert.equal((await approve(asked.id)).status, 409, operation)
    }
    assert.equal(await orderCount(), 0)
  })

  await t.test('the approver sees the price in the record, in the list and in the notification', async () => {
    const { approvals } = await w.ok(owner, 'billing.approvals.list', { status: 'pending' })
    assert.ok(approvals.every((approval: { price_credits: number }) => approval.price_credits > 1))
    const told = (await w.ok(owner, 'notifications.list')).filter(({ kind }: { kind: string }) => kind === 'approval')
    assert.ok(told.every(({ title }: { title: string }) => title.endsWith('requests approval for 1 credit')))
    const shown = new RegExp(`orders.archive.place, which costs ${price} credits.*allows up to 1 credit\\.`)
    assert.equal(told.filter(({ body }: { body: string }) => shown.test(body)).length, 1)
  })

  await t.test('the full price is executed once, within the approved amount', async () => {
    const [available] = await balance(w, org)
    const asked = await request({ credits: price })
    const { status, body } = await approve(asked.id)
    assert.deepEqual([status, body.status, body.result.totalCredits], [200, 'used', price], JSON.stringify(body))
    assert.deepEqual(await balance(w, org), [available - price, price])
  })

  await t.test('without an amount, the price that was shown is the ceiling', async () => {
    const staff = await w.serviceToken()
    const contract = (discount_percent: number, more: object = {}) =>
      w.ok(staff, 'organizations.commitments.put', {
        organization_id: org.id,
        name: 'Discount',
        products: ['sandbox-hr-archive'],
        period_start: '2029-12-01',
        period_end: '2030-12-31',
        minimum_aud: 100,
        rates: [{ product: 'sandbox-hr-archive', credits_per_km2: null, discount_percent }],
        ...more,
      })
    const { id } = await contract(50)
    const asked = await request()
    assert.deepEqual([asked.credits, asked.price_credits], [null, Math.ceil(price / 2)])
    await contract(1, { commitment_id: id })
    const before = await balance(w, org)
    assert.equal((await approve(asked.id)).status, 409)
    assert.deepEqual(await balance(w, org), before)
  })

  await t.test('an operation without a price cannot be requested', async () => {
    const unknown = { ...input, captures: [{ ...captures[0]!, id: 'no-such-scene' }] }
    const { status } = await w.call(member.token, 'billing.approvals.request', { operation: 'orders.archive.place', input: unknown })
    assert.equal(status, 400)
  })

  await t.test('only a signed-in user approves', async () => {
    const asked = await request({ credits: 1_000_000 })
    const key = await w.key(owner, ['write'])
    for (const token of [key.key, await w.serviceToken(org.id)]) assert.equal((await approve(asked.id, token)).status, 403)
    assert.equal((await w.ok(owner, 'billing.approvals.get', { approval_id: asked.id })).status, 'pending')
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
