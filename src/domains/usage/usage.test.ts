import type { CountedMeter } from '#core/meters.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as usage from '#model/plans/usage.ts'
import snapshot from './snapshot.task.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world, type Org } from '../../../test/support/world.ts'

const GIB = 1024 ** 3

// Goal: an organization sees its current and past usage, and can have its storage recalculated.
test('usage', async (t) => {
  const w = await world(t, { startAt: '2030-03-10T12:00:00.000Z' })
  const scene = async (org: Org, token: string, size: number) => {
    const { id } = await w.ok(token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
    return { item_id: id as string, asset_id: await storeFile(w, id, { bytes: Buffer.alloc(size, 1) }) }
  }

  await t.test('current: storage, usage this month, limits of the plan', async () => {
    const org = await w.organization()
    const file = await scene(org, org.owner.token, 1_000)
    await w.ok(org.owner.token, 'items.asset.download', file)
    w.platform.services.usage.record(org.id, 'tiles', 7)
    await usage.add(w.db, [
      { organizationId: org.id, day: '2030-02-28', meter: 'tiles', amount: 100 },
      { organizationId: org.id, day: '2030-03-01', meter: 'compute_jobs', amount: 2 },
    ])
    await w.flushUsage()
    const { api_calls, ...rest } = await w.ok(org.owner.token, 'usage.current', { organization_id: org.id })
    assert.deepEqual(rest, {
      organization_id: org.id,
      plan_id: 'free',
      period: '2030-03',
      storage_bytes: 1_000,
      egress_bytes: 1_000,
      tiles: 7,
      compute_jobs: 2,
      processing_jobs: 0,
      storage_reserved_bytes: 0,
      egress_bytes_last_24h: 1_000,
      limits: { storage_bytes: 10 * GIB, egress_bytes_per_24h: 20 * GIB, compute_jobs: 10, processing_jobs: 100 },
      as_of: '2030-03-10T12:00:00.000Z',
    })
    assert.equal(api_calls, 4, 'founding, project, item, download')
    const member = await w.member(org)
    assert.equal((await w.ok(member.token, 'usage.current')).tiles, 7, "the caller's organization by default")
    const other = await w.organization()
    for (const id of ['usage.current', 'usage.history', 'usage.recalculate_storage']) {
      for (const organization_id of [org.id, 'nothing'])
        assert.equal((await w.call(other.owner.token, id, { organization_id })).status, 403, id)
    }
  })

  await t.test('history: every month and day of a period, including empty ones', async () => {
    const org = await w.organization()
    const day = (date: string, meter: CountedMeter, amount: number) => ({ organizationId: org.id, day: date, meter, amount })
    await usage.add(w.db, [
      day('2029-12-31', 'tiles', 1),
      day('2030-01-05', 'tiles', 10),
      day('2030-01-06', 'tiles', 20),
      day('2030-03-01', 'egress_bytes', 5),
    ])
    await w.db
      .insertInto('usage_day')
      .values([
        { org_id: org.id, day: '2030-01-05', meter: 'storage_bytes', amount: 100 },
        { org_id: org.id, day: '2030-01-06', meter: 'storage_bytes', amount: 300 },
      ])
      .execute()
    const { owner } = org
    const points = async (input: object) =>
      (await w.ok(owner.token, 'usage.history', input)).points.map((point: Record<string, unknown>) => [
        point['period'],
        point['tiles'],
        point['storage_bytes'],
        point['egress_bytes'],
      ])
    assert.deepEqual(await points({ organization_id: org.id }), [
      ['2030-01', 30, 200, 0],
      ['2030-02', 0, 0, 0],
      ['2030-03', 0, 0, 5],
    ])
    assert.deepEqual(await points({ months: 4 }).then((all) => all[0]), ['2029-12', 1, 0, 0])
    assert.deepEqual(await points({ from: '2030-01-04', to: '2030-01-06', granularity: 'day' }), [
      ['2030-01-04', 0, 0, 0],
      ['2030-01-05', 10, 100, 0],
      ['2030-01-06', 20, 300, 0],
    ])
    assert.deepEqual(
      (await points({ from: '2030-01-06T23:00:00Z', to: '2030-02-01' })).map(([period]: unknown[]) => period),
      ['2030-01', '2030-02'],
    )
    for (const [input, status] of [
      [{ months: 0 }, 422],
      [{ months: 61 }, 422],
      [{ months: 2, from: '2030-01-01' }, 400],
      [{ from: '2030-02-01', to: '2030-01-01' }, 422],
      [{ from: '2028-01-01', granularity: 'day' }, 422],
      [{ from: '1990-01-01' }, 422],
      [{ from: '2030-02-30' }, 422],
      [{ from: 'yesterday!' }, 422],
      [{ granularity: 'hour' }, 422],
    ] as const)
      assert.equal((await w.call(owner.token, 'usage.history', input)).status, status, JSON.stringify(input))
  })

  await t.test('the storage of a day is its maximum', async () => {
    const org = await w.organization()
    const { item_id } = await scene(org, org.owner.token, 2_000)
    const today = async () =>
      (await w.ok(org.owner.token, 'usage.history', { from: '2030-03-10', granularity: 'day' })).points[0].storage_bytes
    assert.equal(await today(), 2_000, 'what is stored now is seen at once')
    await w.runTask(snapshot)
    await w.ok(org.owner.token, 'items.delete', { item_id })
    await w.runTask(snapshot)
    assert.equal(await today(), 2_000)
  })

  await t.test('recalculate: owners and admins can correct counters, once an hour', async () => {
    const org = await w.organization()
    const member = await w.member(org, 'admin')
    await scene(org, org.owner.token, 500)
    const second = await w.ok(org.owner.token, 'projects.create', { name: 'Empty' })
    await w.db.updateTable('project').set({ storage_bytes: 9_999, item_count: 7 }).where('id', '=', second.id).execute()
    await w.db.updateTable('storage_account').set({ used_bytes: 77 }).where('org_id', '=', org.id).execute()
    const recount = (token = org.owner.token) => w.call(token, 'usage.recalculate_storage', { organization_id: org.id })
    assert.equal((await recount(member.token)).status, 403)
    assert.deepEqual((await recount()).body, { previous_bytes: 77, storage_bytes: 500 })
    const projects = await w.db
      .selectFrom('project')
      .select(['storage_bytes', 'item_count'])
      .where('org_id', '=', org.id)
      .orderBy('storage_bytes')
      .execute()
    assert.deepEqual(projects, [
      { storage_bytes: 0, item_count: 0 },
      { storage_bytes: 500, item_count: 1 },
    ])
    const again = await recount()
    assert.deepEqual([again.status, again.headers.get('retry-after')], [429, '3600'])
    w.clock.advance({ hours: 1 })
    const owner = await w.signIn(org.owner)
    const both = await Promise.all([recount(owner.token), recount(owner.token)])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 429])
  })

  await t.test('recalculated during concurrent changes, it is still correct', async () => {
    const org = await w.organization()
    const owner = await w.signIn(org.owner)
    const files = await Promise.all(Array.from({ length: 8 }, () => scene(org, owner.token, 100)))
    const answers = await Promise.all([
      w.call(owner.token, 'usage.recalculate_storage'),
      ...files.slice(0, 4).map(({ item_id }) => w.call(owner.token, 'items.delete', { item_id })),
      ...files.slice(4).map(({ item_id }) => w.call(owner.token, 'items.duplicate', { item_id })),
    ])
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal((await w.ok(owner.token, 'usage.current')).storage_bytes, 800)
    assert.equal((await w.ok(owner.token, 'projects.get', { project_id: org.projectId })).storage_bytes, 800)
  })
})
