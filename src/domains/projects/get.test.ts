import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: a project with its members, for those who can see it; a private one is 403 within the organization, 404 outside.
test('projects.get', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const viewer = await w.member(org, 'viewer')
  const bystander = await w.member(org, 'viewer')
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Private', visibility: 'private' })
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: viewer.id, role: 'viewer' })
  await w.ok(org.owner.token, 'projects.add_member', { project_id, email: 'Later@Example.com', role: 'editor' })
  const get = (token: string) => w.call(token, 'projects.get', { project_id })

  await t.test('admins see members and open invitations, others only members', async () => {
    const { body } = await get(org.owner.token)
    assert.deepEqual(
      body.members.map(({ user_id, email, role, status }: Record<string, unknown>) => [user_id, email, role, status]),
      [
        [org.owner.id, org.owner.email, 'admin', 'active'],
        [viewer.id, viewer.email, 'viewer', 'active'],
        [null, 'later@example.com', 'editor', 'invited'],
      ],
    )
    const seen = (await get(viewer.token)).body
    assert.deepEqual([seen.role, seen.members.length], ['viewer', 2])
  })
  await t.test('private: 403 for colleagues, 404 for strangers, open to organization admins', async () => {
    const { status, body } = await get(bystander.token)
    assert.deepEqual([status, body.detail], [403, 'Access denied'])
    assert.equal((await get((await w.organization()).owner.token)).status, 404)
    await w.db.updateTable('organization_member').set({ role: 'admin' }).where('user_id', '=', bystander.id).execute()
    assert.equal((await get(bystander.token)).body.role, 'admin')
  })
  await t.test('a guest can read it, with or without an own organization', async () => {
    for (const guest of [await w.person(), (await w.organization()).owner]) {
      assert.equal((await get(guest.token)).status, 404)
      await w.guest(project_id, 'viewer', guest)
      assert.equal((await get(guest.token)).status, 200)
    }
  })
  await t.test('archived projects can be read, deleted ones are not found', async () => {
    await w.ok(org.owner.token, 'projects.archive', { project_id })
    assert.equal((await get(org.owner.token)).body.status, 'archived')
    await w.ok(org.owner.token, 'projects.delete', { project_id })
    assert.equal((await get(org.owner.token)).status, 404)
  })
})
