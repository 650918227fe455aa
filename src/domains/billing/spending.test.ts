import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { moneyViolations, processorViolations } from '../../../test/money/invariants.ts'
import { buy, end } from '../../../test/money/shop.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import refundCard from './refund-card.task.ts'
import settleReservation from './settle-reservation.task.ts'
import sweepPayments from './sweep-payments.task.ts'

const grant = async (w: World, org: Org, credits: number) =>
  w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits, reason: 'for a test' })
const order = (w: World, token: string, input: object, key: string = newId()) =>
  w.call(token, 'orders.test_buy', input, { 'idempotency-key': key })
/** Retries with the same idempotency key, as a client does when the machine is too busy to respond in time. */
const orderAtLast = async (w: World, token: string, input: object) => {
  const key = newId()
  for (let nth = 1; ; nth++) {
    const response = await order(w, token, input, key)
    if (response.status !== 500 || nth === MAX_TRIES) return response
  }
}
const MAX_TRIES = 5
const finish = async (w: World, org: Org, id: string, how: string, credits?: number) =>
  (await w.ok(org.owner.token, 'orders.test_end', { id, how, ...(credits === undefined ? {} : { credits }) })).done as boolean
const wallet = async (w: World, org: Org) => {
  const { available_credits, reserved_credits } = await w.ok(org.owner.token, 'billing.credits.balance')
  return [available_credits, reserved_credits]
}
const eventCount = async (w: World, org: Org, type: string) =>
  (await w.db.selectFrom('event').select('id').where('org_id', '=', org.id).where('type', '=', type).execute()).length
const reservationOf = (w: World, id: string) => w.db.selectFrom('reservation').selectAll().where('reference_id', '=', id).executeTakeFirst()
const count = (statuses: number[], status: number) => statuses.filter((other) => other === status).length

