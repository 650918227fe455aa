import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import resume from './resume.task.ts'
import run from './run.task.ts'

const grant = async (w: World, org: Org, credits = 10_000) =>
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits, reason: 'for a test' })
const wallet = async (w: World, org: Org) => {
  const { available_credits, reserved_credits } = await w.ok(org.owner.token, 'billing.credits.balance')
  return [available_credits, reserved_credits]
}
const uploaded = async (w: World, org: Org, size = 300): Promise<string> =>
  (await w.upload(org.owner.token, org.projectId, { 'a.tif': await scene({ width: size, height: size }) })).body.item_ids[0]
const jobEvents = async (w: World, org: Org) =>
  (await w.db.selectFrom('event').select('type').where('org_id', '=', org.id).where('type', 'like', 'job.%').orderBy('seq').execute()).map(
    ({ type }) => type,
  )
const newJob = (org: Org, itemId: string, more: object = {}) => ({
  project_id: org.projectId,
  job_type_id: 'band_math',
  input_params: { item_id: itemId, expression: 'b1*2', ...more },
})

// Goal: a job is priced, reserved, run and settled; its outputs are items with lineage, or it leaves nothing.
test('processing jobs', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await grant(w, org)
  const itemId = await uploaded(w, org)
  const { token } = org.owner
  const get = async (id: string) => (await w.ok(token, 'processing.job.get', { job_id: id })).job

  await t.test('the catalogue, an estimate and a check cost nothing', async () => {
    const { processes } = await w.ok(token, 'processing.catalog.list')
    assert.ok(processes.length >= 12)
    for (const { id } of processes) {
      const process = await w.ok(token, 'processing.catalog.get', { process_id: id })
      assert.equal(process.input_schema.type, 'object')
      const described = Object.entries(process.input_schema.properties).filter(
        ([, schema]) => !(schema as { description?: string }).description,
      )
      assert.deepEqual(described, [], `${id} describes every parameter`)
    }
    assert.equal((await w.call(token, 'processing.catalog.get', { process_id: 'nothing' })).status, 404)
    const estimate = await w.ok(token, 'processing.catalog.estimate', {
      process_id: 'band_math',
      inputs: { item_id: itemId, expression: 'b1' },
    })
    assert.ok(estimate.credits >= 5 && estimate.aud === estimate.credits / 100)
    assert.deepEqual(
      await w.ok(token, 'processing.catalog.validate', { process_id: 'band_math', inputs: { item_id: itemId, expression: 'b1' } }),
      {
        valid: true,
        errors: [],
      },
    )
    const bad = await w.ok(token, 'processing.catalog.validate', {
      process_id: 'band_math',
      inputs: { item_id: itemId, expression: 'b1 +' },
    })
    assert.deepEqual([bad.valid, bad.errors[0].field], [false, 'expression'])
    const unknown = await w.ok(token, 'processing.catalog.validate', { process_id: 'band_math', inputs: { nothing: 1 } })
    assert.deepEqual(
      [unknown.valid, unknown.errors.map(({ field }: { field: string }) => field).toSorted()],
      [false, ['inputs.expression', 'inputs.item_id', 'inputs.nothing']],
    )
    assert.deepEqual(await wallet(w, org), [10_000, 0])
  })

  await t.test('from creation to the item, with credits, events and lineage', async () => {
    const key = newId()
    const { body: created } = await w.call(token, 'processing.create', newJob(org, itemId), { 'idempotency-key': key })
    assert.equal(created.job.status, 'pending')
    const again = await w.call(token, 'processing.create', newJob(org, itemId), { 'idempotency-key': key })
    assert.equal(again.body.job.id, created.job.id)
    const cost = created.job.reserved_credits as number
    assert.deepEqual(await wallet(w, org), [10_000 - cost, cost])
    assert.equal(await w.drain(run), 0, 'it does not run before it is dispatched')
    const { dispatch } = await w.ok(token, 'processing.dispatch', { job_id: created.job.id })
    assert.equal(dispatch.job_id, created.job.id)
    assert.equal((await w.call(token, 'processing.dispatch', { job_id: created.job.id })).status, 400)
    assert.equal(await w.drain(run), 1)
    const done = await get(created.job.id)
    assert.deepEqual([done.status, done.progress, done.captured_credits, done.error], ['completed', 100, cost, null])
    assert.deepEqual(await wallet(w, org), [10_000 - cost, 0])
    assert.deepEqual(await jobEvents(w, org), ['job.created', 'job.started', 'job.completed', 'job.captured'])
    const [outputId] = done.output_item_ids
    const { item } = await w.ok(token, 'items.get', { item_id: outputId })
    assert.deepEqual([item.type, item.job_id, item.project_id], ['derived_raster', done.id, org.projectId])
    const graph = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: outputId, direction: 'up' })
    const edges = graph.edges.map(({ relation, dst_type, dst_id }: Record<string, string>) => `${relation} ${dst_type} ${dst_id}`)
    for (const edge of [`produced_by processing_job ${done.id}`, `derived_from item ${itemId}`, `used item ${itemId}`])
      assert.ok(edges.includes(edge), `${edge} is in ${edges.join('; ')}`)
    const tile = await w.ok(token, 'items.tile.tilejson', { item_id: outputId })
    assert.ok(tile.tiles[0].includes(outputId))
    const middle = { longitude: (item.bbox[0] + item.bbox[2]) / 2, latitude: (item.bbox[1] + item.bbox[3]) / 2 }
    const [from, to] = await Promise.all([itemId, outputId].map((id) => w.ok(token, 'items.point', { item_id: id, ...middle })))
    assert.equal(to.bands[0].value, from.bands[0].value * 2)
  })

  await t.test('invalid jobs are rejected before anything is reserved', async () => {
    const before = await wallet(w, org)
    const refused = async (input: object, status: number, field?: string) => {
      const response = await w.call(token, 'processing.create_and_dispatch', input)
      assert.equal(response.status, status, JSON.stringify(response.body))
      if (field) assert.equal(response.body.errors[0].field, field)
    }
    await refused(newJob(org, itemId, { expression: 'b9' }), 422, 'expression')
    await refused(newJob(org, itemId, { colour: 'red' }), 422, 'input_params.colour')
    await refused(newJob(org, newId()), 404)
    await refused({ ...newJob(org, itemId), job_type_id: 'nothing' }, 404)
    await refused({ ...newJob(org, itemId), project_id: newId() }, 404)
    const far = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    }
    await refused(newJob(org, itemId, { geometry: far }), 400)
    assert.deepEqual(await wallet(w, org), before)
  })

  await t.test('a job that fails costs nothing', async () => {
    const before = await wallet(w, org)
    const gone = await uploaded(w, org)
    const { body } = await w.call(token, 'processing.create_and_dispatch', newJob(org, gone))
    await w.ok(token, 'items.delete', { item_id: gone })
    await w.drain(run)
    const failed = await get(body.job.id)
    assert.deepEqual([failed.status, failed.captured_credits], ['failed', 0])
    assert.deepEqual(await wallet(w, org), before)
    assert.deepEqual((await jobEvents(w, org)).slice(-2), ['job.failed', 'job.released'])
    const poor = await w.organization()
    const theirs = await uploaded(w, poor)
    assert.equal((await w.call(poor.owner.token, 'processing.create', newJob(poor, theirs))).status, 402)
  })

  await t.test('a crashed run is resumed, and a job that crashes repeatedly fails', async () => {
    const { job } = await w.ok(token, 'processing.create_and_dispatch', newJob(org, itemId))
    const died = {
      status: 'running' as const,
      run_id: newId(),
      attempts: 1,
      heartbeat_at: w.clock.now(),
      started_at: w.clock.now(),
      updated_at: w.clock.now(),
    }
    await w.db.updateTable('processing_job').set(died).where('id', '=', job.id).execute()
    await w.drain(run)
    assert.equal((await get(job.id)).status, 'running', 'another run has it')
    w.clock.advance({ seconds: 90 })
    await w.runTask(resume)
    assert.equal(await w.drain(run), 1)
    assert.equal((await get(job.id)).status, 'completed')
    const { job: unbegun } = await w.ok(token, 'processing.create_and_dispatch', newJob(org, itemId))
    w.clock.advance({ seconds: 90 })
    await w.runTask(resume)
    const lost = sql`delete from queue.job where name = ${run.name} and state < 'active'`
    assert.equal((await lost.execute(w.db)).numAffectedRows, 1n, 'what waits in the queue is not queued again')
    w.clock.advance({ seconds: 90 })
    await w.runTask(resume)
    assert.equal(await w.drain(run), 1, 'a task that was taken from the queue but never started is enqueued again')
    assert.equal((await get(unbegun.id)).status, 'completed')
    const { job: doomed } = await w.ok(token, 'processing.create_and_dispatch', newJob(org, itemId))
    await w.db
      .updateTable('processing_job')
      .set({ ...died, attempts: 4, heartbeat_at: null })
      .where('id', '=', doomed.id)
      .execute()
    await w.drain(run)
    assert.equal((await get(doomed.id)).status, 'failed')
  })

  await t.test('timeouts: pending jobs are cancelled, silent ones fail, and all credits are released', async () => {
    const before = await wallet(w, org)
    const { job: pending } = await w.ok(token, 'processing.create', newJob(org, itemId))
    const { job: waiting } = await w.ok(token, 'processing.create_and_dispatch', newJob(org, itemId))
    w.clock.advance({ days: 8 })
    const owner = await w.signIn(org.owner)
    await w.runTask(resume)
    const state = async (id: string) => (await w.ok(owner.token, 'processing.job.get', { job_id: id })).job.status
    assert.deepEqual([await state(pending.id), await state(waiting.id)], ['cancelled', 'failed'])
    await w.drain(run)
    assert.deepEqual([await state(pending.id), await state(waiting.id)], ['cancelled', 'failed'])
    org.owner.token = owner.token
    assert.deepEqual(await wallet(w, org), before)
  })

  await t.test('lists, the jobs of a project, and a deleted job', async () => {
    const { token } = org.owner
    const page = await w.ok(token, 'processing.jobs.list', { limit: 2 })
    assert.deepEqual([page.jobs.length, page.limit, page.page], [2, 2, 0])
    const failed = await w.ok(token, 'processing.jobs.list', { status: 'failed', processId: 'band_math', ids: page.jobs[0].id })
    assert.ok(failed.jobs.every(({ status }: { status: string }) => status === 'failed'))
    const { total } = await w.ok(token, 'processing.project_jobs.list', { project_id: org.projectId })
    assert.equal(total, page.total)
    assert.equal((await w.ok(token, 'processing.project_job.get', { job_id: page.jobs[0].id })).job.id, page.jobs[0].id)
    assert.ok((await w.ok(token, 'processing.job_types.list', { category: 'terrain' })).count >= 3)
    const before = await wallet(w, org)
    const { job } = await w.ok(token, 'processing.create', newJob(org, itemId))
    assert.equal((await w.call(token, 'processing.job.delete', { job_id: job.id })).status, 403, 'it takes clip:destroy')
    await w.ok(await w.serviceToken(org.id), 'processing.job.delete', { job_id: job.id })
    assert.equal((await w.call(token, 'processing.job.get', { job_id: job.id })).status, 404)
    assert.deepEqual(await wallet(w, org), before)
  })

  await t.test('execute waits for the end of the job', async () => {
    const { token } = org.owner
    const input = { process_id: 'band_math', workspaceId: org.projectId, inputs: { item_id: itemId, expression: 'b1' } }
    const answering = w.call(token, 'processing.execute', input)
    for (let nth = 0; nth < 200 && (await w.drain(run)) === 0; nth++) await new Promise((resolve) => setImmediate(resolve))
    const { body } = await answering
    assert.equal(body.job.status, 'completed')
    assert.equal(body.outputs.items.length, 1)
    const quick = await w.ok(token, 'processing.execute', { ...input, wait_seconds: 0 })
    assert.equal(quick.outputs, null)
    await w.drain(run)
    const { tiles } = await w.ok(await w.serviceToken(org.id), 'processing.job.tile_info', { job_id: body.job.id })
    assert.equal(tiles[0].item_id, body.outputs.items[0].item_id)
  })

  assert.deepEqual(await moneyViolations(w.db), [])
})
