import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import run from './run.task.ts'

// Goal: a repeated `processing.execute` returns the bytes of the first response, even while the first call still waits.
test('processing.execute, repeated with one key', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const { body } = await w.upload(token, org.projectId, { 'a.tif': await scene() })
  const input = { process_id: 'band_math', workspaceId: org.projectId, inputs: { item_id: body.item_ids[0], expression: 'b1' } }
  const headers = { 'idempotency-key': newId() }
  const execute = () => w.call(token, 'processing.execute', input, headers)
  const [first, meanwhile] = [execute(), execute()]
  while ((await w.drain(run)) === 0) await new Promise((resolve) => setImmediate(resolve))
  const response = await first
  assert.equal(response.status, 200)
  assert.equal(response.body.job.status, 'completed')
  assert.ok(response.body.outputs.items.length > 0)
  assert.deepEqual((await meanwhile).bytes, response.bytes)
  assert.deepEqual((await execute()).bytes, response.bytes)
  assert.equal((await w.ok(token, 'processing.jobs.list', { workspaceId: org.projectId })).jobs.length, 1)
})
