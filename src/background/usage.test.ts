import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUsageRecorder } from './usage.ts'
import { world } from '../../test/support/world.ts'

// Goal: what is counted in memory reaches the meters once, by day and organization, also when the database was away meanwhile.
test('usage recorder', async (t) => {
  const w = await world(t, { startAt: '2030-05-01T23:59:59.000Z' })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['write']) // Outlives a session.
  const meters = async (organizationId: string) => {
    await w.flushUsage()
    const rows = await w.db
      .selectFrom('usage_day')
      .select(['meter', 'amount', (e) => e.fn<string>('to_char', ['day', e.val('YYYY-MM-DD')]).as('day')])
      .where('org_id', '=', organizationId)
      .orderBy('day')
      .orderBy('meter')
      .execute()
    return rows.map(({ day, meter, amount }) => `${day} ${meter} ${amount}`)
  }

  await t.test('every invocation is a call of its organization, refused ones too', async () => {
    const { id, owner } = await w.organization()
    const before = await meters(id)
    assert.deepEqual(before, ['2030-05-01 api_calls 2'], 'its founding and its project')
    await Promise.all(Array.from({ length: 20 }, () => w.ok(owner.token, 'projects.list')))
    assert.equal((await w.call(owner.token, 'items.get', { item_id: 'nothing' })).status, 404)
    assert.equal((await w.call(owner.token, 'items.get', { nonsense: 1 })).status, 422)
    assert.equal((await w.call('no credential', 'projects.list')).status, 401)
    assert.deepEqual(await meters(id), ['2030-05-01 api_calls 24'])
  })

  await t.test('two recorders on one database add up, each day by itself', async () => {
    const { id } = await w.organization()
    const other = createUsageRecorder(w.db, w.clock, (error) => {
      throw error
    })
    w.platform.services.usage.record(id, 'tiles', 3)
    other.record(id, 'tiles')
    w.clock.advance({ seconds: 1 })
    other.record(id, 'tiles', 5)
    await Promise.all([other.close(), w.flushUsage()])
    assert.deepEqual(
      (await meters(id)).filter((row) => row.includes('tiles')),
      ['2030-05-01 tiles 4', '2030-05-02 tiles 5'],
    )
  })

  await t.test('an access is written once an hour', async () => {
    const item = await w.ok(key, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
    const row = () =>
      w.db.selectFrom('item').select(['seq', 'last_accessed_at', 'updated_at']).where('id', '=', item.id).executeTakeFirstOrThrow()
    const { seq, updated_at } = await row()
    const touched = async () => {
      w.platform.services.usage.touch(seq)
      await w.flushUsage()
      return (await row()).last_accessed_at
    }
    const first = w.clock.now()
    assert.deepEqual(await touched(), first)
    w.clock.advance({ minutes: 59 })
    assert.deepEqual(await touched(), first)
    w.clock.advance({ minutes: 1 })
    assert.deepEqual(await touched(), w.clock.now())
    assert.deepEqual((await row()).updated_at, updated_at, 'using an item does not change it')
  })

  await t.test('what could not be written is written by the next flush, once', async () => {
    const { id } = await w.organization()
    const item = await w.ok(key, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
    const { seq } = await w.db.selectFrom('item').select('seq').where('id', '=', item.id).executeTakeFirstOrThrow()
    const recorder = createUsageRecorder(w.db, w.clock, () => {})
    recorder.record(id, 'tiles', 2)
    recorder.touch(seq)
    await w.db.schema.alterTable('usage_day').renameTo('usage_away').execute()
    await assert.rejects(recorder.flush())
    await w.db.schema.alterTable('usage_away').renameTo('usage_day').execute()
    recorder.record(id, 'tiles', 1)
    await recorder.close()
    assert.deepEqual(
      (await meters(id)).filter((row) => row.includes('tiles')),
      ['2030-05-02 tiles 3'],
    )
    const { last_accessed_at } = await w.db.selectFrom('item').select('last_accessed_at').where('seq', '=', seq).executeTakeFirstOrThrow()
    assert.deepEqual(last_accessed_at, w.clock.now())
  })
})
