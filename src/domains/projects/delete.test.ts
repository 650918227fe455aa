import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: a deleted project is not found and frees its storage; its lineage stays; its invitations no longer work.
test('projects.delete', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Doomed' })
  await w.db.updateTable('project').set({ storage_bytes: 1_234, item_count: 2 }).where('id', '=', project_id).execute()
  await w.db.updateTable('storage_account').set({ used_bytes: 1_234 }).where('org_id', '=', org.id).execute()
  const { invitation } = await w.ok(org.owner.token, 'projects.add_member', { project_id, email: 'late@example.com' })
  const editor = await w.member(org)
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: editor.id, role: 'editor' })

  assert.equal((await w.call(editor.token, 'projects.delete', { project_id })).status, 403)
  assert.deepEqual(await w.ok(org.owner.token, 'projects.delete', { project_id }), {
    deleted: true,
    project_id,
    storage_freed_bytes: 1_234,
  })
  const row = await w.db
    .selectFrom('project')
    .select(['deleted_at', 'storage_bytes', 'item_count'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow()
  assert.deepEqual(row, { deleted_at: w.clock.now(), storage_bytes: 0, item_count: 0 })

  await t.test('every operation on it is 404, including a second delete', async () => {
    for (const [id, more] of [
      ['projects.get', {}],
      ['projects.update', { name: 'x' }],
      ['projects.archive', {}],
      ['projects.delete', {}],
      ['projects.add_member', { email: 'x@example.com' }],
      ['projects.remove_member', { user_id: editor.id }],
      ['projects.update_member', { user_id: editor.id, role: 'admin' }],
    ] as const) {
      for (const who of [org.owner, editor]) assert.equal((await w.call(who.token, id, { project_id, ...more })).status, 404, id)
    }
  })
  await t.test('its lineage can still be read', async () =>
    assert.equal((await w.call(org.owner.token, 'provenance.get', { entity_type: 'project', entity_id: project_id })).status, 200),
  )
  await t.test('an invitation to it no longer works', async () => {
    const late = await w.person('late@example.com')
    assert.equal((await w.accept(late.token, invitation.url)).status, 404)
    assert.equal((await w.call(late.token, 'organizations.get')).body.code, 'organization-required')
    const { outcome } = await w.db
      .selectFrom('invitation')
      .select('outcome')
      .where('email', '=', 'late@example.com')
      .executeTakeFirstOrThrow()
    assert.equal(outcome, 'withdrawn')
  })
  await t.test('an archived project can be deleted', async () => {
    const { id } = await w.ok(org.owner.token, 'projects.create', { name: 'Archived' })
    await w.ok(org.owner.token, 'projects.archive', { project_id: id })
    assert.equal((await w.call(org.owner.token, 'projects.delete', { project_id: id })).status, 200)
  })
})
