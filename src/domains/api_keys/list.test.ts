import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: every member sees all keys of the organization with their usage, newest first, including revoked ones, never the secret.
test('api_keys.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const first = await w.key(org.owner.token)
  w.clock.advance({ seconds: 1 })
  const second = await w.key(org.owner.token, ['write'])
  await w.ok(org.owner.token, 'api_keys.revoke', { key_id: first.id })
  const member = await w.member(org)

  const listed = await w.ok(member.token, 'api_keys.list')
  assert.deepEqual(
    listed.map((key: { id: string }) => key.id),
    [second.id, first.id],
  )
  assert.deepEqual(
    listed.map((key: { is_active: boolean }) => key.is_active),
    [true, false],
  )
  assert.deepEqual(
    listed.map((key: { rate_limit: number }) => key.rate_limit),
    [10_000, 10_000],
    'a key without a limit of its own has its organization’s',
  )
  assert.ok(!JSON.stringify(listed).includes(second.key) && listed.every((key: object) => !('key' in key) && !('explicit_scopes' in key)))

  await t.test('usage is counted without a write for every call', async () => {
    for (let calls = 0; calls < 3; calls++) await w.call(second.key, 'projects.list')
    await w.call(second.key, 'projects.list', { unknown: 1 })
    await w.flushAudit()
    const [key] = await w.ok(org.owner.token, 'api_keys.list')
    assert.equal(key.total_requests, 4, 'failed calls count too')
    assert.equal(key.last_used_at, w.clock.now().toISOString())
  })
})
