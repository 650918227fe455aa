import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: every call for the organization is listed once, including failed ones, newest first, and can be filtered.
test('organizations.audit.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org, 'viewer')
  const { id: keyId, key } = await w.key(org.owner.token, ['read'])
  const list = async (filter: object = {}) => (
    await w.flushAudit(),
    (await w.ok(org.owner.token, 'organizations.audit.list', filter)).entries
  )
  const operationsOf = (entries: { operation: string }[]) => entries.map(({ operation }) => operation)

  w.clock.advance({ minutes: 1 })
  const from = w.clock.now().toISOString()
  const created = await w.call(org.owner.token, 'projects.create', { name: 'Audited' })
  w.clock.advance({ seconds: 1 })
  const refused = await w.call(member.token, 'projects.archive', { project_id: org.projectId })
  w.clock.advance({ seconds: 1 })
  const unscoped = await w.call(key, 'projects.create', { name: 'x' })
  w.clock.advance({ seconds: 1 })
  const invalid = await w.call(key, 'projects.list', { unknown: 1 })
  w.clock.advance({ seconds: 1 })
  const to = w.clock.now().toISOString()

  await t.test('caller, operation, time, status and created objects', async () => {
    const entries = await list({ from, to })
    assert.deepEqual(
      entries.map((entry: { invocation_id: string }) => entry.invocation_id),
      [invalid, unscoped, refused, created].map(({ headers }) => headers.get('x-svc-invocation-id')),
    )
    assert.deepEqual(
      entries.map(({ operation, status, principal_kind, user_id, api_key_id }: Record<string, unknown>) => [
        operation,
        status,
        principal_kind,
        user_id,
        api_key_id,
      ]),
      [
        ['projects.list', 422, 'api_key', org.owner.id, keyId],
        ['projects.create', 403, 'api_key', org.owner.id, keyId],
        ['projects.archive', 403, 'user', member.id, null],
        ['projects.create', 200, 'user', org.owner.id, null],
      ],
    )
    assert.deepEqual(entries[3].artifacts, [`project ${created.body.id}`])
    assert.match(entries[3].input_sha256, /^[0-9a-f]{64}$/)
    assert.equal(entries[1].input_sha256, null, 'the body of a call without scope was not read')
  })

  await t.test('filters: operation, person, times (from inclusive, to exclusive), null as none', async () => {
    assert.deepEqual(operationsOf(await list({ operation: 'projects.archive' })), ['projects.archive'])
    assert.deepEqual(operationsOf(await list({ user_id: member.id })), ['projects.archive'])
    assert.deepEqual(await list({ operation: 'projects.archive', user_id: org.owner.id }), [])
    assert.deepEqual(operationsOf(await list({ from, to: new Date(Date.parse(from) + 1_000).toISOString() })), ['projects.create'])
    assert.deepEqual(
      operationsOf(await list({ from: '2030-01-01T10:01:00+10:00', to: '2030-01-01T00:01:01Z' })),
      ['projects.create'],
      'offsets are converted',
    )
    assert.deepEqual(await list({ operation: "projects.create' or 1=1 --" }), [])
    assert.ok((await list({ operation: null, user_id: null, from: null, to: null })).length >= 4)
  })

  await t.test('pages: no duplicates, no gaps, the same order', async () => {
    const all = await list({ to })
    const pages = []
    for (let offset = 0; offset < all.length; offset += 3) pages.push(...(await list({ to, limit: 3, offset })))
    assert.deepEqual(pages, all)
    const { count } = await w.ok(org.owner.token, 'organizations.audit.list', { to, limit: 2 })
    assert.equal(count, 2)
  })

  await t.test('not even the database user can change or delete entries', async () => {
    for (const change of [w.db.deleteFrom('audit'), w.db.updateTable('audit').set({ status: 200 })])
      await assert.rejects(change.execute(), /append-only/)
  })

  await t.test('members are rejected', async () => assert.equal((await w.call(member.token, 'organizations.audit.list')).status, 403))
})
