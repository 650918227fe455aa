import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import * as apiKeys from '#model/identity/api-key.ts'

// Goal: a key is created for the caller and their organization, works immediately, and its secret is returned once.
test('api_keys.create', async (t) => {
  const w = await world(t)
  const { owner, id: organizationId } = await w.organization()

  await t.test('returns a secret that works, and stores its hash and prefix', async () => {
    const apiKey = await w.ok(owner.token, 'api_keys.create', {
      name: 'Laptop',
      permissions: ['write', 'write', 'read'],
      rate_limit: 50,
      expires_in_days: 2,
    })
    assert.ok(apiKeys.isWellFormed(apiKey.key))
    assert.equal(apiKey.prefix, apiKey.key.slice(0, 12))
    assert.deepEqual(apiKey.permissions, ['write', 'read'], 'duplicates collapse')
    assert.equal(apiKey.expires_at, '2030-01-03T00:00:00.000Z')
    const row = await w.db.selectFrom('api_key').selectAll().where('id', '=', apiKey.id).executeTakeFirstOrThrow()
    assert.deepEqual([row.org_id, row.user_id, row.rate_limit_per_hour, row.explicit_scopes], [organizationId, owner.id, 50, []])
    assert.ok(row.secret_hash.equals(apiKeys.hashSecret(apiKey.key)))
    assert.equal((await w.call(apiKey.key, 'projects.create', { name: 'by key' })).status, 200)
  })

  await t.test('with only a name it can read, never expires and has the rate limit of the organization', async () => {
    const apiKey = await w.ok(owner.token, 'api_keys.create', { name: 'n' })
    assert.deepEqual([apiKey.permissions, apiKey.rate_limit, apiKey.expires_at], [['read'], 10_000, null])
    const nothing = await w.ok(owner.token, 'api_keys.create', { name: 'n', permissions: [], rate_limit: null, expires_in_days: null })
    assert.deepEqual(nothing.permissions, [])
    assert.equal((await w.call(nothing.key, 'projects.list')).status, 200, 'a key without permissions can still read')
  })

  await t.test('expires on time', async () => {
    const { key } = await w.key(owner.token, ['read'], { expires_in_days: 1 })
    w.clock.advance({ hours: 23, minutes: 59 })
    assert.equal((await w.call(key, 'projects.list')).status, 200)
    w.clock.advance({ minutes: 1 })
    assert.equal((await w.call(key, 'projects.list')).status, 401)
  })

  await t.test('rejects values out of range', async () => {
    const { token } = await w.signIn(owner)
    for (const input of [
      {},
      { name: '' },
      { name: 'x'.repeat(201) },
      { name: 'x', permissions: ['fly'] },
      { name: 'x', rate_limit: 0 },
      { name: 'x', rate_limit: 1.5 },
      { name: 'x', expires_in_days: 0 },
      { name: 'x', expires_in_days: 36_501 },
    ]) {
      assert.equal((await w.call(token, 'api_keys.create', input)).status, 422, JSON.stringify(input))
    }
    assert.equal(
      (await w.call(token, 'api_keys.create', { name: '\u{1f6f0}'.repeat(200) })).status,
      200,
      'characters count, not code units',
    )
  })

  await t.test('a key creates keys with a subset of its permissions, for the same user', async () => {
    const { token } = await w.signIn(owner)
    const { key } = await w.key(token, ['write', 'process'])
    const child = await w.ok(key, 'api_keys.create', { name: 'child', permissions: ['read', 'process'] })
    assert.equal(
      (await w.db.selectFrom('api_key').select('user_id').where('id', '=', child.id).executeTakeFirstOrThrow()).user_id,
      owner.id,
    )
    const weaker = await w.key(token, ['write'])
    assert.equal((await w.call(weaker.key, 'api_keys.create', { name: 'x', permissions: ['process'] })).status, 403)
  })

  await t.test('a key creates keys with at most its own rate limit and expiry, which are inherited by default', async () => {
    const { token } = await w.signIn(owner)
    const parent = await w.key(token, ['write'], { rate_limit: 50, expires_in_days: 10 })
    const child = (more: object, from = parent.key) => w.call(from, 'api_keys.create', { name: 'child', permissions: ['write'], ...more })
    const inherited = (await child({})).body
    assert.deepEqual([inherited.rate_limit, inherited.expires_at], [50, new Date(w.clock.now().getTime() + 10 * 86_400_000).toISOString()])
    for (const wider of [{ rate_limit: 51 }, { expires_in_days: 11 }]) assert.equal((await child(wider)).status, 403, JSON.stringify(wider))
    const narrower = (await child({ rate_limit: 49, expires_in_days: 9 })).body
    assert.equal(narrower.rate_limit, 49)
    assert.equal((await child({ rate_limit: 50 }, narrower.key)).status, 403, 'nor with a key created by that key')
    const unlimited = await w.key(token, ['write'])
    assert.equal((await child({ rate_limit: 10_001 }, unlimited.key)).status, 403, "without a limit of its own, the organization's counts")
    assert.equal((await child({}, unlimited.key)).body.rate_limit, 10_000)
  })

  await t.test('revoking a key also revokes the keys it created, and theirs', async () => {
    const { token } = await w.signIn(owner)
    const first = await w.key(token, ['write'])
    const second = await w.key(first.key, ['write'])
    const third = await w.key(second.key, ['write'])
    const beside = await w.key(token, ['write'])
    const works = async () =>
      await Promise.all([first, second, third, beside].map(async ({ key }) => (await w.call(key, 'projects.list')).status === 200))
    assert.deepEqual(await works(), [true, true, true, true])
    await w.ok(token, 'api_keys.revoke', { key_id: second.id })
    assert.deepEqual(await works(), [true, false, false, true])
    await w.ok(token, 'api_keys.revoke', { key_id: first.id })
    assert.deepEqual(await works(), [false, false, false, true])
  })

  await t.test('keys created while their creator is revoked do not outlive it', async () => {
    const { token } = await w.signIn(owner)
    const creator = await w.key(token, ['write'])
    const creating = Array.from({ length: 20 }, () => w.call(creator.key, 'api_keys.create', { name: 'late', permissions: ['write'] }))
    await w.ok(token, 'api_keys.revoke', { key_id: creator.id })
    const accepted = (await Promise.all(creating)).filter(({ status }) => status === 200)
    for (const { body } of accepted) assert.equal((await w.call(body.key, 'projects.list')).status, 401)
  })
})
