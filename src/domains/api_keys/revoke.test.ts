import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: a revoked key stops working immediately and permanently; members revoke their own keys, owners and admins any key.
test('api_keys.revoke', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org)

  await t.test('revokes the key immediately', async () => {
    const { id, key } = await w.key(org.owner.token)
    assert.equal((await w.call(key, 'projects.list')).status, 200)
    assert.deepEqual(await w.ok(org.owner.token, 'api_keys.revoke', { key_id: id }), { ok: true, id })
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    const row = await w.db.selectFrom('api_key').select(['is_active', 'revoked_at']).where('id', '=', id).executeTakeFirstOrThrow()
    assert.deepEqual(row, { is_active: false, revoked_at: w.clock.now() })
  })

  await t.test('a revoked, unknown or malformed id', async () => {
    const { id } = await w.key(org.owner.token)
    await w.ok(org.owner.token, 'api_keys.revoke', { key_id: id })
    for (const key_id of [id, newId()]) assert.equal((await w.call(org.owner.token, 'api_keys.revoke', { key_id })).status, 404)
    assert.equal((await w.call(org.owner.token, 'api_keys.revoke', { key_id: 'svc_x' })).status, 422)
  })

  await t.test('members revoke only their own keys, owners any key', async () => {
    const mine = await w.key(member.token)
    const owners = await w.key(org.owner.token)
    assert.equal((await w.call(member.token, 'api_keys.revoke', { key_id: owners.id })).status, 403)
    assert.equal((await w.call(owners.key, 'projects.list')).status, 200)
    assert.equal((await w.call(member.token, 'api_keys.revoke', { key_id: mine.id })).status, 200)
    const again = await w.key(member.token, ['write'])
    assert.equal((await w.call(again.key, 'api_keys.revoke', { key_id: again.id })).status, 200, 'a key can revoke itself')
    const last = await w.key(member.token)
    assert.equal((await w.call(org.owner.token, 'api_keys.revoke', { key_id: last.id })).status, 200)
  })

  await t.test('of twenty concurrent calls, one succeeds', async () => {
    const { id } = await w.key(org.owner.token)
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => w.call(org.owner.token, 'api_keys.revoke', { key_id: id })))).map(
      ({ status }) => status,
    )
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 404).length, 19)
  })
})
