import assert from 'node:assert/strict'
import { test } from 'node:test'
import sweep from '../../src/domains/reports/sweep.task.ts'
import { violations } from '../faults/invariants.ts'
import { scene } from '../support/scene.ts'
import { world, type Org } from '../support/world.ts'

const GIB = 1024 ** 3
const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [151.01, -33.01],
      [151.1, -33.01],
      [151.1, -33.1],
      [151.01, -33.1],
      [151.01, -33.01],
    ],
  ],
}

// Goal: reports and computed rasters, which are stored for a week, count as storage of their organization until they are removed.
test('row 55: reports and computed rasters', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const used = async (who: Org) =>
    (await w.db.selectFrom('storage_account').select('used_bytes').where('org_id', '=', who.id).executeTakeFirstOrThrow()).used_bytes
  const broken = async () => (await violations(w.db)).filter(({ rule }) => /promised|stores|counts its items/.test(rule))
  const { body } = await w.upload(token, org.projectId, { 'a.tif': await scene(), 'b.tif': await scene({ value: (band, x) => band + x }) })
  const before = await used(org)
  const key = (await w.ok(token, 'api_keys.create', { name: 'reader', permissions: ['read'] })).key

  await t.test('reports count, including those of a read-only key', async () => {
    const responses = []
    for (const credential of [token, key])
      for (const format of ['pdf', 'csv', 'json'])
        responses.push(await w.ok(credential, 'reports.generate', { report_type: 'project', project_id: org.projectId, format }))
    const sizes = responses.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    assert.ok(sizes > 0)
    assert.equal(await used(org), before + sizes)
    assert.deepEqual(await broken(), [])
  })

  await t.test('rasters of analytics count, and a recount agrees', async () => {
    const counted = await used(org)
    await w.ok(token, 'analytics.execute', {
      operation: 'change_detection',
      params: { before_item_id: body.item_ids[0], after_item_id: body.item_ids[1], geometry: AREA, expression: 'b1' },
    })
    const now = await used(org)
    assert.ok(now > counted)
    await w.ok(token, 'usage.recalculate_storage', {})
    assert.equal(await used(org), now)
    assert.deepEqual(await broken(), [])
  })

  await t.test('a file that does not fit is 402 with used and limit, and leaves nothing behind', async () => {
    const full = await w.organization()
    await w.db
      .updateTable('storage_account')
      .set({ used_bytes: 10 * GIB })
      .where('org_id', '=', full.id)
      .execute()
    const refused = await w.call(full.owner.token, 'reports.generate', { report_type: 'usage' })
    assert.equal(refused.status, 402, JSON.stringify(refused.body))
    assert.deepEqual([refused.body.used, refused.body.limit], [10 * GIB, 10 * GIB])
    assert.equal(await used(full), 10 * GIB)
    await w.db.updateTable('storage_account').set({ used_bytes: 0 }).where('org_id', '=', full.id).execute()
  })

  await t.test('storage is released when they have expired', async () => {
    w.clock.advance({ days: 7 })
    await w.runTask(sweep, {})
    assert.ok((await used(org)) > before)
    w.clock.advance({ days: 2 })
    await w.runTask(sweep, {})
    assert.equal(await used(org), before)
    assert.deepEqual(await broken(), [])
  })
})
