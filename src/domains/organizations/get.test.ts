import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: the organization that the caller acts for, and only that one.
test('organizations.get', async (t) => {
  const w = await world(t)
  const org = await w.organization('Coastal')
  const member = await w.member(org)
  const { key } = await w.key(org.owner.token)
  for (const credential of [org.owner.token, member.token, key]) {
    const got = await w.ok(credential, 'organizations.get')
    assert.deepEqual(
      [got.id, got.name, got.plan, got.billing_mode, got.enterprise_billing_status, got.created_at],
      [org.id, 'Coastal', 'free', 'card', 'none', '2030-01-01T00:00:00.000Z'],
    )
  }
  const confirmed = async () => (await w.ok(member.token, 'organizations.get')).enterprise_billing
  await w.db.updateTable('organization').set({ enterprise_status: 'confirmed' }).where('id', '=', org.id).execute()
  assert.equal(await confirmed(), true)
  const { status, body } = await w.call((await w.person()).token, 'organizations.get')
  assert.deepEqual([status, body.code], [403, 'organization-required'])
})
