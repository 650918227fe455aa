import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: a removed member loses access at once; an invitation is withdrawn by its address.
test('projects.remove_member', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { projectId: project_id, owner } = org
  const remove = (input: object, token = owner.token) => w.call(token, 'projects.remove_member', { project_id, ...input })

  await t.test('a guest loses access', async () => {
    const guest = await w.guest(project_id)
    assert.equal((await w.call(guest.token, 'projects.get', { project_id })).status, 200)
    assert.deepEqual((await remove({ user_id: guest.id })).body, { ok: true })
    assert.equal((await w.call(guest.token, 'projects.get', { project_id })).status, 404)
    assert.equal((await remove({ user_id: guest.id })).status, 404, 'already removed')
  })
  await t.test('a member loses the role and stays in the organization', async () => {
    const member = await w.member(org, 'editor')
    await remove({ user_id: member.id })
    assert.equal((await w.ok(member.token, 'projects.get', { project_id })).role, null)
  })
  await t.test('invitations', async () => {
    await w.ok(owner.token, 'projects.add_member', { project_id, email: 'x@example.com' })
    assert.equal((await remove({ email: 'X@example.com' })).status, 200)
    assert.equal((await remove({ email: 'x@example.com' })).status, 404)
    assert.equal((await remove({ email: owner.email })).status, 404, 'members are removed by id')
  })
  await t.test('refusals', async () => {
    for (const input of [{}, { user_id: owner.id, email: owner.email }, { user_id: 'x' }, { email: 'x' }])
      assert.equal((await remove(input)).status, 422, JSON.stringify(input))
    assert.equal((await remove({ user_id: newId() })).status, 404)
    assert.equal((await remove({ user_id: owner.id })).status, 400, 'the last admin')
    const editor = await w.member(org, 'editor')
    assert.equal((await remove({ user_id: editor.id }, editor.token)).status, 403, 'not even oneself')
  })
})
