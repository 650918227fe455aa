import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../support/world.ts'
import { withoutInstance } from './cast.ts'
import { businessDigest } from './digest.ts'

// Goal: no name in a body, a path or a query reaches an object's prototype. The service runs in this very process, so a
// polluted prototype would show here.
test('row 10: prototype pollution', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const raw = (path: string, body: string) =>
    w.request('POST', path, { headers: { 'content-type': 'application/json', authorization: `Bearer ${owner.token}` }, body })
  const untouched = () => {
    const canary = {} as Record<string, unknown>
    assert.equal(canary['polluted'], undefined)
    assert.deepEqual(Object.keys(Object.prototype), [])
    assert.equal(([] as unknown as Record<string, unknown>)['polluted'], undefined)
  }

  const HOSTILE = [
    '{"name":"x","__proto__":{"polluted":true}}',
    '{"name":"x","\\u005f_proto__":{"polluted":true}}',
    '{"name":"x","billing_address":{"__proto__":{"polluted":true}}}',
    '{"name":"x","billing_address":{"constructor":{"prototype":{"polluted":true}}}}',
    '{"name":"x","billing_address":{"prototype":{"polluted":true}}}',
    '{"name":"x","billing_address":{"lines":[1,[{"__proto__":{"polluted":true}}]]}}',
    '{"name":"x","billing_address":{"a":{"b":{"c":{"__proto__":null}}}}}',
    '{"__proto__":{"name":"from the prototype"}}',
    '{"constructor":{"prototype":{"name":"x"}}}',
  ]
  await t.test('hostile member names are rejected at any depth, and change nothing', async () => {
    const before = await businessDigest(w.db)
    for (const body of HOSTILE) {
      const answer = await raw('/v1/op/organizations.create', body)
      assert.equal(answer.status, 400, body)
      assert.equal(answer.body.code, 'invalid-json', body)
      untouched()
    }
    assert.equal(await businessDigest(w.db), before)
  })

  await t.test('sign-in routes reject them, too', async () => {
    for (const route of ['sign-up', 'sign-in', 'refresh', 'sign-out']) {
      const { status, body } = await raw(
        `/auth/${route}`,
        '{"email":"p@example.com","password":"long enough password","name":"p","refresh_token":"x","__proto__":{"isSystemAdmin":true}}',
      )
      assert.equal(status, 400, route)
      assert.equal(body.code, 'invalid-json', route)
    }
    untouched()
  })

  await t.test('inherited names of plain objects are ordinary data in a free-form object', async () => {
    const address = { toString: 'a', hasOwnProperty: 'b', valueOf: [1], isPrototypeOf: { __defineGetter__: true } }
    const organization = await w.ok(owner.token, 'organizations.create', { name: 'x', billing_address: address })
    assert.deepEqual(organization.billing_address, address)
    untouched()
  })

  await t.test('inherited names are unknown fields of an operation', async () => {
    for (const name of ['toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
      const { status, body } = await raw('/v1/op/projects.list', JSON.stringify({ [name]: 1 }))
      assert.equal(status, 422, name)
      assert.equal(body.errors.length, 1)
      assert.equal(body.errors[0].field, name)
      assert.match(body.errors[0].message, /^is not a field of this operation; its fields are /)
    }
  })

  await t.test('names in paths and queries reach no prototype', async () => {
    const unknown = withoutInstance((await raw('/v1/op/no.such', '{}')).bytes)
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__.polluted']) {
      assert.equal(withoutInstance((await raw(`/v1/op/${name}`, '{}')).bytes), unknown, name)
      assert.equal((await raw(`/v1/${name}`, '{}')).status, 404, name)
      assert.equal((await w.request('GET', `/problems/${name}`)).status, 404, name)
      assert.equal((await w.request('GET', `/assets/${name}`)).status, 404, name)
    }
    for (const query of ['__proto__[polluted]=1', '__proto__.polluted=1', 'constructor[prototype][polluted]=1', '__proto__=1&key=x']) {
      assert.equal((await raw(`/v1/op/projects.list?${query}`, '{}')).status, 200, query)
      assert.equal((await w.request('GET', `/auth/me?${query}`)).status, 401, query)
    }
    untouched()
  })

  await t.test('a free-form object cannot be nested deeper than a body', async () => {
    const nested = (levels: number) => `{"name":"x","billing_address":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`
    assert.equal((await raw('/v1/op/organizations.create', nested(31))).status, 200)
    assert.equal((await raw('/v1/op/organizations.create', nested(32))).status, 400)
    assert.equal((await raw('/v1/op/organizations.create', nested(100_000))).status, 413, 'and a body that is too large is not even read')
  })
})
