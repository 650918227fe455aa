import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Compile from 'typebox/compile'
import { DAY_MS } from '#core/time.ts'
import { eventType } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import type { LifecycleState } from '#core/vocabulary.ts'
import * as projects from '#model/identity/project.ts'
import { campaign } from '../../../test/support/campaign.ts'
import retain from './retain.task.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

async function key(w: World, org: Org): Promise<string> {
  return (await w.key(org.owner.token, ['read', 'write'])).key // Outlives a session.
}
const card = (w: World, org: Org) =>
  w.db
    .insertInto('payment_method')
    .values({
      id: newId(),
      org_id: org.id,
      processor_id: 'pm_card_visa',
      brand: 'visa',
      last4: '4242',
      exp_month: 1,
      exp_year: 2040,
      is_default: true,
      created_at: w.clock.now(),
    })
    .execute()
const stateOf = async (w: World, id: string) =>
  await w.db
    .selectFrom('item')
    .select(['lifecycle_state', 'expires_at', 'due_at', 'archived_at', 'deleted_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const eventsOf = async (w: World, id: string) => {
  const rows = await w.db.selectFrom('event').select(['type', 'data', 'invocation_id']).where('entity_id', '=', id).orderBy('seq').execute()
  for (const { type, data } of rows) assert.ok(Compile(eventType(type as never).data_schema).Check(data), `${type} keeps its schema`)
  return rows
}

// Goal: retention follows the plan; each change of state happens once, with an event and correct storage, on whichever worker.
test('retention', async (t) => {
  const w = await world(t)
  const run = () => w.runTask(retain)

  await t.test('free: expiring on day 23, expired on 30, deleted on 60 with its storage; the lineage stays', async () => {
    const org = await w.organization()
    const secret = await key(w, org)
    const start = w.clock.now()
    const day = (days: number) => new Date(start.getTime() + days * DAY_MS)
    const { id: item_id, expires_at } = await w.ok(secret, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'n',
      bbox: [0, 0, 1, 1],
    })
    const asset_id = await storeFile(w, item_id, { bytes: Buffer.from('pixels') })
    assert.equal(expires_at, day(23).toISOString())
    const seen = async () => {
      await run()
      const { lifecycle_state, expires_at: next } = await stateOf(w, item_id)
      return [lifecycle_state, next]
    }
    w.clock.advance({ days: 22, hours: 23 })
    assert.deepEqual(await seen(), ['active', day(23)])
    w.clock.advance({ hours: 1 })
    assert.deepEqual(await seen(), ['expiring', day(30)])
    assert.deepEqual(await seen(), ['expiring', day(30)], 'a second run finds it done')
    assert.equal((await w.call(secret, 'items.asset.download', { item_id, asset_id })).status, 200)
    w.clock.advance({ days: 7 })
    assert.deepEqual(await seen(), ['expired', day(60)])
    assert.equal((await w.call(secret, 'items.asset.download', { item_id, asset_id })).status, 410)
    assert.equal((await w.ok(secret, 'items.list', { project_id: org.projectId })).total, 1, 'still listed')
    await w.ok(secret, 'projects.archive', { project_id: org.projectId }) // Retention goes on in an archived project.
    w.clock.advance({ days: 30 })
    assert.deepEqual(await seen(), ['deleted', day(60)])
    const { item_count, storage_bytes } = await w.ok(secret, 'projects.get', { project_id: org.projectId })
    const account = await w.db.selectFrom('storage_account').select('used_bytes').where('org_id', '=', org.id).executeTakeFirstOrThrow()
    assert.deepEqual([item_count, storage_bytes, account.used_bytes], [0, 0, 0])
    assert.deepEqual(await w.db.selectFrom('item_cell').select('seq').where('org_id', '=', org.id).execute(), [])
    assert.equal((await w.ok(secret, 'provenance.get', { entity_type: 'item', entity_id: item_id, direction: 'up' })).edges.length, 1)
    const events = await eventsOf(w, item_id)
    assert.deepEqual(
      events.map(({ type, data }) => [type, data['previous_lifecycle_state'], data['lifecycle_state']]),
      [
        ['item.created', null, 'active'],
        ['item.updated', 'active', 'expiring'],
        ['item.updated', 'expiring', 'expired'],
        ['item.deleted', 'expired', 'deleted'],
      ],
    )
    const audited = await w.db
      .selectFrom('audit')
      .select(['operation', 'status', 'principal_kind'])
      .where('invocation_id', '=', events.at(-1)!.invocation_id)
      .execute()
    assert.deepEqual(audited, [{ operation: 'items.retain', status: 200, principal_kind: 'service' }])
  })

  await t.test('manually: after its retention an item stays expired, and only an upgrade reactivates it', async () => {
    const org = await w.organization()
    const secret = await key(w, org)
    const { id: item_id } = await w.ok(secret, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
    w.clock.advance({ days: 40 })
    await run()
    const expired = await stateOf(w, item_id)
    assert.equal(expired.lifecycle_state, 'expired')
    for (const lifecycle_state of ['active', 'archived', 'expiring']) {
      const { status, body } = await w.call(secret, 'items.update', { item_id, lifecycle_state })
      assert.equal(status, 400)
      assert.match(body.detail, /billing\.plan\.change/)
    }
    assert.equal((await w.ok(secret, 'items.update', { item_id, lifecycle_state: 'expired' })).lifecycle_state, 'expired')
    await run()
    assert.equal((await stateOf(w, item_id)).lifecycle_state, 'expired')
    await card(w, org)
    await w.ok(secret, 'billing.plan.change', { plan_id: 'team' })
    assert.equal((await stateOf(w, item_id)).lifecycle_state, 'active')
  })

  await t.test('manually: on the free plan, archived files cannot be downloaded after the retention', async () => {
    const org = await w.organization()
    const secret = await key(w, org)
    const { id: item_id } = await w.ok(secret, 'items.create', {
      project_id: org.projectId,
      type: 'clip',
      name: 'n',
      assets: [{ key: 'data', href: 'https://data.example/a.tif', media_type: 'image/tiff' }],
    })
    await w.ok(secret, 'items.update', { item_id, lifecycle_state: 'archived' })
    const download = () => w.call(secret, 'items.asset.download', { item_id, asset_id: 'data' })
    assert.equal((await download()).status, 400, 'elsewhere')
    w.clock.advance({ days: 40 })
    await run()
    assert.equal((await stateOf(w, item_id)).lifecycle_state, 'archived')
    assert.equal((await download()).status, 410)
  })

  await t.test('paid: archived after 365 days without use; a download counts as use', async () => {
    const org = await w.organization()
    const secret = await key(w, org)
    await card(w, org)
    await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    const [used, unused] = [
      await w.ok(secret, 'items.create', { project_id: org.projectId, type: 'clip', name: 'used' }),
      await w.ok(secret, 'items.create', { project_id: org.projectId, type: 'clip', name: 'unused' }),
    ]
    const asset_id = await storeFile(w, used.id, { bytes: Buffer.from('pixels') })
    w.clock.advance({ days: 200 })
    await w.ok(secret, 'items.asset.download', { item_id: used.id, asset_id })
    await w.flushUsage()
    assert.equal(
      (await w.ok(secret, 'items.get', { item_id: used.id })).item.expires_at,
      new Date(w.clock.now().getTime() + 365 * DAY_MS).toISOString(),
    )
    w.clock.advance({ days: 165 })
    await run()
    const archived = await stateOf(w, unused.id)
    assert.deepEqual([archived.lifecycle_state, archived.archived_at, archived.expires_at], ['archived', w.clock.now(), null])
    assert.equal((await stateOf(w, used.id)).lifecycle_state, 'active')
    const back = await w.ok(secret, 'items.update', { item_id: unused.id, lifecycle_state: 'active' })
    assert.equal(back.archived_at, null)
    await run()
    assert.deepEqual(
      await stateOf(w, unused.id).then(({ lifecycle_state, expires_at }) => [lifecycle_state, expires_at]),
      ['active', new Date(w.clock.now().getTime() + 365 * DAY_MS)],
      'activating it counts as use',
    )
    w.clock.advance({ days: 200 })
    await run()
    assert.equal((await stateOf(w, used.id)).lifecycle_state, 'archived')
    assert.equal((await w.call(secret, 'items.asset.download', { item_id: used.id, asset_id })).status, 200, 'an archived item downloads')
  })

  await t.test('two concurrent workers, several organizations: each change once', async () => {
    const second = await world(t, { databaseUrl: w.databaseUrl, startAt: w.clock.now().toISOString() })
    const items: string[] = []
    for (let i = 0; i < 3; i++) {
      const org = await w.organization()
      for (let j = 0; j < 8; j++)
        items.push((await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })).id)
    }
    w.clock.advance({ days: 61 })
    second.clock.advance({ days: 61 })
    await Promise.all([run(), second.runTask(retain), run()])
    for (const id of items)
      assert.deepEqual(
        (await eventsOf(w, id)).map(({ type }) => type),
        ['item.created', 'item.updated', 'item.updated', 'item.deleted'],
      )
    const counts = await w.db.selectFrom('project').select('item_count').where('item_count', '<', 0).execute()
    assert.deepEqual(counts, [])
  })

  await t.test('a failure in one organization does not stop the others, and is reported', async () => {
    const [bad, good] = [await w.organization(), await w.organization()]
    const make = async (org: Org) =>
      (await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })).id as string
    const [stuck, moved] = [await make(bad), await make(good)]
    await w.db.updateTable('organization').set({ plan_id: 'vanished' }).where('id', '=', bad.id).execute()
    w.clock.advance({ days: 23 })
    await assert.rejects(run(), new RegExp(bad.id))
    assert.deepEqual([(await stateOf(w, stuck)).lifecycle_state, (await stateOf(w, moved)).lifecycle_state], ['active', 'expiring'])
    await w.db.updateTable('organization').set({ plan_id: 'free' }).where('id', '=', bad.id).execute()
    await run()
    assert.equal((await stateOf(w, stuck)).lifecycle_state, 'expiring')
  })

  await t.test('operators see what is due, and can run it', async () => {
    const staffed = await world(t, { systemAdminEmails: ['staff@example.com'] })
    const staff = await staffed.person('staff@example.com')
    const orgs = [await staffed.organization(), await staffed.organization()]
    for (const org of orgs) await staffed.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
    const fresh = async () => (await staffed.signIn(staff)).token
    assert.deepEqual(await staffed.ok(await fresh(), 'items.list_expiring'), { items: [], total: 0 })
    staffed.clock.advance({ days: 17 })
    const { items, total } = await staffed.ok(await fresh(), 'items.list_expiring', { days: 6 })
    assert.deepEqual(
      [total, items.map((item: { organization_id: string; next_state: string }) => [item.organization_id, item.next_state])],
      [2, orgs.map(({ id }) => [id, 'expiring'])],
    )
    staffed.clock.advance({ days: 14 })
    assert.deepEqual(await staffed.ok(await fresh(), 'items.expire_batch'), {
      examined: 2,
      expiring: 2,
      expired: 0,
      archived: 0,
      deleted: 0,
      remaining: true,
    })
    assert.deepEqual(await staffed.ok(await fresh(), 'items.expire_batch'), {
      examined: 2,
      expiring: 0,
      expired: 2,
      archived: 0,
      deleted: 0,
      remaining: false,
    })
    assert.deepEqual(await staffed.ok(await fresh(), 'items.expire_batch'), {
      examined: 0,
      expiring: 0,
      expired: 0,
      archived: 0,
      deleted: 0,
      remaining: false,
    })
    const events = await staffed.db.selectFrom('event').select(['org_id', 'type']).where('type', '=', 'item.updated').execute()
    assert.deepEqual(
      events.map(({ org_id }) => org_id).toSorted(),
      orgs.flatMap(({ id }) => [id, id]).toSorted(),
      'each organization gets its own events',
    )
  })
})

