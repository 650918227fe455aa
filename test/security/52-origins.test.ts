import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import run from '../../src/domains/processing/run.task.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const CLIPPER = 'clipper@example.com'
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

// Goal: an item cannot claim to come from another's job, order or upload; outputs of a job are only those that it created.
test('row 52: items that claim to come from a job', async (t) => {
  const w = await world(t, { clipUserEmail: CLIPPER })
  const [org, stranger] = [await w.organization(), await w.organization()]
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const clipper = await w.join(await w.person(CLIPPER), org, 'admin')
  const { token } = org.owner
  const { body: uploaded } = await w.upload(token, org.projectId, { 'a.tif': await scene() })
  const clip = await w.call(
    token,
    'clip.create_from_item',
    { source_item_id: uploaded.item_ids[0], project_id: org.projectId, aoi_geometry: AREA },
    { 'idempotency-key': newId() },
  )
  assert.equal(clip.status, 200, JSON.stringify(clip.body))
  await w.drain(run)
  const job_id: string = clip.body.job.id
  const upload = await w.db.selectFrom('upload_session').select('id').where('org_id', '=', org.id).executeTakeFirstOrThrow()
  const create = (who: typeof org, more: object) =>
    w.call(who.owner.token, 'items.create', { project_id: who.projectId, type: 'clip', name: 'mine', ...more })

  await t.test('IDs of another organization get the same error as unknown IDs', async () => {
    for (const [field, id] of [
      ['job_id', job_id],
      ['upload_id', upload.id],
      ['job_id', newId()],
      ['upload_id', newId()],
      ['order_id', newId()],
      ['order_id', 'nothing'],
    ] as const) {
      const { status, body } = await create(stranger, { [field]: id })
      assert.equal(status, 422, `${field}: ${JSON.stringify(body)}`)
      assert.equal(body.errors[0].field, field)
      assert.match(body.errors[0].message, /in this project/)
    }
  })

  await t.test('so do IDs of another project of the same organization', async () => {
    const other = await w.ok(token, 'projects.create', { name: 'Other' })
    assert.equal((await w.call(token, 'items.create', { project_id: other.id, type: 'clip', name: 'x', job_id })).status, 422)
  })

  await t.test('an item registered for a job is not one of its clips, and stays when the job is deleted', async () => {
    const { status, body } = await create(org, { job_id, upload_id: upload.id })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.job_id, job_id)
    // Its file comes later, by an upload to it.
    const more = await w.upload(token, org.projectId, { 'planted.tif': await scene() }, { target_item_id: body.id })
    assert.equal(more.status, 200, JSON.stringify(more.body))
    const files = await w.ok(clipper.token, 'clip.job.downloads', { job_id })
    assert.ok(!JSON.stringify(files).includes('planted'), JSON.stringify(files))
    await w.ok(clipper.token, 'clip.job.delete', { job_id })
    assert.equal((await w.call(token, 'items.get', { item_id: body.id })).status, 200)
  })
})
