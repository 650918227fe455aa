import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const attach = async (w: World, org: Org, card: string) => {
  const saved = await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: card })
  return await w.ok(org.owner.token, 'payment_methods.set_default', { payment_method_row_id: saved.id })
}
const topup = (w: World, org: Org, input: object, key: string = newId(), token = org.owner.token) =>
  w.call(token, 'billing.topup', input, { 'idempotency-key': key })
const balance = async (w: World, org: Org) => (await w.ok(org.owner.token, 'billing.credits.balance')).balance_credits as number
const eventsOf = async (w: World, org: Org) =>
  await w.db
    .selectFrom('event')
    .select(['type', 'data'])
    .where('org_id', '=', org.id)
    .where('type', 'in', ['topup.succeeded', 'topup.failed', 'credits.purchased', 'payment_method.attached', 'payment_method.detached'])
    .orderBy('seq')
    .execute()

// Goal: a payment becomes credits exactly once, with the bonus at its exact threshold; rejections say what to change and charge nothing.
test('billing.topup', async (t) => {
  const w = await world(t)
  const org = await w.organization()

  await t.test('without a card', async () => {
    const { status, body } = await topup(w, org, { aud_cents: 10_000 })
    assert.deepEqual([status, body.title, body.code], [402, 'Payment Method Required', 'payment-method-required'])
  })

  await t.test('adding a card: set up, confirm, attach, make it the default', async () => {
    const intent = await w.ok(org.owner.token, 'payment_methods.create_setup_intent')
    assert.match(intent.setup_intent_id, /^seti_/)
    assert.equal(intent.env, 'sandbox')
    const confirmed = await w.post('/sandbox/payments/confirm', { client_secret: intent.client_secret })
    assert.deepEqual([confirmed.status, confirmed.body.status], [200, 'succeeded'])
    const card = await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: confirmed.body.payment_method })
    assert.deepEqual([card.brand, card.last4, card.is_default, card.isDefault], ['visa', '4242', true, true])
    assert.deepEqual(
      await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: confirmed.body.payment_method }),
      card,
      'attaching it again returns the same card',
    )
    assert.equal((await w.ok(org.owner.token, 'payment_methods.list')).count, 1)
    const other = await w.organization()
    assert.equal(
      (await w.call(other.owner.token, 'payment_methods.attach', { payment_method_id: confirmed.body.payment_method })).status,
      404,
      "another organization's card",
    )
    assert.equal((await w.call(other.owner.token, 'payment_methods.detach', { payment_method_row_id: card.id })).status, 404)
    assert.equal((await w.call(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_nothing' })).status, 404)
    assert.equal((await w.post('/sandbox/payments/confirm', { client_secret: 'pi_x_secret_y' })).status, 404)
  })

  await t.test('input: exactly one of two amounts, whole, within bounds', async () => {
    const before = await balance(w, org)
    for (const bad of [
      {},
      { aud_cents: 10_000, credits: 10_000 },
      { aud_cents: 9_999 },
      { credits: 9_999 },
      { aud_cents: -10_000 },
      { aud_cents: 10_000.5 },
      { aud_cents: 2 ** 53 },
      { credits: 2 ** 60 },
      { credits: 100_000_000 },
      { aud_cents: null },
      { aud_cents: '10000' },
      { aud_cents: true },
    ]) {
      const { status, body } = await topup(w, org, bad)
      assert.equal(status, 422, JSON.stringify(bad))
      assert.ok(body.errors.length > 0)
    }
    for (const text of ['{"aud_cents":NaN}', '{"aud_cents":1e400}', '{"aud_cents":Infinity}']) {
      const { status } = await w.request('POST', '/v1/op/billing.topup', {
        headers: { authorization: `Bearer ${org.owner.token}`, 'content-type': 'application/json' },
        body: text,
      })
      assert.ok(status === 400 || status === 422, text)
    }
    assert.equal(await balance(w, org), before)
  })

  await t.test('the bonus starts strictly above A$20,000, on the whole amount, rounded down', async () => {
    const rich = await w.organization()
    await attach(w, rich, 'pm_card_visa')
    let expected = 0
    for (const [input, bonus] of [
      [{ aud_cents: 10_000 }, 0],
      [{ aud_cents: 2_000_000 }, 0],
      [{ aud_cents: 2_000_001 }, 100_000],
      [{ credits: 2_000_019 }, 100_000],
      [{ credits: 2_000_020 }, 100_001],
      [{ credits: 99_999_999 }, 4_999_999],
    ] as const) {
      const sum = 'aud_cents' in input ? input.aud_cents : input.credits
      const { status, body } = await topup(w, rich, input)
      expected += sum + bonus
      assert.equal(status, 200)
      assert.deepEqual([body.status, body.credits_granted, body.bonus_credits, body.new_balance], ['succeeded', sum, bonus, expected])
      assert.match(body.payment_intent_id, /^pi_/)
    }
    assert.equal(await balance(w, rich), expected)
    const { transactions, total } = await w.ok(rich.owner.token, 'billing.credits.transactions', { limit: 100 })
    assert.equal(total, 10)
    assert.equal(
      transactions.reduce((sum: number, row: { credits: number }) => sum + row.credits, 0),
      expected,
    )
    assert.equal(transactions[0].balance_after, expected)
    assert.equal((await w.ok(rich.owner.token, 'billing.credits.transactions', { reason: 'bonus' })).total, 4)
    assert.equal((await w.ok(rich.owner.token, 'organizations.get')).billing_mode, 'credit')
    const events = await eventsOf(w, rich)
    assert.equal(events.filter(({ type }) => type === 'topup.succeeded').length, 6)
    assert.equal(events.filter(({ type }) => type === 'credits.purchased').length, 6)
  })

  await t.test('a retry with the same idempotency key is the same payment; another body is a conflict', async () => {
    const before = await balance(w, org)
    const key = newId()
    const responses = await Promise.all(Array.from({ length: 8 }, () => topup(w, org, { aud_cents: 12_345 }, key)))
    assert.equal(new Set(responses.map(({ bytes }) => bytes.toString())).size, 1)
    assert.equal(responses[0]!.body.credits_granted, 12_345)
    assert.equal((await topup(w, org, { aud_cents: 12_346 }, key)).status, 409)
    assert.equal(await balance(w, org), before + 12_345)
    w.clock.advance({ hours: 25 })
    const later = { ...org, owner: await w.signIn(org.owner) }
    Object.assign(org, later)
    assert.equal((await topup(w, org, { aud_cents: 12_345 }, key)).status, 200, 'a day later the key is free for another payment')
    assert.equal(await balance(w, org), before + 2 * 12_345)
  })

  await t.test('a declined card, then another card with the same key', async () => {
    const before = await balance(w, org)
    await attach(w, org, 'pm_card_visa_chargeDeclined')
    const key = newId()
    const { status, body } = await topup(w, org, { credits: 10_000 }, key)
    assert.deepEqual([status, body.title, body.decline_code], [402, 'Card Declined', 'generic_decline'])
    assert.equal((await topup(w, org, { credits: 10_000 }, key)).status, 402)
    assert.equal(await balance(w, org), before)
    assert.equal((await eventsOf(w, org)).filter(({ type }) => type === 'topup.failed').length, 2)
    await attach(w, org, 'pm_card_mastercard')
    assert.equal((await topup(w, org, { credits: 10_000 }, key)).status, 200)
    assert.equal(await balance(w, org), before + 10_000)
  })

  await t.test('3-D Secure: 402 with a secret, then the same key succeeds', async () => {
    const before = await balance(w, org)
    await attach(w, org, 'pm_card_authenticationRequired')
    const key = newId()
    const first = await topup(w, org, { aud_cents: 20_000 }, key)
    assert.deepEqual([first.status, first.body.title, first.body.requires_action], [402, 'Authentication Required', true])
    assert.match(first.body.client_secret, /^pi_.*_secret_/)
    const again = await topup(w, org, { aud_cents: 20_000 }, key)
    assert.equal(again.body.client_secret, first.body.client_secret, 'the same payment waits')
    assert.equal(await balance(w, org), before)
    assert.equal((await w.post('/sandbox/payments/confirm', { client_secret: first.body.client_secret })).status, 200)
    const done = await topup(w, org, { aud_cents: 20_000 }, key)
    assert.deepEqual([done.status, done.body.status, done.body.credits_granted], [200, 'succeeded', 20_000])
    assert.equal(await balance(w, org), before + 20_000)
    assert.equal((await topup(w, org, { aud_cents: 20_000 }, key)).headers.get('idempotent-replayed'), 'true')
  })

  await t.test('only owners, admins and the billing admin can top up', async () => {
    const member = await w.member(org)
    assert.equal((await topup(w, org, { aud_cents: 10_000 }, newId(), member.token)).status, 403)
    assert.equal((await w.call(member.token, 'payment_methods.create_setup_intent')).status, 403)
    await w.db.updateTable('organization').set({ billing_admin_id: member.id }).where('id', '=', org.id).execute()
    await attach(w, org, 'pm_card_visa')
    assert.equal((await topup(w, org, { aud_cents: 10_000 }, newId(), member.token)).status, 200)
  })

  await t.test('removing a card', async () => {
    const [first] = (await w.ok(org.owner.token, 'payment_methods.list')).payment_methods.filter(
      (card: { is_default: boolean }) => card.is_default,
    )
    await w.ok(org.owner.token, 'billing.set_auto_topup', { enabled: true, threshold_credits: 1, topup_amount_credits: 10_000 })
    const refused = await w.call(org.owner.token, 'payment_methods.detach', { payment_method_row_id: first.id })
    assert.equal(refused.status, 400)
    await w.ok(org.owner.token, 'billing.set_auto_topup', { enabled: false, threshold_credits: 1, topup_amount_credits: 10_000 })
    const removed = await w.ok(org.owner.token, 'payment_methods.detach', { payment_method_row_id: first.id })
    assert.deepEqual([removed.ok, removed.id, removed.is_default], [true, first.id, false])
    assert.equal((await w.call(org.owner.token, 'payment_methods.detach', { payment_method_row_id: first.id })).status, 404)
    assert.equal((await topup(w, org, { aud_cents: 10_000 })).status, 402)
    assert.equal(
      (await w.call(org.owner.token, 'billing.set_auto_topup', { enabled: true, threshold_credits: 1, topup_amount_credits: 10_000 })).body
        .title,
      'Payment Method Required',
    )
    assert.deepEqual((await eventsOf(w, org)).at(-1)!.type, 'payment_method.detached')
  })
})

// Goal: without a payment processor, operations that need one return 503, and the others work.
test('PAYMENTS=none', async (t) => {
  const w = await world(t, { payments: null })
  const org = await w.organization()
  for (const [id, input] of [
    ['billing.topup', { aud_cents: 10_000 }],
    ['payment_methods.create_setup_intent', {}],
    ['payment_methods.attach', { payment_method_id: 'pm_card_visa' }],
    ['billing.stripe_invoices.list', {}],
    ['billing.set_auto_topup', { enabled: true, threshold_credits: 1, topup_amount_credits: 10_000 }],
  ] as const) {
    const { status, body } = await w.call(org.owner.token, id, input)
    assert.deepEqual([status, body.code], [503, 'billing-not-configured'], id)
  }
  assert.equal((await w.request('POST', '/webhooks/payments', { body: '{}' })).status, 503)
  assert.equal((await w.request('POST', '/sandbox/payments/confirm')).status, 404)
  for (const id of [
    'billing.credits.balance',
    'billing.credits.transactions',
    'payment_methods.list',
    'billing.invoices.list',
    'billing.auto_topup.get',
  ])
    assert.equal((await w.call(org.owner.token, id)).status, 200, id)
})
