import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ANONYMOUS, type Principal } from './principal.ts'
import {
  ACTIONS,
  grantsAtMost,
  isStorableScope,
  keyScopes,
  PERMISSIONS,
  PRIVILEGED_RESOURCES,
  RESOURCES,
  satisfies,
  userScopes,
} from './scopes.ts'

const resource = fc.constantFrom(...RESOURCES)
const privileged = fc.constantFrom(...PRIVILEGED_RESOURCES)
const action = fc.constantFrom(...ACTIONS)
const permissions = fc.subarray([...PERMISSIONS])
const scope = fc.tuple(fc.oneof(resource, privileged), action).map(([r, a]) => `${r}:${a}`)
const held = fc.array(
  fc.oneof(
    scope,
    fc.tuple(fc.oneof(resource, privileged), fc.constant('*')).map((parts) => parts.join(':')),
    action.map((a) => `*:${a}`),
    fc.string({ maxLength: 8 }).filter((text) => text !== '*'),
  ),
  { maxLength: 8 },
)

// Goal: a scope is satisfied only by itself, its resource's wildcard, `*`, or an action wildcard if the resource is not privileged.
test('satisfies', async (t) => {
  await t.test('in exactly four ways, compared with a complete table', () => {
    fc.assert(
      fc.property(held, scope, (scopes, required) => {
        const [r, a] = required.split(':') as [string, string]
        const accepted = [required, `${r}:*`, ...(r === 'admin' || r === 'clip' ? [] : [`*:${a}`])]
        assert.equal(
          satisfies(scopes, required),
          scopes.some((granted) => accepted.includes(granted)),
        )
        assert.equal(satisfies([...scopes, '*'], required), true)
      }),
    )
  })
  await t.test('additional scopes never remove access', () => {
    fc.assert(
      fc.property(held, held, scope, (some, more, required) => {
        if (satisfies(some, required)) assert.ok(satisfies([...some, ...more], required))
      }),
    )
  })
  await t.test('similar scopes do not count', () => {
    fc.assert(
      fc.property(scope, (required) => {
        for (const alike of [
          required.toUpperCase(),
          ` ${required}`,
          `${required} `,
          `${required}:x`,
          required.slice(0, -1),
          '*:*',
          '**',
          '',
          ':',
          `${required.split(':')[0]}:`,
          `:${required.split(':')[1]}`,
        ])
          assert.equal(satisfies([alike], required), false, alike)
      }),
    )
  })
})

// Goal: no permission of a key and no ordinary session ever reaches a privileged resource.
test('privileged resources', () => {
  fc.assert(
    fc.property(permissions, privileged, action, (flags, r, a) => {
      assert.equal(satisfies(keyScopes(flags, []), `${r}:${a}`), false)
      assert.equal(satisfies(userScopes({ isSystemAdmin: false, isClipUser: false }), `${r}:${a}`), false)
      assert.equal(satisfies(userScopes({ isSystemAdmin: false, isClipUser: true }), `${r}:${a}`), r === 'clip')
      assert.equal(satisfies(userScopes({ isSystemAdmin: true, isClipUser: false }), `${r}:${a}`), true)
    }),
  )
})

test('keys can always read, and more according to their flags; users can do everything that is not privileged', () => {
  fc.assert(
    fc.property(permissions, resource, action, (flags, r, a) => {
      assert.equal(satisfies(keyScopes(flags, []), `${r}:${a}`), a === 'read' || (a !== 'destroy' && flags.includes(a)))
      assert.equal(satisfies(userScopes({ isSystemAdmin: false, isClipUser: false }), `${r}:${a}`), true)
      assert.equal(satisfies(keyScopes(flags, [`${r}:${a}`]), `${r}:${a}`), true, 'an explicit scope counts')
    }),
  )
})

// Goal: a key that creates keys can only pass on its own scopes: whatever the child can do, the parent can.
test('grantsAtMost', () => {
  fc.assert(
    fc.property(permissions, permissions, (own, given) => {
      const parent: Principal = { ...ANONYMOUS, kind: 'api_key', scopes: keyScopes(own, []) }
      const isSubset = given.every((permission) => permission === 'read' || own.includes(permission))
      assert.equal(grantsAtMost(parent, given), isSubset)
      if (!grantsAtMost(parent, given)) return
      for (const r of [...RESOURCES, ...PRIVILEGED_RESOURCES])
        for (const a of ACTIONS) if (satisfies(keyScopes(given, []), `${r}:${a}`)) assert.ok(satisfies(parent.scopes, `${r}:${a}`))
    }),
  )
})

test('operators can store scopes of known resources, but never `*`, an action wildcard or admin', () => {
  fc.assert(
    fc.property(fc.oneof(resource, fc.constant('clip')), fc.oneof(action, fc.constant('*')), (r, a) =>
      assert.ok(isStorableScope(`${r}:${a}`)),
    ),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (isStorableScope(text)) assert.ok(!satisfies([text], 'admin:read') && text !== '*' && !text.startsWith('*'))
    }),
  )
  for (const bad of ['*', '*:read', 'admin:read', 'admin:*', 'items', 'items:', 'items:read:x', 'x:read', ''])
    assert.equal(isStorableScope(bad), false, bad)
})