// Goal: however many spend at once, the wallet is never overdrawn, and every reservation ends once.
test('spending credits', async (t) => {
  const w = await world(t, { operations: [buy, end] })
  const org = await w.organization()
  await grant(w, org, 5_000)

  await t.test('reserve, capture in part, release, refund', async () => {
    const { body } = await order(w, org.owner.token, { credits: 1_000 })
    assert.equal(body.mode, 'credit')
    assert.deepEqual(await wallet(w, org), [4_000, 1_000])
    assert.equal(await finish(w, org, body.id, 'capture', 600), true)
    assert.deepEqual(await wallet(w, org), [4_400, 0])
    assert.equal(await finish(w, org, body.id, 'release'), false, 'it has ended')
    assert.equal(await finish(w, org, body.id, 'refund', 601), false)
    assert.equal(await finish(w, org, body.id, 'refund', 200), true)
    assert.deepEqual(await wallet(w, org), [4_600, 0])
    const second = await order(w, org.owner.token, { credits: 500 })
    assert.equal(await finish(w, org, second.body.id, 'reprice', 900), true)
    assert.deepEqual(await wallet(w, org), [3_700, 900])
    assert.equal((await w.call(org.owner.token, 'orders.test_end', { id: second.body.id, how: 'reprice', credits: 90_000 })).status, 402)
    assert.equal(await finish(w, org, second.body.id, 'release'), true)
    assert.deepEqual(await wallet(w, org), [4_600, 0])
    const { transactions } = await w.ok(org.owner.token, 'billing.credits.transactions', {})
    assert.deepEqual(transactions.map((row: { type: string; credits: number }) => [row.type, row.credits]).toReversed(), [
      ['grant', 5_000],
      ['reservation', -1_000],
      ['capture', -600],
      ['release', 400],
      ['refund', 200],
      ['reservation', -500],
      ['reservation', -400],
      ['release', 900],
    ])
  })

  await t.test('insufficient credits: 402 with both numbers, and nothing is reserved', async () => {
    const { status, body } = await order(w, org.owner.token, { credits: 4_601 })
    assert.deepEqual([status, body.title, body.required_credits, body.available_credits], [402, 'Insufficient Credits', 4_601, 4_600])
    assert.equal((await order(w, org.owner.token, { credits: 100, fails: true })).status, 500, 'a call that fails later')
    assert.deepEqual(await wallet(w, org), [4_600, 0])
  })

  await t.test('a free order costs nothing and ends like any other', async () => {
    const { body } = await order(w, org.owner.token, { credits: 0 })
    assert.equal(await finish(w, org, body.id, 'capture'), true)
    assert.equal((await reservationOf(w, body.id))!.state, 'captured')
  })

  await t.test('200 concurrent orders of 10 credits from 1,000: exactly 100 succeed', async () => {
    const other = await w.organization()
    await grant(w, other, 1_000)
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => (await orderAtLast(w, other.owner.token, { credits: 10, isJob: true })).status),
    )
    assert.deepEqual([count(statuses, 200), count(statuses, 402)], [100, 100])
    assert.deepEqual(await wallet(w, other), [0, 1_000])
    assert.deepEqual(
      [await eventCount(w, other, 'credits.low_balance'), await eventCount(w, other, 'credits.depleted')],
      [1, 1],
      'one event per crossing',
    )
    await grant(w, other, 1_000)
    await order(w, other.owner.token, { credits: 1_000, isJob: true })
    assert.deepEqual([await eventCount(w, other, 'credits.low_balance'), await eventCount(w, other, 'credits.depleted')], [2, 2])
  })

  await t.test('a reservation not settled in time is released', async () => {
    const before = await wallet(w, org)
    const { body } = await order(w, org.owner.token, { credits: 300, isJob: true, deadlineSeconds: 60 })
    const staff = await w.serviceToken()
    assert.deepEqual(await w.ok(staff, 'billing.jobs.settle_unsettled', {}), { seen: 0, settled: 0, released: 0 })
    w.clock.advance({ minutes: 2 })
    assert.deepEqual(await w.ok(staff, 'billing.jobs.settle_unsettled', { organization_id: org.id }), { seen: 1, settled: 0, released: 1 })
    assert.equal((await reservationOf(w, body.id))!.state, 'released')
    assert.deepEqual(await wallet(w, org), before)
  })

  await t.test('operators: corrections and reconciliation', async () => {
    const staff = await w.serviceToken()
    const [available] = await wallet(w, org)
    assert.equal(
      (await w.call(staff, 'billing.credits.grant', { organization_id: org.id, credits: -(available! + 1), reason: 'x' })).status,
      400,
    )
    assert.equal((await w.call(staff, 'billing.credits.grant', { organization_id: org.id, credits: 0, reason: 'x' })).status, 422)
    assert.equal(
      (await w.call(staff, 'billing.credits.grant', { organization_id: org.id, credits: Number.MAX_SAFE_INTEGER, reason: 'x' })).status,
      400,
      'more than a wallet holds',
    )
    assert.equal((await w.call(staff, 'billing.credits.grant', { organization_id: newId(), credits: 5, reason: 'x' })).status, 404)
    await w.ok(staff, 'billing.credits.grant', { organization_id: org.id, credits: -100, reason: 'a mistake' })
    assert.deepEqual(await wallet(w, org), [available! - 100, 0])
    const report = await w.ok(staff, 'billing.reconciliation.run', { organization_id: org.id })
    assert.deepEqual([report.has_drift, report.available.drift_credits, report.reserved.drift_credits], [false, 0, 0])
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})

