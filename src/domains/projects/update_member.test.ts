import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: roles change at once, and a project always keeps an admin, even with concurrent changes.
test('projects.update_member', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { projectId: project_id, owner } = org
  const member = await w.member(org, 'viewer')
  const update = (user_id: string, role: string, token = owner.token) =>
    w.call(token, 'projects.update_member', { project_id, user_id, role })

  const { body } = await update(member.id, 'admin')
  assert.deepEqual([body.user_id, body.role, body.status], [member.id, 'admin', 'active'])
  assert.equal((await w.call(member.token, 'projects.update', { project_id, description: 'as admin' })).status, 200)

  await t.test('the last admin stays an admin', async () => {
    assert.equal((await update(owner.id, 'viewer')).status, 200, 'another admin remains')
    for (const attempt of [
      () => update(member.id, 'editor'),
      () => w.call(owner.token, 'projects.remove_member', { project_id, user_id: member.id }),
      () => w.call(owner.token, 'projects.add_member', { project_id, user_id: member.id, role: 'viewer' }),
    ]) {
      const { status, body: problem } = await attempt()
      assert.deepEqual([status, problem.code], [400, 'bad-request'])
    }
    assert.equal((await w.ok(member.token, 'projects.get', { project_id })).role, 'admin')
  })
  await t.test('two admins who demote each other concurrently leave one', async () => {
    for (let round = 0; round < 5; round++) {
      for (const id of [owner.id, member.id]) await update(id, 'admin')
      const statuses = (await Promise.all([update(owner.id, 'viewer'), update(member.id, 'viewer', member.token)])).map(
        ({ status }) => status,
      )
      const admins = await w.db
        .selectFrom('project_member')
        .select('user_id')
        .where('project_id', '=', project_id)
        .where('role', '=', 'admin')
        .execute()
      assert.equal(admins.length, 1, statuses.join())
    }
  })
  await t.test('refusals', async () => {
    assert.equal((await update(newId(), 'viewer')).status, 404)
    assert.equal((await update(member.id, 'owner')).status, 422)
    const viewer = await w.member(org, 'viewer')
    assert.equal((await update(viewer.id, 'admin', viewer.token)).status, 403)
  })
})
