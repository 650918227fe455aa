import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../support/world.ts'

// Goal: only a signed-in user decides who belongs to an organization, and in which role. A stolen key, even an owner's with every
// permission, can neither invite, promote, cap nor remove anyone, nor touch an invitation; and what it tried has no effect.
test('row 60: keys cannot change membership', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org)
  const { key } = await w.key(org.owner.token, ['read', 'write', 'process'])
  const state = async () => ({
    members: await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id }),
    invitations: await w.ok(org.owner.token, 'organizations.invitations.list'),
    project: (await w.ok(org.owner.token, 'projects.get', { project_id: org.projectId })).members,
  })
  const { invitation } = await w.ok(org.owner.token, 'organizations.members.invite', { email: 'open@example.com' })
  await w.ok(org.owner.token, 'projects.add_member', { project_id: org.projectId, email: 'project@example.com' })
  const before = await state()

  const attempts: [string, object][] = [
    ['organizations.members.invite', { email: 'accomplice@example.com', role: 'admin' }],
    ['organizations.members.set_role', { user_id: member.id, role: 'owner' }],
    [
      'organizations.members.set_spend_limit',
      { organizationId: org.id, userId: member.id, perOrderLimitCredits: 5, spendLimitCredits: null },
    ],
    ['organizations.invitations.revoke', { invitation_id: invitation.id }],
    ['projects.add_member', { project_id: org.projectId, email: 'accomplice@example.com', role: 'admin' }],
    ['projects.add_member', { project_id: org.projectId, email: 'project@example.com', role: 'admin' }],
    ['projects.remove_member', { project_id: org.projectId, email: 'project@example.com' }],
    ['organizations.members.remove', { user_id: member.id }],
  ]
  for (const [operation, input] of attempts)
    await t.test(`${operation} ${JSON.stringify(input).slice(0, 60)}`, async () => {
      const { status, body } = await w.call(key, operation, input)
      assert.equal(status, 403)
      assert.equal(body.code, 'user-authorization-required')
      assert.match(body.detail, /signed-in user/)
    })

  await t.test('nothing has changed', async () => assert.deepEqual(await state(), before))

  await t.test('account routes do not accept keys', async () => {
    const headers = { authorization: `Bearer ${key}` }
    for (const [route, body] of [
      ['/auth/invitations/accept', { token: invitation.url.split('/').at(-1) }],
      ['/auth/delete-account', { password: org.owner.password }],
      ['/auth/delete-organization', { organization_id: org.id, password: org.owner.password }],
    ] as const)
      assert.equal((await w.post(route, body, headers)).status, 403, route)
  })

  await t.test('keys still read members and invitations, and manage roles within a project', async () => {
    await w.ok(key, 'organizations.members.list', { organizationId: org.id })
    await w.ok(key, 'organizations.invitations.list')
    await w.ok(key, 'projects.update_member', { project_id: org.projectId, user_id: member.id, role: 'editor' })
    await w.ok(key, 'projects.add_member', { project_id: org.projectId, email: member.email, role: 'viewer' })
  })

  await t.test("an owner's key cannot even remove or demote its own user", async () => {
    for (const [operation, more] of [
      ['organizations.members.remove', {}],
      ['organizations.members.set_role', { role: 'member' }],
    ] as const)
      assert.equal((await w.call(key, operation, { user_id: org.owner.id, ...more })).status, 403, operation)
  })

  await t.test('the same calls by the signed-in owner succeed', async () => {
    for (const [operation, input] of attempts) await w.ok(org.owner.token, operation, input)
  })
})
