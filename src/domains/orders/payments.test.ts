import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import settleReservation from '#domains/billing/settle-reservation.task.ts'
import sweepPayments from '#domains/billing/sweep-payments.task.ts'
import { balance, features, grant, placeArchive, scenes, square, step, until, work } from '../../../test/orders/support.ts'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { processorViolations } from '../../../test/money/invariants.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import poll from './poll.task.ts'

const attach = (w: World, org: Org, card: string) => w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: card })
const get = (w: World, org: Org, id: string) => w.ok(org.owner.token, 'orders.get', { id })
const attempts = async (w: World, org: Org) =>
  (await w.db.selectFrom('payment_attempt').select('status').where('org_id', '=', org.id).orderBy('created_at').execute()).map(
    ({ status }) => status,
  )
const captured = async (w: World, org: Org) =>
  (
    await w.db
      .selectFrom('payment_attempt')
      .select('captured_cents')
      .where('org_id', '=', org.id)
      .where('status', '=', 'captured')
      .execute()
  ).map((row) => row.captured_cents)

// Goal: with every payment method, an order is placed once and charged once, if and only if it is delivered.
test('an order paid by card', async (t) => {
  const w = await world(t, { vendors: true })

  await t.test('no card or a declined card: 402, and nothing is left behind', async () => {
    const org = await w.organization()
    const none = await placeArchive(w, org)
    assert.deepEqual([none.status, none.body.title], [402, 'Payment Method Required'])
    await attach(w, org, 'pm_card_visa_chargeDeclined')
    const declined = await placeArchive(w, org)
    assert.deepEqual([declined.status, declined.body.title], [402, 'Card Declined'])
    assert.equal((await w.ok(org.owner.token, 'orders.list')).totalElements, 0)
  })

  await t.test('3-D Secure: 402, confirmed, repeated with the same key: one order, captured on delivery', async () => {
    const org = await w.organization()
    await attach(w, org, 'pm_card_authenticationRequired')
    const key = newId()
    const required = await placeArchive(w, org, {}, key)
    assert.deepEqual([required.status, required.body.title, required.body.requires_action], [402, 'Authentication Required', true])
    const { status } = await w.post('/sandbox/payments/confirm', { client_secret: required.body.client_secret })
    assert.equal(status, 200)
    const placed = await placeArchive(w, org, {}, key)
    assert.deepEqual([placed.status, placed.body.billingMode], [200, 'card'], placed.bytes.toString())
    assert.equal((await placeArchive(w, org, {}, key)).body.id, placed.body.id)
    assert.equal((await w.ok(org.owner.token, 'orders.list')).totalElements, 1)
    assert.deepEqual(await attempts(w, org), ['held'])
    await work(w, [placed.body.id])
    await w.drain(settleReservation)
    assert.equal((await get(w, org, placed.body.id)).capturedCredits, placed.body.totalCredits)
    assert.deepEqual(await captured(w, org), [placed.body.totalCredits])
  })

  await t.test('cancelled: the hold is voided', async () => {
    const org = await w.organization()
    await attach(w, org, 'pm_card_visa')
    const { body } = await placeArchive(w, org)
    await w.ok(org.owner.token, 'orders.cancel', { id: body.id })
    await w.drain(settleReservation)
    assert.deepEqual(await attempts(w, org), ['voided'])
  })

  await t.test('a hold is renewed after six days and captured on delivery; one that cannot be renewed fails the order', async () => {
    const org = await w.organization()
    await attach(w, org, 'pm_card_visa')
    const first = (await placeArchive(w, org)).body
    const second = (await placeArchive(w, org)).body
    const third = (await placeArchive(w, org)).body
    w.clock.advance({ days: 6, hours: 1 })
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    await w.runTask(sweepPayments)
    assert.equal((await attempts(w, org)).filter((status) => status === 'held').length, 3, 'three new holds stand for the three old ones')
    await w.ok(org.owner.token, 'orders.cancel', { id: second.id })
    await step(w, [third.id])
    w.clock.advance({ minutes: 11 }) // This long after its last change, it is polled every ten minutes.
    await work(w, [third.id])
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    await w.drain(settleReservation)
    assert.deepEqual(await captured(w, org), [third.totalCredits], 'the new hold is what is captured')
    await attach(w, org, 'pm_card_visa_chargeDeclined')
    const cards = await w.ok(org.owner.token, 'payment_methods.list')
    const declining = (cards.payment_methods ?? cards).find(({ is_default }: { is_default: boolean }) => !is_default)
    if (declining) await w.ok(org.owner.token, 'payment_methods.set_default', { payment_method_row_id: declining.id })
    w.clock.advance({ days: 6, hours: 1 })
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    await w.runTask(sweepPayments)
    await w.runTask(poll, { order_id: first.id })
    const failed = await get(w, org, first.id)
    assert.equal(failed.status, 'failed')
    assert.match(failed.failureReason, /card hold was lost/)
    w.clock.advance({ hours: 1 })
    await w.drain(settleReservation)
    await w.runTask(sweepPayments)
    assert.deepEqual(await processorViolations(w.db), [])
  })
  assert.deepEqual(await orderViolations(w.db), [])
})

