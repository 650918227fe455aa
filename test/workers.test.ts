import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { workersOf } from '#adapters/workers/registry.ts'
import { scene } from './support/scene.ts'
import { until } from './support/service.ts'
import { world } from './support/world.ts'

const SECRET = 'wrk_secret-of-the-guide-worker'
const FOLDER = path.join(import.meta.dirname, '../docs/guides/workers')
const run = promisify(execFile)
const hasPython = spawnSync('python3', ['--version']).status === 0

// Goal: the guide's workers work as described, each with its own job, against a live service.
test('the workers of the guide', async (t) => {
  const secret_sha256 = createHash('sha256').update(SECRET).digest('hex')
  const w = await world(t, { workers: workersOf([{ name: 'guide', job_types: ['cog_convert'], secret_sha256 }], ['cog_convert']) })
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 64, height: 64 }) })).body.item_ids[0] as string
  const newJob = async () =>
    (
      await w.ok(token, 'processing.create_and_dispatch', {
        project_id: org.projectId,
        job_type_id: 'cog_convert',
        input_params: { item_id: itemId },
      })
    ).job.id as string
  const get = async (id: string) => (await w.ok(token, 'processing.job.get', { job_id: id })).job
  const env = (command: string) => ({
    PATH: process.env['PATH'] ?? '',
    BASE: w.baseUrl,
    WORKER_SECRET: SECRET,
    ONCE: '1',
    COMMAND: command,
  })

  for (const { name, program, skip } of [
    { name: 'TypeScript', program: [process.execPath, path.join(FOLDER, 'worker.ts')], skip: false },
    { name: 'Python', program: ['python3', path.join(FOLDER, 'worker.py')], skip: !hasPython && 'Python is not on this machine' },
  ])
    await t.test(name, { skip }, async () => {
      const [good, other] = [await newJob(), await newJob()]
      await run(program[0]!, program.slice(1), { env: env('cp {input} {output}') })
      for (const id of [good, other]) assert.deepEqual([(await get(id)).status, (await get(id)).output_item_ids.length], ['completed', 1])
      const bad = await newJob()
      await run(program[0]!, program.slice(1), { env: env('false {input} {output}') })
      assert.equal((await get(bad)).status, 'failed')
      const cancelled = await newJob()
      const working = run(program[0]!, program.slice(1), { env: { ...env('sleep 3600'), REPORT_EVERY_SECONDS: '0.1' } })
      await until('the command to run', async () => (await get(cancelled)).stage === 'computing')
      await w.ok(token, 'processing.job.cancel', { job_id: cancelled })
      assert.match((await working).stdout, new RegExp(`${cancelled} was cancelled`), 'the command is stopped, not waited for')
      assert.equal((await get(cancelled)).status, 'cancelled')
    })
})