// Goal: a member's spend limits hold under concurrency; an approval allows one order; processing does not count.
test('spend caps and approvals', async (t) => {
  const w = await world(t, { operations: [buy, end] })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const member = await w.member(org)
  const cap = (perOrderLimitCredits: number | null, spendLimitCredits: number | null) =>
    w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
      organizationId: org.id,
      userId: member.id,
      perOrderLimitCredits,
      spendLimitCredits,
    })

  await t.test('per order', async () => {
    await cap(100, null)
    const { status, body } = await order(w, member.token, { credits: 101 })
    assert.deepEqual([status, body.title], [403, 'Spend limit exceeded'])
    assert.match(body.detail, /per_order_limit_credits/)
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => (await orderAtLast(w, member.token, { credits: nth % 2 ? 100 : 101 })).status),
    )
    assert.deepEqual([count(statuses, 200), count(statuses, 403)], [100, 100])
    assert.equal((await order(w, member.token, { credits: 5_000, isJob: true })).status, 200, 'processing does not count')
  })

  await t.test('30 days, 200 concurrent orders: exactly as many as fit, and released ones no longer count', async () => {
    await cap(null, 11_000) // 10,000 were spent above.
    const responses = await Promise.all(Array.from({ length: 200 }, () => orderAtLast(w, member.token, { credits: 10 })))
    assert.deepEqual(
      [
        count(
          responses.map(({ status }) => status),
          200,
        ),
        count(
          responses.map(({ status }) => status),
          403,
        ),
      ],
      [100, 100],
    )
    assert.match(responses.find(({ status }) => status === 403)!.body.detail, /spend_limit_credits/)
    const [first] = responses.filter(({ status }) => status === 200)
    assert.equal(await finish(w, org, first!.body.id, 'release'), true)
    assert.equal((await order(w, member.token, { credits: 11 })).status, 403)
    assert.equal((await order(w, member.token, { credits: 10 })).status, 200)
    const key = await w.key(member.token, ['write'])
    assert.equal((await order(w, key.key, { credits: 1 })).status, 403, "a key spends its owner's allowance")
    w.clock.advance({ days: 30 })
    Object.assign(member, await w.signIn(member))
    Object.assign(org.owner, await w.signIn(org.owner))
    assert.equal((await order(w, member.token, { credits: 11_000 })).status, 200, 'a month later the window is empty')
  })

  await t.test('an approval for an amount allows one order, once', async () => {
    await cap(50, null)
    const request = await w.ok(member.token, 'billing.approvals.request', { credits: 500, reason: 'flood' })
    assert.equal((await order(w, member.token, { credits: 400 })).status, 403)
    assert.equal((await w.call(member.token, 'billing.approvals.approve', { approval_id: request.id })).status, 403)
    const approved = await w.ok(org.owner.token, 'billing.approvals.approve', { approval_id: request.id })
    assert.deepEqual([approved.status, approved.decided_by, approved.result], ['approved', org.owner.id, null])
    assert.equal((await w.call(org.owner.token, 'billing.approvals.approve', { approval_id: request.id })).status, 400)
    assert.equal((await order(w, member.token, { credits: 501 })).status, 403)
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await order(w, member.token, { credits: 400 })).status))
    assert.deepEqual([count(statuses, 200), count(statuses, 403)], [1, 9])
    assert.equal((await w.ok(member.token, 'billing.approvals.get', { approval_id: request.id })).status, 'used')
  })

  await t.test('an approved order runs as its requester', async () => {
    const before = await wallet(w, org)
    const request = await w.ok(member.token, 'billing.approvals.request', {
      credits: 700,
      operation: 'orders.test_buy',
      input: { credits: 700 },
    })
    const done = await w.ok(org.owner.token, 'billing.approvals.approve', { approval_id: request.id })
    assert.equal(done.status, 'used')
    const reservation = (await reservationOf(w, done.result.id))!
    assert.deepEqual([reservation.user_id, reservation.credits, reservation.approval_id], [member.id, 700, request.id])
    assert.deepEqual(await wallet(w, org), [before[0]! - 700, before[1]! + 700])
    assert.equal((await order(w, member.token, { credits: 700 })).status, 403, 'and no other order is allowed')
    const tooMuch = await w.ok(member.token, 'billing.approvals.request', {
      credits: 90_000_000,
      operation: 'orders.test_buy',
      input: { credits: 90_000_000 },
    })
    assert.equal((await w.call(org.owner.token, 'billing.approvals.approve', { approval_id: tooMuch.id })).status, 402)
    assert.equal(
      (await w.ok(org.owner.token, 'billing.approvals.get', { approval_id: tooMuch.id })).status,
      'pending',
      'a failed approval can be retried',
    )
  })

  await t.test('requests: invalid ones, rejection, expiry, visibility', async () => {
    for (const bad of [
      {},
      { credits: 0 },
      { credits: -1 },
      { credits: 5, expiry_hours: 721 },
      { operation: 'orders.test_buy' },
      { credits: 5, operation: '' },
      { operation: 'projects.create', input: { name: 'x' } },
      { operation: 'orders.test_buy', input: { credits: -5 } },
      { operation: 'orders.test_buy', input: { credits: 5 } }, // Its price is not known, so the request must name an amount.
    ])
      assert.equal((await w.call(member.token, 'billing.approvals.request', bad)).status, 422, JSON.stringify(bad))
    const own = await w.ok(org.owner.token, 'billing.approvals.request', { credits: 5 })
    assert.equal(
      (await w.call(org.owner.token, 'billing.approvals.approve', { approval_id: own.id })).status,
      403,
      'nobody approves their own request',
    )
    assert.equal((await w.call(member.token, 'billing.approvals.get', { approval_id: own.id })).status, 403)
    const request = await w.ok(member.token, 'billing.approvals.request', { credits: 5, expiry_hours: 1 })
    const stranger = await w.organization()
    assert.equal((await w.call(stranger.owner.token, 'billing.approvals.approve', { approval_id: request.id })).status, 404)
    assert.equal((await w.ok(org.owner.token, 'billing.approvals.reject', { approval_id: request.id, reason: 'no' })).decision_reason, 'no')
    const late = await w.ok(member.token, 'billing.approvals.request', { credits: 5_000, expiry_hours: 1 })
    await w.ok(org.owner.token, 'billing.approvals.approve', { approval_id: late.id })
    w.clock.advance({ hours: 2 })
    for (const person of [member, org.owner]) Object.assign(person, await w.signIn(person))
    assert.equal((await order(w, member.token, { credits: 400 })).status, 403, 'it has expired')
    assert.deepEqual(
      (await w.ok(member.token, 'billing.approvals.list', { status: 'expired' })).approvals.map(({ id }: { id: string }) => id),
      [late.id],
    )
    assert.ok((await w.ok(org.owner.token, 'billing.approvals.list')).count > (await w.ok(member.token, 'billing.approvals.list')).count)
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})

