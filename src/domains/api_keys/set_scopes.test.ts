import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: only operators can give a key scopes beyond its permissions; they apply from the next call, and are listed.
test('api_keys.set_scopes', async (t) => {
  const w = await world(t, { systemAdminEmails: ['staff@example.com'] })
  const org = await w.organization()
  const staff = await w.person('staff@example.com')
  const { id, key } = await w.key(org.owner.token)

  const changed = await w.ok(staff.token, 'api_keys.set_scopes', { key_id: id, scopes: ['projects:write', 'clip:read', 'clip:read'] })
  assert.deepEqual(changed.explicit_scopes, ['projects:write', 'clip:read'])
  assert.equal((await w.call(key, 'projects.create', { name: 'by explicit scope' })).status, 200)
  assert.deepEqual((await w.ok(org.owner.token, 'api_keys.list'))[0].explicit_scopes, ['projects:write', 'clip:read'])

  await t.test('the call is in the audit log of the organization that owns the key', async () => {
    const { entries } = await w.ok(org.owner.token, 'organizations.audit.list', { operation: 'api_keys.set_scopes' })
    assert.deepEqual(
      entries.map((entry: { user_id: string }) => entry.user_id),
      [staff.id],
    )
  })
  await t.test('replaces, and clears with an empty list', async () => {
    const cleared = await w.ok(staff.token, 'api_keys.set_scopes', { key_id: id, scopes: [] })
    assert.equal('explicit_scopes' in cleared, false)
    assert.equal((await w.call(key, 'projects.create', { name: 'x' })).status, 403)
  })
  await t.test('a revoked key is 404', async () => {
    await w.ok(org.owner.token, 'api_keys.revoke', { key_id: id })
    assert.equal((await w.call(staff.token, 'api_keys.set_scopes', { key_id: id, scopes: [] })).status, 404)
  })
})
