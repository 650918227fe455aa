import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: archiving makes a project read-only and can be undone; archiving twice is not an error and changes nothing.
test('projects.archive', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Old' })
  const archive = (input: object = {}, token = org.owner.token) => w.call(token, 'projects.archive', { project_id, ...input })

  const first = (await archive({ name: 'Renamed on the way', description: 'd' })).body
  assert.deepEqual(
    [first.status, first.is_archived, first.name, first.archived_at],
    ['archived', true, 'Renamed on the way', w.clock.now().toISOString()],
  )
  w.clock.advance({ seconds: 1 })
  assert.equal((await archive()).body.archived_at, first.archived_at, 'the first time stays')

  await t.test('an archived project rejects all writes, including this one', async () => {
    for (const change of [{ name: 'x' }, { description: null }, { is_archived: true, name: 'x' }])
      assert.equal((await archive(change)).status, 400, JSON.stringify(change))
    for (const [id, input] of [
      ['projects.update', { name: 'x' }],
      ['projects.add_member', { user_id: org.owner.id }],
      ['projects.add_member', { email: 'x@example.com' }],
      ['projects.update_member', { user_id: org.owner.id, role: 'admin' }],
      ['projects.remove_member', { user_id: org.owner.id }],
    ] as const) {
      const { status, body } = await w.call(org.owner.token, id, { project_id, ...input })
      assert.deepEqual([status, body.code], [400, 'bad-request'], id)
    }
  })
  await t.test('it can be restored, optionally with a new name', async () => {
    const out = (await archive({ is_archived: false, name: 'New' })).body
    assert.deepEqual([out.status, out.name, out.archived_at], ['active', 'New', null])
  })
  await t.test('members who are not project admins are rejected', async () => {
    const editor = await w.member(org)
    await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: editor.id, role: 'editor' })
    assert.equal((await archive({}, editor.token)).status, 403)
  })
})
