import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import * as computeQuotas from '#model/plans/compute-quota.ts'
import * as retention from '#model/imagery/retention.ts'
import applyPlan from './apply-plan.task.ts'
import retain from '#domains/items/retain.task.ts'
import { world, type Org } from '../../../test/support/world.ts'

const GIB = 1024 ** 3

// Goal: owners, admins and the billing admin can change the plan: limits and retention change at once, nothing is lost, and every
// change emits an event.
test('billing.plan.change', async (t) => {
  const w = await world(t)
  const card = (org: Org) =>
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
  const items = async (org: Org, states: string[]) => {
    const ids: string[] = []
    for (const lifecycle_state of states) {
      const { id: item_id } = await w.ok(org.owner.token, 'items.create', {
        project_id: org.projectId,
        type: 'clip',
        name: lifecycle_state,
      })
      if (lifecycle_state !== 'active') await w.ok(org.owner.token, 'items.update', { item_id, lifecycle_state })
      ids.push(item_id)
    }
    return ids
  }
  const states = async (ids: string[]) =>
    (await w.db.selectFrom('item').select(['lifecycle_state', 'expires_at']).where('id', 'in', ids).orderBy('seq').execute()).map(
      ({ lifecycle_state, expires_at }) =>
        `${lifecycle_state} ${expires_at === null ? 'never' : Math.round((expires_at.getTime() - w.clock.now().getTime()) / DAY_MS)}`,
    )

  await t.test('the plans', async () => {
    const { owner } = await w.organization()
    const { plans, count, current_plan_id } = await w.ok(owner.token, 'billing.plans.list')
    assert.deepEqual([count, current_plan_id, plans.map((plan: { id: string }) => plan.id)], [3, 'free', ['free', 'team', 'business']])
    assert.deepEqual(plans[0], {
      id: 'free',
      name: 'Free',
      monthly_aud: 0,
      storage_bytes: 10 * GIB,
      compute_jobs: 10,
      processing_jobs: 100,
      egress_bytes: 20 * GIB,
      retention: { expiring_after_days: 23, expired_after_days: 30, deleted_after_days: 60, archived_after_idle_days: null },
    })
    assert.deepEqual(
      [plans[1].storage_bytes, plans[1].compute_jobs, plans[1].egress_bytes, plans[1].retention.archived_after_idle_days],
      [1024 * GIB, 1_000, 1024 * GIB, 365],
    )
    assert.equal((await w.ok((await w.person()).token, 'billing.plans.list')).current_plan_id, null)
  })

  await t.test('a paid plan requires a card or enterprise billing; otherwise nothing changes', async () => {
    const org = await w.organization()
    const refused = await w.call(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    assert.deepEqual([refused.status, refused.body.title, refused.body.code], [402, 'Payment Method Required', 'payment-method-required'])
    assert.equal((await w.call(org.owner.token, 'billing.plan.change', { plan_id: 'gold' })).status, 422)
    assert.equal((await w.ok(org.owner.token, 'organizations.get')).plan, 'free')
    const enterprise = await w.organization()
    await w.db.updateTable('organization').set({ enterprise_status: 'confirmed' }).where('id', '=', enterprise.id).execute()
    assert.equal((await w.ok(enterprise.owner.token, 'billing.plan.change', { plan_id: 'business' })).plan.id, 'business')
    assert.equal((await w.ok(enterprise.owner.token, 'organizations.get')).plan, 'business')
  })

  await t.test('owners, admins and the billing admin can change it; other members cannot', async () => {
    const org = await w.organization()
    await card(org)
    const [member, payer] = [await w.member(org, 'admin'), await w.member(org)]
    await w.db.updateTable('organization').set({ billing_admin_id: payer.id }).where('id', '=', org.id).execute()
    assert.equal((await w.call(member.token, 'billing.plan.change', { plan_id: 'team' })).status, 403)
    assert.equal((await w.call(payer.token, 'billing.plan.change', { plan_id: 'team' })).status, 200)
    assert.equal((await w.call((await w.key(member.token, ['write'])).key, 'billing.plan.change', { plan_id: 'free' })).status, 403)
  })

  await t.test('an upgrade reactivates expired items, with an event each; a downgrade starts the new retention today', async () => {
    const org = await w.organization()
    await card(org)
    const ids = await items(org, ['active', 'expiring', 'expired', 'archived'])
    w.clock.advance({ seconds: 1 })
    const up = await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    assert.deepEqual(
      [up.previous_plan_id, up.changed, up.reactivated_items, up.continues_in_background, up.exceeded],
      ['free', true, 2, false, []],
    )
    assert.deepEqual(await states(ids), ['active 365', 'active 365', 'active 365', 'archived never'])
    const events = await w.db
      .selectFrom('event')
      .select(['entity_id', 'data'])
      .where('entity_id', 'in', ids)
      .where('type', '=', 'item.updated')
      .where('invocation_id', '=', (e) =>
        e.selectFrom('organization_plan').select('invocation_id').where('org_id', '=', org.id).where('plan_id', '=', 'team'),
      )
      .orderBy('seq')
      .execute()
    assert.deepEqual(
      events.map(({ entity_id }) => entity_id),
      ids.slice(1, 3),
    )
    const again = await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    assert.deepEqual([again.changed, again.reactivated_items, again.effective_at], [false, 0, up.effective_at])
    w.clock.advance({ days: 400 })
    const owner = await w.signIn(org.owner)
    const down = await w.ok(owner.token, 'billing.plan.change', { plan_id: 'free' })
    assert.deepEqual([down.changed, down.reactivated_items], [true, 0])
    assert.deepEqual(await states(ids), ['active 23', 'active 23', 'active 23', 'archived never'], 'old items have the whole window')
    const history = await w.db
      .selectFrom('organization_plan')
      .select(['plan_id', 'changed_by'])
      .where('org_id', '=', org.id)
      .orderBy('started_at')
      .execute()
    assert.deepEqual(
      history.map(({ plan_id }) => plan_id),
      ['free', 'team', 'free'],
    )
    assert.ok(history.every(({ changed_by }) => changed_by === org.owner.id))
  })

  await t.test('usage above the limits is kept and explained; new usage is rejected', async () => {
    const org = await w.organization()
    await card(org)
    await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    await w.db
      .updateTable('storage_account')
      .set({ used_bytes: 11 * GIB })
      .where('org_id', '=', org.id)
      .execute()
    const started = await Promise.allSettled(
      Array.from({ length: 15 }, () => w.db.transaction().execute((tx) => computeQuotas.take(tx, org.id, 'compute_jobs', w.clock.now()))),
    )
    assert.ok(started.every(({ status }) => status === 'fulfilled'))
    const { exceeded } = await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'free' })
    assert.deepEqual(
      exceeded.map(({ limit, used, allowed }: Record<string, unknown>) => [limit, used, allowed]),
      [
        ['storage_bytes', 11 * GIB, 10 * GIB],
        ['compute_jobs', 15, 10],
      ],
    )
    assert.match(exceeded[0].message, /Nothing is deleted/)
    await assert.rejects(
      w.db.transaction().execute((tx) => computeQuotas.take(tx, org.id, 'compute_jobs', w.clock.now())),
      { slug: 'compute-quota-exceeded', status: 402, title: 'Compute Quota Exceeded', members: { used: 15, limit: 10 } },
    )
  })

  await t.test('200 concurrent jobs on the free plan: ten start; the next month allows ten more', async () => {
    const org = await w.organization()
    const take = () => w.db.transaction().execute((tx) => computeQuotas.take(tx, org.id, 'compute_jobs', w.clock.now()))
    const results = await Promise.allSettled(Array.from({ length: 200 }, take))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10)
    w.clock.advance({ days: 31 })
    await take()
  })

  await t.test('items created while the plan changes expire by the final plan', async () => {
    const org = await w.organization()
    await card(org)
    const owner = await w.signIn(org.owner)
    const { key } = await w.key(owner.token, ['read', 'write'])
    const plans = ['team', 'free', 'business', 'free', 'team']
    const responses = await Promise.all([
      ...plans.map((plan_id) => w.call(key, 'billing.plan.change', { plan_id })),
      ...Array.from({ length: 30 }, () => w.call(key, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n' })),
    ])
    assert.ok(
      responses.every(({ status }) => status === 200),
      JSON.stringify(responses.map(({ status }) => status)),
    )
    const { plan } = await w.ok(key, 'organizations.get')
    const rows = await w.db.selectFrom('item').select('expires_at').where('org_id', '=', org.id).execute()
    const expected = new Date(w.clock.now().getTime() + (plan === 'free' ? 23 : 365) * DAY_MS)
    assert.equal(rows.length, 30)
    for (const { expires_at } of rows) assert.deepEqual(expires_at, expected)
  })

  await t.test(
    'everything concurrently: plans, retention, collections, items, accesses; no deadlock, and the counters stay correct',
    async () => {
      const org = await w.organization()
      await card(org)
      const { key } = await w.key(org.owner.token, ['read', 'write'])
      const second = (await w.ok(key, 'projects.create', { name: 'Second' })).id as string
      const ids: string[] = []
      for (const project_id of [org.projectId, second]) {
        const { id: collection_id } = await w.ok(key, 'collections.create', { project_id, name: 'c' })
        for (let i = 0; i < 10; i++) ids.push((await w.ok(key, 'items.create', { project_id, collection_id, type: 'clip', name: 'n' })).id)
      }
      const rows = await w.db.selectFrom('item').select('seq').where('id', 'in', ids).execute()
      for (let round = 0; round < 4; round++) {
        w.clock.advance({ days: 8 })
        for (const { seq } of rows.toReversed()) w.platform.services.usage.touch(seq)
        const collections = await w.db
          .selectFrom('collection')
          .select(['id', 'project_id'])
          .where('org_id', '=', org.id)
          .where('deleted_at', 'is', null)
          .execute()
        const responses = await Promise.all([
          ...['team', 'free', 'business', 'free'].map((plan_id) => w.call(key, 'billing.plan.change', { plan_id })),
          ...ids.slice(round * 2, round * 2 + 6).map((item_id) => w.call(key, 'items.update', { item_id, lifecycle_state: 'expired' })),
          ...ids.slice(-round - 1).map((item_id) => w.call(key, 'items.delete', { item_id })),
          ...collections
            .slice(0, 1)
            .map(({ id: collection_id, project_id }) => w.call(key, 'collections.delete', { project_id, collection_id })),
          ...[org.projectId, second].map((project_id) => w.call(key, 'items.create', { project_id, type: 'clip', name: 'n' })),
          w.call(key, 'usage.recalculate_storage'),
          w.runTask(retain).then(() => ({ status: 200 })),
          w.runTask(retain).then(() => ({ status: 200 })),
          w.flushUsage().then(() => ({ status: 200 })),
          ...[org.projectId, second].map((project_id) =>
            w.runTask(applyPlan, { organization_id: org.id, project_id, seq: 0, revive: false }).then(() => ({ status: 200 })),
          ),
        ])
        assert.ok(
          responses.every(({ status }) => [200, 404, 429].includes(status)),
          JSON.stringify(responses.map(({ status }) => status)),
        )
      }
      for (const project_id of [org.projectId, second]) {
        const { n } = await w.db
          .selectFrom('item')
          .select((e) => e.fn.countAll<number>().as('n'))
          .where('project_id', '=', project_id)
          .where('deleted_at', 'is', null)
          .executeTakeFirstOrThrow()
        assert.equal((await w.ok(key, 'projects.get', { project_id })).item_count, n)
      }
    },
  )

  await t.test('a large catalogue is updated in the background, batch by batch', async () => {
    const org = await w.organization()
    await card(org)
    const owner = await w.signIn(org.owner)
    const projects = [org.projectId, (await w.ok(owner.token, 'projects.create', { name: 'Second' })).id as string].toSorted()
    const ids: string[] = []
    for (const project_id of projects)
      for (let i = 0; i < 4; i++) ids.push((await w.ok(owner.token, 'items.create', { project_id, type: 'clip', name: 'n' })).id)
    await w.db.updateTable('item').set({ lifecycle_state: 'expired' }).where('id', 'in', ids).execute()
    await w.db.updateTable('organization').set({ plan_id: 'team', retention_since: w.clock.now() }).where('id', '=', org.id).execute()
    const batches: number[] = []
    let from: retention.Place | null = null
    do {
      const { moved, next }: Awaited<ReturnType<typeof retention.recalculateDates>> = await w.db
        .transaction()
        .execute((tx) => retention.recalculateDates(tx, org.id, { from, limit: 3, revive: true, now: w.clock.now() }))
      batches.push(moved.length)
      from = next
    } while (from && batches.length < 2)
    assert.deepEqual(batches, [3, 3])
    await w.runTask(applyPlan, { organization_id: org.id, project_id: from!.projectId, seq: from!.seq, revive: true })
    await w.runTask(applyPlan, { organization_id: org.id, project_id: from!.projectId, seq: from!.seq, revive: true })
    assert.deepEqual(await states(ids), Array(8).fill('active 365'))
    assert.equal(
      (await w.db.selectFrom('event').select('seq').where('org_id', '=', org.id).where('type', '=', 'item.updated').execute()).length,
      2,
      'the task emitted events for the last two, once',
    )
  })

  await t.test('the default card of a paid plan cannot be removed until another is the default or the plan is free', async () => {
    const org = await w.organization()
    const attach = async (payment_method_id: string) => (await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id })).id
    const detach = (id: string) => w.call(org.owner.token, 'payment_methods.detach', { payment_method_row_id: id })
    const change = (plan_id: string) => w.call(org.owner.token, 'billing.plan.change', { plan_id })
    const first = await attach('pm_card_visa')
    assert.equal((await change('team')).status, 200)
    const refused = await detach(first)
    assert.deepEqual([refused.status, refused.body.code], [400, 'bad-request'])
    assert.match(refused.body.detail, /'Team' is paid with this card/)
    const second = await attach('pm_card_mastercard')
    assert.equal((await detach(second)).status, 200, 'a card that is not the default can be removed')
    assert.equal((await change('free')).status, 200)
    assert.equal((await detach(first)).status, 200)
    assert.equal((await change('team')).status, 402)
  })

  await t.test('a card removed while the plan changes: never a paid plan without a card', async () => {
    for (let round = 0; round < 10; round++) {
      const org = await w.organization()
      const { id } = await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
      await Promise.all([
        w.call(org.owner.token, 'billing.plan.change', { plan_id: 'team' }),
        w.call(org.owner.token, 'payment_methods.detach', { payment_method_row_id: id }),
      ])
      const { plan } = await w.ok(org.owner.token, 'organizations.get')
      const { payment_methods: cards } = await w.ok(org.owner.token, 'payment_methods.list')
      assert.ok(plan === 'free' || cards.length === 1, `${plan} with ${cards.length} cards`)
    }
  })
})
