import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import { world } from '../support/world.ts'

// Goal: access is checked before an idempotency key is looked up, so that nobody reads another caller's stored response.
test('row 35: replay before role checks', async (t) => {
  const w = await world(t)

  await t.test('every idempotent operation checks access before its key is looked up', () => {
    const without = [...operations.values()].filter((op) => op.idempotent && !op.permit).map((op) => op.id)
    assert.deepEqual(without, [])
  })

  await t.test('a member with the owner’s key and body gets nothing', async () => {
    const org = await w.organization()
    const member = await w.member(org, 'editor')
    await saveCard(org.owner.token)
    const key = { 'idempotency-key': 'the-owners-key' }
    const paid = await w.call(org.owner.token, 'billing.topup', { aud_cents: 10_000 }, key)
    assert.equal(paid.status, 200, paid.bytes.toString())
    const stolen = await w.call(member.token, 'billing.topup', { aud_cents: 10_000 }, key)
    assert.equal(stolen.status, 403)
    assert.ok(!stolen.bytes.toString().includes(paid.body.topup_attempt_id))
    assert.equal(stolen.headers.get('idempotent-replayed'), null)
    const again = await w.call(org.owner.token, 'billing.topup', { aud_cents: 10_000 }, key)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(again.body, paid.body)
  })

  await t.test('a 403 does not use the key: the owner can use it with another body', async () => {
    const org = await w.organization()
    const member = await w.member(org, 'editor')
    await saveCard(org.owner.token)
    const key = { 'idempotency-key': 'burnt-or-not' }
    assert.equal((await w.call(member.token, 'billing.topup', { aud_cents: 20_000 }, key)).status, 403)
    const paid = await w.call(org.owner.token, 'billing.topup', { aud_cents: 10_000 }, key)
    assert.equal(paid.status, 200, paid.bytes.toString())
  })

  async function saveCard(token: string): Promise<void> {
    const { client_secret } = await w.ok(token, 'payment_methods.create_setup_intent')
    const { body } = await w.post('/sandbox/payments/confirm', { client_secret })
    await w.ok(token, 'payment_methods.attach', { payment_method_id: body.payment_method })
  }
})