// Goal: if real cards are charged, simulated imagery can only be bought with credits, however it is ordered.
test('a simulated vendor never charges a real card', async (t) => {
  const sandbox = await world(t, { vendors: true })
  const w = await world(t, { vendors: true, databaseUrl: sandbox.databaseUrl, payments: { isLive: true } })
  const org = await w.organization()
  await attach(w, org, 'pm_card_visa')
  const { token } = org.owner
  const group = {
    dataProduct: 'sandbox-vhr-quoted',
    featureCollection: features(square(2.3, 48.2, 0.005)),
    params: { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' },
  }
  const refused = ({ status, body }: { status: number; body: { detail: string } }) => {
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(body.detail, /simulated.*real card/)
  }
  const tasking = { projectId: org.projectId, groups: [group] }

  await t.test('neither by card nor on account', async () => {
    const [scene] = await scenes(w)
    const generic = { workspaceId: org.projectId, dataProduct: 'sandbox-hr-archive', params: { id: scene!.id } }
    for (const mode of ['enterprise', 'standard']) {
      await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: mode })
      refused(await placeArchive(w, org))
      refused(await w.call(token, 'orders.tasking.place', tasking))
      refused(await w.call(token, 'orders.place', { ...generic, featureCollection: features(square()) }))
    }
    assert.equal((await w.ok(token, 'orders.list')).totalElements, 0)
    assert.deepEqual(await attempts(w, org), [], 'the card was never charged')
  })

  await t.test('a tasking order from the sandbox is not charged to a real card either', async () => {
    const placed = await sandbox.ok(token, 'orders.tasking.place', tasking)
    await work(sandbox, [placed.id], until('quotation_ready'))
    const { content } = await w.ok(token, 'orders.tasking.quotations.list', { orderId: placed.id })
    refused(await w.call(token, 'orders.tasking.quotation_decide', { quotation_id: content[0].id, decision: 'ACCEPTED' }))
    assert.equal((await get(w, org, placed.id)).status, 'pending')
    assert.deepEqual(await attempts(w, org), [])
    await w.ok(token, 'orders.cancel', { id: placed.id })
  })

  await t.test('with credits it can be bought, and is marked as simulated', async () => {
    await grant(w, org, 100_000)
    const { status, body } = await placeArchive(w, org)
    assert.deepEqual([status, body.billingMode, body.simulated], [200, 'credit', true])
    await w.ok(token, 'orders.cancel', { id: body.id })
  })
})