// Goal: an organization without credits pays by card: held at placement, captured on delivery, released on failure, never left behind.
test('spending by card and by invoice', async (t) => {
  const w = await world(t, { operations: [buy, end] })
  const org = await w.organization()
  const attach = async (card: string) =>
    w.ok(org.owner.token, 'payment_methods.set_default', {
      payment_method_row_id: (await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: card })).id,
    })
  const settle = () => w.drain(settleReservation)
  const intents = async (status: string) =>
    (
      await sql<{ body: { status: string; amount_received: number; amount_refunded?: number } }>`
        select body from sandbox_payments.object where kind = 'payment_intent'
      `.execute(w.db)
    ).rows.filter(({ body }) => body.status === status)

  await t.test('a card is required, and its bank may require authentication', async () => {
    assert.equal((await order(w, org.owner.token, { credits: 500 })).body.title, 'Payment Method Required')
    await attach('pm_card_visa_chargeDeclined')
    assert.equal((await order(w, org.owner.token, { credits: 500 })).body.title, 'Card Declined')
    await attach('pm_card_authenticationRequired')
    const key = newId()
    const { status, body } = await order(w, org.owner.token, { credits: 500 }, key)
    assert.deepEqual([status, body.title], [402, 'Authentication Required'])
    await w.post('/sandbox/payments/confirm', { client_secret: body.client_secret })
    const placed = await order(w, org.owner.token, { credits: 500 }, key)
    assert.deepEqual([placed.status, placed.body.mode], [200, 'card'])
    assert.equal(await finish(w, org, placed.body.id, 'capture'), true)
    await settle()
    assert.equal((await reservationOf(w, placed.body.id))!.state, 'captured')
    await attach('pm_card_visa')
  })

  await t.test('captured in part on delivery, refunded, released on failure', async () => {
    const [first, second] = [await order(w, org.owner.token, { credits: 2_000 }), await order(w, org.owner.token, { credits: 3_000 })]
    assert.equal((await intents('requires_capture')).length, 2)
    assert.equal(await finish(w, org, first.body.id, 'capture', 1_500), true)
    assert.equal(await finish(w, org, second.body.id, 'release'), true)
    assert.equal(await settle(), 2)
    assert.deepEqual(
      [(await reservationOf(w, first.body.id))!.state, (await reservationOf(w, second.body.id))!.state],
      ['captured', 'released'],
    )
    assert.deepEqual(
      (await intents('succeeded')).map(({ body }) => body.amount_received).toSorted((a, b) => a - b),
      [500, 1_500],
    )
    assert.equal(await finish(w, org, first.body.id, 'refund', 400), true)
    await w.drain(refundCard)
    assert.ok((await intents('succeeded')).some(({ body }) => body.amount_refunded === 400))
    const third = await order(w, org.owner.token, { credits: 100 })
    assert.equal(await finish(w, org, third.body.id, 'reprice', 150), true)
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    assert.equal((await intents('requires_capture')).length, 1, 'the hold of the former price is released')
    assert.equal(await finish(w, org, third.body.id, 'release'), true)
    await settle()
  })

  await t.test('a hold whose order could not be stored is released', async () => {
    assert.equal((await order(w, org.owner.token, { credits: 700, fails: true })).status, 500)
    assert.equal((await intents('requires_capture')).length, 1)
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    assert.equal((await intents('requires_capture')).length, 0)
    assert.deepEqual(await processorViolations(w.db), [])
  })

  await t.test('spend limits are checked before the card', async () => {
    const member = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
      organizationId: org.id,
      userId: member.id,
      perOrderLimitCredits: 100,
      spendLimitCredits: null,
    })
    const before = (await w.db.selectFrom('payment_attempt').select('id').execute()).length
    assert.equal((await order(w, member.token, { credits: 101 })).status, 403)
    assert.equal((await w.db.selectFrom('payment_attempt').select('id').execute()).length, before, 'no hold was requested')
  })

  await t.test('holds are renewed before they expire; a decline then ends the reservation', async () => {
    const { body } = await order(w, org.owner.token, { credits: 900 })
    w.clock.advance({ days: 6, minutes: 1 })
    await w.runTask(sweepPayments)
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    assert.equal((await intents('requires_capture')).length, 1, 'one hold, a new one')
    assert.equal((await reservationOf(w, body.id))!.state, 'live')
    Object.assign(org.owner, await w.signIn(org.owner))
    await attach('pm_card_visa_chargeDeclined')
    w.clock.advance({ days: 6, minutes: 1 })
    await w.runTask(sweepPayments)
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    const lost = (await reservationOf(w, body.id))!
    assert.deepEqual([lost.state, lost.failure], ['released', 'card_declined'])
    assert.equal((await intents('requires_capture')).length, 0)
  })

  await t.test('enterprise: nothing is held, deliveries accrue', async () => {
    Object.assign(org.owner, await w.signIn(org.owner))
    const staff = await w.serviceToken()
    await w.ok(staff, 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
    const [first, second] = [await order(w, org.owner.token, { credits: 12_000 }), await order(w, org.owner.token, { credits: 5_000 })]
    assert.equal(first.body.mode, 'enterprise')
    await finish(w, org, first.body.id, 'capture')
    await finish(w, org, second.body.id, 'release')
    const accrued = await w.ok(staff, 'billing.enterprise.accrual', { organization_id: org.id })
    assert.deepEqual([accrued.accrued_aud, accrued.uninvoiced_aud, accrued.entries.length], [120, 120, 1])
    const marked = await w.ok(staff, 'billing.enterprise.mark_invoiced', {
      organization_id: org.id,
      reference: 'INV-1',
      period: accrued.period,
    })
    assert.deepEqual([marked.marked, marked.marked_aud], [1, 120])
    assert.equal(
      (await w.ok(staff, 'billing.enterprise.mark_invoiced', { organization_id: org.id, reference: 'INV-2', period: accrued.period }))
        .marked,
      0,
      'once',
    )
    assert.equal((await w.ok(staff, 'billing.enterprise.accrual', { organization_id: org.id })).uninvoiced_aud, 0)
    await w.ok(staff, 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'standard' })
    assert.equal((await w.ok(org.owner.token, 'organizations.get')).billing_mode, 'card')
  })
  assert.deepEqual([...(await moneyViolations(w.db)), ...(await processorViolations(w.db))], [])
})
