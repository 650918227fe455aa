import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PutOptions } from '#ports/storage.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import run from './run.task.ts'

const MAX_POLLS = 1_000

// Goal: while a job stores its files, its stage says so and its progress follows the stored bytes.
test('storing is a stage whose progress follows the stored bytes', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 10_000, reason: 'for a test' })
  const { body } = await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 600, height: 600 }) })
  const { job } = await w.ok(token, 'processing.create_and_dispatch', {
    project_id: org.projectId,
    job_type_id: 'band_math',
    input_params: { item_id: body.item_ids[0], expression: 'b1*2' },
  })
  const currentJob = async () => (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
  const put = w.storage.put.bind(w.storage)
  let seen: [stage: string, percent: number] = ['', 0]
  const bytes: number[] = []
  t.mock.method(w.storage, 'put', async (...[at, content, options]: Parameters<typeof put>) => {
    if (!('path' in content)) return await put(at, content, options)
    for (let polls = 0; polls < MAX_POLLS && seen[0] !== 'storing'; polls++) {
      const { stage, progress } = await currentJob()
      seen = [stage, Math.round(progress)]
    }
    const onProgress: PutOptions['onProgress'] = (count) => {
      bytes.push(count)
      options.onProgress?.(count)
    }
    return await put(at, content, { ...options, onProgress })
  })
  assert.equal(await w.drain(run), 1)
  assert.deepEqual(seen, ['storing', 90])
  const done = await currentJob()
  assert.equal(done.status, 'completed')
  assert.equal(bytes.at(-1), done.output_artifacts.items[0].assets[0].size_bytes)
})
