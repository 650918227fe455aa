import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { buy, end } from '../../../test/money/shop.ts'
import { moneyViolations, processorViolations } from '../../../test/money/invariants.ts'
import { world, type Org } from '../../../test/support/world.ts'
import autoTopup from './auto-topup.task.ts'

// Goal: the card is charged automatically when the balance falls below the threshold: once per crossing, one attempt at a time,
// never above the daily cap.
test('automatic top-up', async (t) => {
  const w = await world(t, { operations: [buy, end] })
  const funded = async (credits: number): Promise<Org> => {
    const org = await w.organization()
    await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits, reason: 'for a test' })
    return org
  }
  const set = (org: Org, settings: object) =>
    w.call(org.owner.token, 'billing.set_auto_topup', {
      enabled: true,
      threshold_credits: 1_000,
      topup_amount_credits: 10_000,
      ...settings,
    })
  const spend = (org: Org, credits: number) => w.ok(org.owner.token, 'orders.test_buy', { credits }, { 'idempotency-key': newId() })
  const available = async (org: Org) => (await w.ok(org.owner.token, 'billing.credits.balance')).available_credits as number
  const eventsOf = async (org: Org, type: string) =>
    await w.db.selectFrom('event').select('data').where('org_id', '=', org.id).where('type', '=', type).execute()

  await t.test('settings are validated and returned', async () => {
    const org = await funded(2_000)
    for (const bad of [
      { topup_amount_credits: 9_999 },
      { threshold_credits: 0 },
      { topup_amount_credits: 100_000_000 },
      { daily_charge_cap_aud: 0 },
      { daily_charge_cap_aud: -5 },
      { daily_charge_cap_aud: 1.005 },
      { daily_charge_cap_aud: 1e300 },
      { threshold_credits: 2 ** 53 },
    ])
      assert.equal((await set(org, bad)).status, 422, JSON.stringify(bad))
    const { body } = await set(org, { daily_charge_cap_aud: 250.5 })
    assert.deepEqual(body, { enabled: true, threshold_credits: 1_000, topup_amount_credits: 10_000, daily_charge_cap_aud: 250.5 })
    assert.deepEqual(await w.ok(org.owner.token, 'billing.auto_topup.get'), { ...body, charged_today_aud: 0, last_attempt_at: null })
    assert.equal(
      (
        await w.call((await w.member(org)).token, 'billing.set_auto_topup', {
          enabled: false,
          threshold_credits: 1,
          topup_amount_credits: 10_000,
        })
      ).status,
      403,
    )
    await set(org, { enabled: false })
  })

  await t.test('a crossing charges once, however many purchases cross it', async () => {
    const org = await funded(1_500)
    await set(org, {})
    assert.equal(await w.drain(autoTopup), 0, 'nothing is due yet')
    await Promise.all(Array.from({ length: 10 }, () => spend(org, 100)))
    assert.ok((await w.drain(autoTopup)) >= 1)
    assert.equal(await available(org), 10_500)
    await w.runTask(autoTopup)
    assert.equal(await available(org), 10_500)
    assert.deepEqual(
      (await eventsOf(org, 'topup.succeeded')).map(({ data }) => (data as { automatic: boolean }).automatic),
      [true],
    )
    assert.equal((await eventsOf(org, 'credits.low_balance')).length, 1)
    const { charged_today_aud, last_attempt_at } = await w.ok(org.owner.token, 'billing.auto_topup.get')
    assert.deepEqual([charged_today_aud, last_attempt_at], [100, w.clock.now().toISOString()])
    await set(org, { enabled: false })
  })

  await t.test(
    'many concurrent workers: never above the daily cap, never twice within ten minutes; the next day starts again',
    async () => {
      const org = await funded(500)
      await set(org, { threshold_credits: 1_000_000, daily_charge_cap_aud: 350 })
      const charged = async () =>
        (await w.db.selectFrom('payment_attempt').select('id').where('org_id', '=', org.id).where('status', '=', 'succeeded').execute())
          .length
      const rush = () => Promise.all(Array.from({ length: 200 }, () => w.runTask(autoTopup, { organization_id: org.id })))
      await rush()
      assert.equal(await charged(), 1)
      for (let nth = 0; nth < 5; nth++) {
        w.clock.advance({ minutes: 10 })
        await w.runTask(autoTopup)
      }
      assert.equal(await charged(), 3, 'A$300 of A$350: a fourth would be above')
      w.clock.advance({ hours: 24 })
      await rush()
      assert.equal(await charged(), 4)
      Object.assign(org.owner, await w.signIn(org.owner))
      await set(org, { enabled: false })
    },
  )

  await t.test('a failed charge emits an event, and is retried after the pause', async () => {
    const org = await funded(500)
    const bad = await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_authenticationRequired' })
    await w.ok(org.owner.token, 'payment_methods.set_default', { payment_method_row_id: bad.id })
    await set(org, {})
    await w.drain(autoTopup)
    assert.equal(await available(org), 500)
    assert.deepEqual(
      (await eventsOf(org, 'topup.failed')).map(({ data }) => (data as { reason: string }).reason),
      ['authentication_required'],
    )
    await w.runTask(autoTopup)
    assert.equal((await eventsOf(org, 'topup.failed')).length, 1)
    w.clock.advance({ minutes: 10 })
    await w.runTask(autoTopup)
    assert.equal((await eventsOf(org, 'topup.failed')).length, 2)
    assert.equal((await w.ok(org.owner.token, 'billing.auto_topup.get')).charged_today_aud, 0)
  })
  assert.deepEqual([...(await moneyViolations(w.db)), ...(await processorViolations(w.db))], [])
})