/** The specification's table, and what `items.update` and an upgrade can do. */
const BY_ITSELF: Record<string, LifecycleState[]> = {
  free: ['active expiring', 'expiring expired', 'expired deleted'],
  paid: ['active archived'],
} as never

// Goal: whatever time passes, plans change and users set states, every change is in the specification's table, on time, with one event.
test('retention: any history follows the state machine', async (t) => {
  const w = await world(t)
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('days' as const), days: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('days' as const), days: fc.integer({ min: 300, max: 400 }) }) },
    fc.record({ do: fc.constant('plan' as const), plan: fc.constantFrom('free', 'team', 'business') }),
    fc.record({ do: fc.constant('set' as const), state: fc.constantFrom<LifecycleState>('active', 'expiring', 'expired', 'archived') }),
    fc.record({ do: fc.constant('use' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const org = await w.organization()
      await card(w, org)
      const secret = await key(w, org)
      const { id: item_id } = await w.ok(secret, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })
      const { seq } = await w.db.selectFrom('item').select('seq').where('id', '=', item_id).executeTakeFirstOrThrow()
      let plan = 'free'
      let [rulesFrom, usedAt] = [w.clock.now(), w.clock.now()]
      const RANKS = ['free', 'team', 'business']
      const allowed = new Set<string>()
      for (const step of steps) {
        const before = (await stateOf(w, item_id)).lifecycle_state
        if (before === 'deleted') break
        if (step.do === 'days') w.clock.advance({ days: step.days })
        if (step.do === 'use') {
          w.platform.services.usage.touch(seq)
          await w.flushUsage()
          usedAt = w.clock.now()
        }
        if (step.do === 'set') {
          const isPast = plan === 'free' && w.clock.now().getTime() - rulesFrom.getTime() >= 30 * DAY_MS
          const { status } = await w.call(secret, 'items.update', { item_id, lifecycle_state: step.state })
          const isRefused = isPast && step.state !== 'expired' && step.state !== before
          assert.equal(status, isRefused ? 400 : 200)
          if (isRefused) continue
          allowed.add(`${before} ${step.state}`)
          if (step.state === 'active' && before !== 'active') usedAt = w.clock.now()
        }
        if (step.do === 'plan') {
          const isUpgrade = RANKS.indexOf(step.plan) > RANKS.indexOf(plan)
          const response = await w.ok(secret, 'billing.plan.change', { plan_id: step.plan })
          if (isUpgrade) {
            allowed.add('expired active').add('expiring active')
            assert.equal(response.reactivated_items, before === 'expired' || before === 'expiring' ? 1 : 0)
          }
          if ((plan === 'free') !== (step.plan === 'free')) rulesFrom = w.clock.now()
          plan = step.plan
        }
        await w.runTask(retain)
        for (const move of BY_ITSELF[plan === 'free' ? 'free' : 'paid']!) allowed.add(move)
        const { lifecycle_state: state, expires_at, due_at } = await stateOf(w, item_id)
        const age = (w.clock.now().getTime() - rulesFrom.getTime()) / DAY_MS
        const idle = (w.clock.now().getTime() - Math.max(rulesFrom.getTime(), usedAt.getTime())) / DAY_MS
        if (state === 'deleted') assert.ok(plan === 'free' && age >= 60, `deleted after ${age} days of ${plan}`)
        if (plan === 'free' && state === 'active') assert.ok(age < 23, `active after ${age} days`)
        if (plan === 'free' && state === 'expiring') assert.ok(age < 30, `expiring after ${age} days`)
        if (plan === 'free' && state === 'expired') assert.ok(age < 60, `expired after ${age} days`)
        if (plan !== 'free' && state === 'active') assert.ok(idle < 365, `active after ${idle} idle days`)
        if (state !== 'deleted') assert.deepEqual(due_at, expires_at, 'after a run, the date is that of the next change')
        if (state === 'archived') assert.equal(expires_at, null)
        else if (state !== 'deleted' && expires_at) assert.ok(expires_at > w.clock.now())
      }
      const events = await eventsOf(w, item_id)
      let at: unknown = 'active'
      for (const { type, data } of events.slice(1)) {
        assert.equal(data['previous_lifecycle_state'], at, 'every change has an event, in order')
        at = data['lifecycle_state']
        assert.ok(
          allowed.has(`${String(data['previous_lifecycle_state'])} ${String(at)}`),
          `${String(data['previous_lifecycle_state'])} to ${String(at)}`,
        )
        assert.equal(type === 'item.deleted', at === 'deleted')
      }
      assert.equal((await stateOf(w, item_id)).lifecycle_state, at)
      const { item_count } = await projects
        .requireReader(w.db, { kind: 'service', organizationId: null } as never, org.projectId)
        .then(({ itemCount }) => ({ item_count: itemCount }))
      assert.equal(item_count, at === 'deleted' ? 0 : 1)
    }),
    { numRuns: campaign({ short: 6, long: 25 }) },
  )
})
