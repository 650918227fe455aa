// Goal: a role follows from a rule and from nothing else, whatever the shape of the claims.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { givenRoles } from './role-rules.ts'

const rules = {
  roleClaim: 'groups',
  roleRules: [
    { value: 'bosses', role: 'admin' as const },
    { value: 'reef', role: 'member' as const, project_id: 'p', project_role: 'viewer' as const },
    { value: 'divers', role: 'member' as const, project_id: 'p', project_role: 'editor' as const },
  ],
  defaultRole: null,
}

test('roles from claims', () => {
  const role = (groups: unknown) => givenRoles(rules, { groups }).role
  assert.equal(role(['x', 'reef']), 'member')
  assert.equal(role(['reef', 'bosses']), 'admin')
  assert.equal(role('bosses'), 'admin')
  for (const other of [undefined, null, 1, true, {}, { bosses: true }, [['bosses']], 'Bosses', 'bosses ', []])
    assert.equal(role(other), null)
  assert.equal(givenRoles(rules, { groups: ['divers', 'reef'] }).projects.get('p'), 'editor')
  assert.equal(givenRoles({ ...rules, defaultRole: 'member' }, {}).role, 'member')
})

test('the place of a claim', () => {
  const at = (roleClaim: string, claims: Record<string, unknown>) => givenRoles({ ...rules, roleClaim }, claims).role
  assert.equal(at('realm_access.roles', { realm_access: { roles: ['bosses'] } }), 'admin')
  assert.equal(at('https://x.example/roles', { 'https://x.example/roles': ['bosses'] }), 'admin')
  assert.equal(at('constructor.name', {}), null)
  assert.equal(at('__proto__', {}), null)
})
