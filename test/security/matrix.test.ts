import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { TABLE } from '#contract/table.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { operations } from '#registry.ts'
import { world } from '../support/world.ts'
import { cast, CLIP_EMAIL, PRINCIPALS, STAFF_EMAIL } from './cast.ts'
import { rows, rowsOfDomains } from './rows.ts'
import { statusesOf } from './statuses.ts'

/*
 * Goal: every operation answers every kind of caller with the one right status, for things of the caller's organization and
 * of another one; what another organization holds looks exactly like what does not exist; a refusal changes nothing.
 *
 * Here is what all parts of the matrix rest on; the parts are matrix-<n>.test.ts.
 */

test('every implemented operation has its row, in the file of its domain, and every row an operation', () => {
  const stated = [...rowsOfDomains].flatMap(([domain, ofDomain]) => Object.keys(ofDomain).map((id) => `${domain}: ${id}`))
  assert.deepEqual(stated.toSorted(), [...operations.keys()].map((id) => `${TABLE.get(id)!.domain}: ${id}`).toSorted())
  for (const [id, { a, b, missing }] of rows) {
    assert.equal(statusesOf(a).length, PRINCIPALS.length, id)
    assert.equal(b === undefined, missing === undefined, `${id}: an operation that takes ids is tried with those of both organizations`)
    if (b) assert.equal(statusesOf(b).length, PRINCIPALS.length, id)
  }
})

// Goal: a public operation runs for every caller as anonymous: a credential makes no difference.
test('public operations are anonymous for every principal', async (t) => {
  const whoami = operation({
    id: 'test.whoami',
    scope: 'tiles:read',
    tier: 'read',
    public: true,
    input: Closed({}),
    output: Closed({
      kind: Type.String(),
      user: Type.Union([Type.String(), Type.Null()]),
      organization: Type.Union([Type.String(), Type.Null()]),
      scopes: Type.Array(Type.String()),
    }),
    example: { input: {} },
  }).handle({
    execute: async ({ principal: { kind, userId, organizationId, scopes } }) => ({
      kind,
      user: userId,
      organization: organizationId,
      scopes: [...scopes],
    }),
  })
  const w = await world(t, { operations: [whoami], systemAdminEmails: [STAFF_EMAIL], clipUserEmail: CLIP_EMAIL })
  const { credential } = await cast(w)
  for (const name of PRINCIPALS) {
    const { status, body } = await w.call(credential(name), 'test.whoami')
    assert.equal(status, 200, name)
    assert.deepEqual(body, { kind: 'anonymous', user: null, organization: null, scopes: [] }, name)
  }
})

// Goal: no customer flag includes operator and privileged scopes; only the named users have them.
test('privileged resources', async (t) => {
  const probe = (id: `test.${string}`, scope: 'clip:read' | 'clip:destroy' | 'admin:read') =>
    operation({ id, scope, tier: 'read', input: Closed({}), output: Closed({}), example: { input: {} } }).handle({
      execute: async () => ({}),
    })
  const w = await world(t, {
    operations: [probe('test.clip_read', 'clip:read'), probe('test.clip_destroy', 'clip:destroy'), probe('test.admin_read', 'admin:read')],
    systemAdminEmails: [STAFF_EMAIL],
    clipUserEmail: CLIP_EMAIL,
  })
  const { a, credential } = await cast(w)
  const scoped = await w.key(a.owner.token, ['read', 'write', 'process'])
  await w.ok(credential('staff')!, 'api_keys.set_scopes', { key_id: scoped.id, scopes: ['clip:read'] })
  const all = await w.key(a.owner.token, ['read', 'write', 'process'])
  const reach = async (secret: string) =>
    Promise.all(['test.clip_read', 'test.clip_destroy', 'test.admin_read'].map(async (id) => (await w.call(secret, id)).status))

  assert.deepEqual(await reach(credential('owner')!), [403, 403, 403])
  assert.deepEqual(await reach(all.key), [403, 403, 403])
  assert.deepEqual(await reach(scoped.key), [200, 403, 403])
  assert.deepEqual(await reach(credential('clip')!), [200, 200, 403])
  assert.deepEqual(await reach(credential('staff')!), [200, 200, 200])
  assert.deepEqual(await reach(credential('service')!), [200, 200, 200])
  assert.deepEqual(await reach(credential('worker')!), [403, 403, 403])
})
