import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: whoever founds an organization owns it, and acts for it after the next refresh or sign-in.
test('organizations.create', async (t) => {
  const w = await world(t)
  const person = await w.person()
  const profile = {
    description: 'd',
    website: 'https://x.example',
    industry: 'i',
    size: '1-10',
    country: 'AU',
    abn: '1',
    tax_number: '2',
    billing_email: 'b@x.example',
    billing_admin_id: person.id,
    billing_address: { lines: ['1 Road'], city: 'Perth' },
  }

  await t.test('keeps the profile, and asking for enterprise billing is only asking', async () => {
    const made = await w.ok(person.token, 'organizations.create', { name: 'Küste & Söhne', ...profile, enterprise_billing: true })
    for (const [field, value] of Object.entries(profile)) assert.deepEqual(made[field], value, field)
    assert.match(made.slug, /^ku-ste-so-hne-[0-9a-f]{6}$/)
    assert.deepEqual([made.plan, made.enterprise_billing, made.enterprise_billing_status], ['free', false, 'requested'])
    const refreshed = (await w.post('/auth/refresh', { refresh_token: person.refreshToken })).body
    assert.equal(refreshed.organization_id, made.id)
    assert.equal((await w.ok(refreshed.access_token, 'organizations.get')).id, made.id)
    const me = (await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${refreshed.access_token}` } })).body
    const unlimited = { spend_limit_credits: null, per_order_limit_credits: null, spent_30d_credits: 0 }
    assert.deepEqual(me.organizations, [{ id: made.id, name: 'Küste & Söhne', role: 'owner', ...unlimited }])
  })

  await t.test('names need not be unique, and one person may found several', async () => {
    const two = [
      await w.ok(person.token, 'organizations.create', { name: 'Same' }),
      await w.ok(person.token, 'organizations.create', { name: 'Same' }),
    ]
    assert.notEqual(two[0].slug, two[1].slug)
    assert.equal((await w.signIn(person, two[1].id)).token.length > 0, true)
  })

  await t.test('refusals', async () => {
    for (const input of [
      {},
      { name: '' },
      { name: 'x'.repeat(201) },
      { name: 'x', billing_address: 'text' },
      { name: 'x', billing_admin_id: 'x' },
    ])
      assert.equal((await w.call(person.token, 'organizations.create', input)).status, 422, JSON.stringify(input))
    const { status, body } = await w.call(person.token, 'organizations.create', { name: 'x', billing_admin_id: newId() })
    assert.equal(status, 422)
    assert.equal(body.errors[0].field, 'billing_admin_id')
    const { status: service } = await w.call(await w.serviceToken(), 'organizations.create', { name: 'x' })
    assert.equal(service, 403, 'an owner is a person')
  })
})
