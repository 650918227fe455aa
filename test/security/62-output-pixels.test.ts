import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import run from '../../src/domains/processing/run.task.ts'
import { violations } from '../faults/invariants.ts'
import { scene } from '../support/scene.ts'
import { world, type Org, type World } from '../support/world.ts'

const DEGREES = 0.0001
const SIDE = 512

/** Of all that must hold, what is about storage and money: the clock of a test is not the database's. */
const broken = async (w: World) => (await violations(w.db)).filter(({ rule }) => /promised|stores|counts its items|money/.test(rule))

// Goal: what a job would write is known, bounded, priced and has its room before anything is charged or computed, for every process;
// and organizations take turns at the machines.
test('row 62: jobs with outputs a million times their input', async (t) => {
  const w = await world(t)
  const service = await w.serviceToken()
  const funded = async () => {
    const org = await w.organization()
    await w.ok(service, 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
    const { body } = await w.upload(org.owner.token, org.projectId, {
      'a.tif': await scene({ width: SIDE, height: SIDE, degrees: DEGREES, dataType: 'uint8' }),
    })
    return { ...org, itemId: body.item_ids[0] as string }
  }
  const start = (org: Org, job_type_id: string, input_params: object, operation = 'processing.create_and_dispatch') =>
    w.call(org.owner.token, operation, { project_id: org.projectId, job_type_id, input_params }, { 'idempotency-key': newId() })
  const account = (org: Org) =>
    w.db.selectFrom('storage_account').select(['used_bytes', 'reserved_bytes']).where('org_id', '=', org.id).executeTakeFirstOrThrow()
  const wallet = async (org: Org) => (await w.ok(org.owner.token, 'billing.credits.balance')).reserved_credits as number

  await t.test('512² to 512,000² is rejected by everything that has a resolution, and nothing is charged', async () => {
    const org = await funded()
    const { itemId: item_id } = org
    const cases: [string, object][] = [
      ['resample', { item_id, resolution: DEGREES / 1_000 }],
      ['reproject', { item_id, epsg: 3857, resolution: 0.01 }],
      ['mosaic', { item_ids: [item_id], resolution: DEGREES / 1_000 }],
      ['composite', { item_ids: [item_id], epsg: 3857, resolution: 0.01 }],
    ]
    for (const [process, params] of cases) {
      const answer = await start(org, process, params)
      assert.equal(answer.status, 422, `${process}: ${JSON.stringify(answer.body)}`)
      assert.equal(answer.body.errors[0].field, 'resolution')
      assert.match(answer.body.errors[0].message, /10,000,000,000 pixels/)
      const estimated = await w.call(org.owner.token, 'processing.catalog.estimate', { process_id: process, inputs: params })
      assert.equal(estimated.status, 422, process)
    }
    assert.equal(await wallet(org), 0)
    assert.equal((await account(org)).reserved_bytes, 0)
  })

  await t.test('finer outputs cost more, in the estimate and in the reservation', async () => {
    const org = await funded()
    await w.db.updateTable('organization').set({ plan_id: 'business' }).where('id', '=', org.id).execute()
    const params = { item_id: org.itemId, resolution: DEGREES / 100 }
    const { credits } = await w.ok(org.owner.token, 'processing.catalog.estimate', { process_id: 'resample', inputs: params })
    // 51,200² pixels of four bands.
    assert.ok(credits >= 10, String(credits))
    const created = await start(org, 'resample', params, 'processing.create')
    assert.equal(created.status, 200, JSON.stringify(created.body))
    assert.equal(created.body.job.reserved_credits, credits)
    const ordinary = await w.ok(org.owner.token, 'processing.catalog.estimate', {
      process_id: 'resample',
      inputs: { item_id: org.itemId, resolution: DEGREES },
    })
    assert.equal(ordinary.credits, 5)
  })

  await t.test('storage is reserved with the job and settled when it ends; a job that does not fit is rejected', async () => {
    const org = await funded()
    const before = await account(org)
    const created = await start(org, 'band_math', { item_id: org.itemId, expression: 'b1' })
    assert.equal(created.status, 200)
    const during = await account(org)
    assert.ok(during.reserved_bytes >= SIDE * SIDE * 4, JSON.stringify(during))
    assert.deepEqual(await broken(w), [])
    await w.drain(run)
    const after = await account(org)
    assert.equal(after.reserved_bytes, 0)
    assert.ok(after.used_bytes > before.used_bytes)
    assert.deepEqual(await broken(w), [])
    // 10 GiB are not enough for 51,200² pixels of four bands.
    const large = await start(org, 'resample', { item_id: org.itemId, resolution: DEGREES / 100 })
    assert.equal(large.status, 402, JSON.stringify(large.body))
    assert.ok(large.body.used > 0 && large.body.limit > 0, JSON.stringify(large.body))
    assert.equal(await wallet(org), 0)
    assert.deepEqual(await account(org), after)
  })

  await t.test('a failed job releases its storage', async () => {
    const org = await funded()
    assert.equal((await start(org, 'band_math', { item_id: org.itemId, expression: 'b1' })).status, 200)
    await w.ok(org.owner.token, 'items.delete', { item_id: org.itemId })
    await w.drain(run)
    assert.equal((await account(org)).reserved_bytes, 0)
    assert.deepEqual(await broken(w), [])
  })

  await t.test('organizations are served in rotation: another’s job is next, however many are queued before it', async () => {
    const [many, other] = [await funded(), await funded()]
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await start(many, 'band_math', { item_id: many.itemId, expression: `b1+${n}` })).body.job.id)
    const theirs = (await start(other, 'band_math', { item_id: other.itemId, expression: 'b1' })).body.job.id
    await w.drain(run)
    const rows = await w.db
      .selectFrom('processing_job')
      .select(['id', 'status', 'completed_at'])
      .where('id', 'in', [...ids, theirs])
      .orderBy('updated_at')
      .execute()
    assert.deepEqual(
      rows.map(({ status }) => status),
      Array.from({ length: 6 }, () => 'completed'),
    )
    const completions = await w.db.selectFrom('event').select('entity_id').where('type', '=', 'job.completed').orderBy('seq').execute()
    const order = completions.map(({ entity_id }) => entity_id).filter((id) => id === theirs || ids.includes(id))
    assert.ok(order.indexOf(theirs) <= 1, `it was number ${order.indexOf(theirs) + 1} of 6`)
  })

  await t.test('one organization uses at most half of the slots', async () => {
    const [many, other] = [await funded(), await funded()]
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push((await start(many, 'band_math', { item_id: many.itemId, expression: `b1+${n}` })).body.job.id)
    // Two of them run elsewhere.
    const busy = { status: 'running' as const, run_id: newId(), heartbeat_at: w.clock.now(), started_at: w.clock.now() }
    await w.db.updateTable('processing_job').set(busy).where('id', 'in', ids.slice(0, 2)).execute()
    const theirs = (await start(other, 'band_math', { item_id: other.itemId, expression: 'b1' })).body.job.id
    await w.runTask(run, { job_id: ids[2]! })
    const statusOf = async (id: string) =>
      (await w.db.selectFrom('processing_job').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
    assert.equal(await statusOf(theirs), 'completed', 'the free slot went to the other organization')
    await w.runTask(run, { job_id: ids[2]! })
    assert.equal(await statusOf(ids[2]!), 'dispatched', 'two run already')
    await w.db.updateTable('processing_job').set({ heartbeat_at: null }).where('id', '=', ids[0]!).execute()
    await w.runTask(run, { job_id: ids[2]! })
    assert.equal(await statusOf(ids[2]!), 'completed')
  })
})