test('orders on account, and orders above a spend limit', async (t) => {
  const w = await world(t, { vendors: true })

  const accrued = async (org: Org) => {
    const { accrued_aud, provisional_aud } = await w.ok(await w.serviceToken(), 'billing.enterprise.accrual', { organization_id: org.id })
    return { final: accrued_aud, provisional: provisional_aud }
  }
  const onAccount = async () => {
    const org = await w.organization()
    await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
    return org
  }

  await t.test('an archive order on account accrues when it is placed; cancelled, it is reversed', async () => {
    const org = await onAccount()
    const placed = (await placeArchive(w, org)).body
    assert.equal(placed.accrual, 'provisional')
    assert.deepEqual(await accrued(org), { final: 0, provisional: placed.totalAud })
    await w.ok(org.owner.token, 'orders.cancel', { id: placed.id })
    assert.equal((await get(w, org, placed.id)).accrual, 'final')
    assert.deepEqual(await accrued(org), { final: 0, provisional: 0 })
  })

  await t.test('tasking on account accrues with each acceptance, and ends at what was delivered', async () => {
    const org = await onAccount()
    const { token } = org.owner
    const group = (south: number) => ({
      dataProduct: 'sandbox-vhr-quoted',
      featureCollection: features(square(2.3, south, 0.005)),
      params: { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' },
    })
    const input = { projectId: org.projectId, groups: [group(48.2), group(48.3)] }
    const placed = await w.ok(token, 'orders.tasking.place', input, { 'idempotency-key': newId() })
    const { id } = placed
    const staff = await w.serviceToken()
    const accept = async (group_id: string, credits: number) => {
      const quotation = await w.ok(staff, 'orders.tasking.quotation_issue', { order_id: id, group_id, credits })
      await w.ok(token, 'orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
    }
    assert.deepEqual([await accrued(org), placed.accrual], [{ final: 0, provisional: 0 }, null], 'nothing is agreed on yet')
    await accept(placed.groups[0].id, 300)
    assert.deepEqual([await accrued(org), (await get(w, org, id)).accrual], [{ final: 0, provisional: 3 }, 'provisional'])
    await accept(placed.groups[1].id, 500)
    assert.deepEqual(await accrued(org), { final: 0, provisional: 8 })
    const move = (nth: number, more: object) => w.ok(staff, 'orders.advance', { order_id: id, group_id: placed.groups[nth].id, ...more })
    assert.equal((await move(0, { to: 'failed', reason: 'Clouds' })).accrual, 'provisional')
    assert.deepEqual(await accrued(org), { final: 0, provisional: 8 }, 'corrected when the order ends')
    const item = await w.ok(token, 'items.create', {
      project_id: org.projectId,
      type: 'satellite_capture',
      name: 'South',
      assets: [{ key: 'data', href: 'https://data.example/a.tif' }],
    })
    const ended = await move(1, { to: 'fulfilled', item_ids: [item.id] })
    assert.deepEqual([ended.status, ended.accrual, ended.capturedCredits], ['fulfilled', 'final', 500])
    assert.deepEqual(await accrued(org), { final: 5, provisional: 0 })
  })

  await t.test('on account: a commitment drawn down on delivery, on the statement of its month', async () => {
    const org = await w.organization()
    const staff = await w.serviceToken()
    await w.ok(staff, 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
    const list = (await placeArchive(w, org, { maxCredits: 0 })).body.required_credits as number
    await w.ok(staff, 'organizations.commitments.put', {
      organization_id: org.id,
      name: 'Fields',
      products: ['sandbox-hr-archive'],
      period_start: '2030-01-01',
      period_end: '2030-12-31',
      minimum_aud: 1_000,
      minimum_km2: null,
      rates: [{ product: 'sandbox-hr-archive', credits_per_km2: null, discount_percent: 20 }],
    })
    const placed = (await placeArchive(w, org)).body
    assert.deepEqual([placed.billingMode, placed.totalCredits], ['enterprise', Math.ceil((list * 80) / 100)], 'at the contracted rate')
    await work(w, [placed.id])
    const { commitments } = await w.ok(org.owner.token, 'organizations.commitments.list')
    assert.equal(commitments[0].delivered_to_date, placed.totalCredits / 100)
    w.clock.advance({ days: 35 })
    Object.assign(org.owner, await w.signIn(org.owner, org.id))
    await w.ok(await w.serviceToken(), 'billing.run_monthly_for_org', { organization_id: org.id, period: '2030-01' })
    const statement = await w.ok(org.owner.token, 'organizations.commitments.statement', { organization_id: org.id, period: '2030-01' })
    assert.equal(statement.subtotal_aud, placed.totalCredits / 100)
  })

  await t.test('above a spend limit: 403 and nothing reserved; approved by another user, it runs as the member', async () => {
    const org = await w.organization()
    await grant(w, org, 100_000)
    const member = await w.member(org, 'editor')
    await w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
      organizationId: org.id,
      userId: member.id,
      perOrderLimitCredits: 1,
      spendLimitCredits: null,
    })
    const before = await balance(w, org)
    const refused = await placeArchive(w, org, {}, newId(), member.token)
    assert.deepEqual([refused.status, refused.body.title], [403, 'Spend limit exceeded'])
    assert.deepEqual(await balance(w, org), before)
    const input = {
      projectId: org.projectId,
      captures: [{ id: (await scenes(w))[0]!.id, geometry: square(), host: 'sandbox-hr' }],
      displayName: 'Approved',
    }
    const { id } = await w.ok(member.token, 'billing.approvals.request', { operation: 'orders.archive.place', input, reason: 'flood' })
    assert.equal(
      (await w.call(member.token, 'billing.approvals.approve', { approval_id: id })).status,
      403,
      'members cannot approve their own',
    )
    const approved = await w.ok(org.owner.token, 'billing.approvals.approve', { approval_id: id }, { 'idempotency-key': newId() })
    assert.deepEqual([approved.status, approved.result.displayName, approved.result.createdBy], ['used', 'Approved', member.id])
    assert.equal((await get(w, org, approved.result.id)).status, 'processing')
    const [available, reserved] = await balance(w, org)
    assert.deepEqual([available + reserved, reserved], [before[0], approved.result.totalCredits])
    await w.ok(org.owner.token, 'orders.cancel', { id: approved.result.id })
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
