import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import sweepPayments from './sweep-payments.task.ts'
import { signNotice } from '../../../sandbox/payments/server.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const attach = async (w: World, org: Org, card: string) => {
  const saved = await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: card })
  return await w.ok(org.owner.token, 'payment_methods.set_default', { payment_method_row_id: saved.id })
}
const topup = (w: World, org: Org, input: object, key: string = newId(), token = org.owner.token) =>
  w.call(token, 'billing.topup', input, { 'idempotency-key': key })
const balance = async (w: World, org: Org) => (await w.ok(org.owner.token, 'billing.credits.balance')).balance_credits as number

// Goal: however the processor delays or repeats responses and webhooks, a successful payment has one grant, and a failed one has none.
test('a processor that times out and repeats itself', async (t) => {
  let hang: ((path: string) => boolean) | null = null
  const held: (() => void)[] = []
  const beforeAnswer = async (_method: string, path: string) => {
    if (hang?.(path))
      await new Promise<void>((resolve) => {
        held.push(resolve)
      })
  }
  const w = await world(t, { payments: { beforeAnswer, manualNotices: true, timeoutMs: 4_000 } })
  t.after(() => {
    for (const release of held) release()
  })
  const org = await w.organization()
  await attach(w, org, 'pm_card_visa')
  const grants = async () =>
    (await w.db.selectFrom('ledger_transfer').select('payment_intent_id').where('type', '=', 'topup').execute()).length
  const notices = async () => (await sql<{ body: string }>`select body from sandbox_payments.notice`.execute(w.db)).rows
  const notify = (body: string, secret = w.webhookSecret, at = Math.floor(Date.now() / 1000)) =>
    w.request('POST', '/webhooks/payments', { headers: { 'stripe-signature': signNotice(body, secret, at) }, body })

  await t.test('it charges but never responds: 502; the retry finds the payment', async () => {
    hang = (path) => path.endsWith('/confirm')
    const key = newId()
    const lost = await topup(w, org, { aud_cents: 15_000 }, key)
    assert.deepEqual([lost.status, lost.body.code], [502, 'payment-processor-outage'])
    assert.equal(await grants(), 0)
    hang = null
    const repeated = await topup(w, org, { aud_cents: 15_000 }, key)
    assert.deepEqual([repeated.status, repeated.body.status, repeated.body.credits_granted], [200, 'succeeded', 15_000])
    assert.equal(await grants(), 1)
  })

  await t.test('without a retry, the sweep finds the payment', async () => {
    hang = (path) => path.endsWith('/confirm')
    assert.equal((await topup(w, org, { aud_cents: 16_000 })).status, 502)
    hang = null
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    assert.equal(await grants(), 2)
    await w.runTask(sweepPayments)
    assert.equal(await grants(), 2)
    assert.equal(await balance(w, org), 31_000)
  })

  await t.test('webhooks: repeated, late, reordered, before our commit, forged', async () => {
    hang = (path) => path.endsWith('/confirm')
    const key = newId()
    const pending = topup(w, org, { aud_cents: 17_000 }, key)
    await pending
    const bodies = (await notices()).map(({ body }) => body).toReversed()
    for (const body of bodies) assert.equal((await notify(body)).status, 200, 'the webhook arrives before our commit')
    assert.equal(await grants(), 3)
    await Promise.all(bodies.flatMap((body) => [notify(body), notify(body)]))
    hang = null
    assert.equal((await topup(w, org, { aud_cents: 17_000 }, key)).body.credits_granted, 17_000, 'our commit comes last')
    for (const body of bodies) await notify(body)
    assert.equal(await grants(), 3)
    assert.equal(await balance(w, org), 48_000)
    const last = bodies[0]!
    for (const forged of [
      await notify(last, 'whsec_other'),
      await notify(last, w.webhookSecret, Math.floor(Date.now() / 1000) - 3_600),
      await w.request('POST', '/webhooks/payments', { body: last }),
      await w.request('POST', '/webhooks/payments'),
    ])
      assert.equal(forged.status, 400)
    assert.equal(
      (
        await notify(
          JSON.stringify({
            id: 'evt_x',
            object: 'event',
            type: 'payment_intent.succeeded',
            data: { object: { id: 'pi_unknown', object: 'payment_intent' } },
          }),
        )
      ).status,
      200,
      'an unknown payment is ignored',
    )
  })

  await t.test('an outage before the charge leaves nothing open', async () => {
    hang = () => true
    assert.equal((await topup(w, org, { aud_cents: 18_000 })).status, 502)
    hang = null
    w.clock.advance({ minutes: 6 })
    await w.runTask(sweepPayments)
    const open = await w.db
      .selectFrom('payment_attempt')
      .select('status')
      .where('status', 'in', ['created', 'pending', 'authorized'])
      .execute()
    assert.deepEqual(open, [])
    assert.equal(await grants(), 3)
  })
})
