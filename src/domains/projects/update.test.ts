import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'

// Goal: project admins update the given fields unless the project is archived; of two concurrent changes, none is lost.
test('projects.update', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Before', description: 'kept' })
  const update = (input: object, token = org.owner.token) => w.call(token, 'projects.update', { project_id, ...input })

  await t.test('null keeps the name and clears the description', async () => {
    w.clock.advance({ seconds: 1 })
    const { body } = await update({ name: 'After', visibility: null })
    assert.deepEqual(
      [body.name, body.description, body.visibility, body.updated_at],
      ['After', 'kept', 'organization', w.clock.now().toISOString()],
    )
    const cleared = (await update({ name: null, description: null, visibility: 'private' })).body
    assert.deepEqual([cleared.name, cleared.description, cleared.visibility], ['After', null, 'private'])
  })
  await t.test('admins of the project or the organization can update it; editors and viewers cannot', async () => {
    for (const [role, expected] of [
      ['viewer', 403],
      ['editor', 403],
      ['admin', 200],
    ] as const) {
      const member = await w.member(org)
      await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: member.id, role })
      assert.equal((await update({ name: role }, member.token)).status, expected, role)
    }
  })
  await t.test('an archived project rejects changes until it is restored', async () => {
    assert.equal((await update({ is_archived: true })).body.status, 'archived')
    for (const change of [{ name: 'x' }, { description: 'x' }, { is_archived: true }, {}]) {
      const { status, body } = await update(change)
      assert.deepEqual([status, body.code], [400, 'bad-request'], JSON.stringify(change))
    }
    const out = (await update({ is_archived: false, name: 'Back' })).body
    assert.deepEqual([out.status, out.archived_at, out.name], ['active', null, 'Back'])
  })
  await t.test('a concurrent change is kept', async () => {
    // The first change waits for the row lock, after its checks, while a second one commits.
    const racing = async (change: object, meanwhile: { name?: string; archived_at?: Date | null; deleted_at?: Date }) => {
      let waiting!: ReturnType<typeof update>
      await w.db.transaction().execute(async (tx) => {
        await tx.updateTable('project').set(meanwhile).where('id', '=', project_id).execute()
        waiting = update(change)
        for (;;) {
          const { rows } = await sql<{
            n: number
          }>`select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(w.db)
          if (rows[0]!.n > 0) break
          await turn()
        }
      })
      return await waiting
    }
    const { body } = await racing({ description: 'mine' }, { name: 'theirs' })
    assert.deepEqual([body.name, body.description], ['theirs', 'mine'])
    const refused = await racing({ description: 'too late' }, { archived_at: w.clock.now() })
    assert.deepEqual([refused.status, refused.body.code], [400, 'bad-request'])
    assert.equal((await w.ok(org.owner.token, 'projects.get', { project_id })).status, 'archived', 'and nothing took it out of the archive')
    await update({ is_archived: false })
    assert.equal((await racing({ description: 'gone' }, { deleted_at: w.clock.now() })).status, 404)
  })
})
