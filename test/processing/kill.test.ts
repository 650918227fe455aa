// Goal: whichever worker is killed and whenever, each job ends completed or failed, once, with its money and its items, or none.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import sweep from '#domains/assets/sweep.task.ts'
import resume from '#domains/processing/resume.task.ts'
import run from '#domains/processing/run.task.ts'
import { campaign, testSeed } from '../support/campaign.ts'
import { call, createOwner, ok } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { seeded, type Random } from '../support/random.ts'
import { scene } from '../support/scene.ts'
import { openLab, until, type Service } from '../support/service.ts'
import { world, type World } from '../support/world.ts'
import { jobViolations } from './invariants.ts'

const SIZE = campaign({
  short: { jobs: 24, kills: 3, workers: 2 },
  ci: { jobs: 120, kills: 6, workers: 4 },
  long: { jobs: Number(process.env['JOBS'] ?? 1_000), kills: Number(process.env['KILLS'] ?? 30), workers: 4 },
})
const CLIENTS = 4
const END_MS = 2_400_000
const SIDE = 150
const [WEST, NORTH, DEGREES] = [151, -33, 0.001] as const

const box = (west: number, north: number, side: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, north],
      [west + side, north],
      [west + side, north - side],
      [west, north - side],
      [west, north],
    ],
  ],
})
const INSIDE = box(WEST + 0.0403, NORTH - 0.0207, 0.08)
/** Gives more lines than a job may draw. */
const TOO_FINE = 1e-9

/** Something of each kind; one in seven cannot work, which only its run finds out. */
function wish(random: Random, [first, second]: readonly string[]): { job_type_id: string; input_params: object } {
  const item_id = random.pick([first, second])
  return random.pick([
    { job_type_id: 'band_math', input_params: { item_id, expression: '(b4-b3)/(b4+b3);b1*2' } },
    { job_type_id: 'cog_clip', input_params: { item_id, geometry: INSIDE } },
    { job_type_id: 'hillshade', input_params: { item_id } },
    { job_type_id: 'reproject', input_params: { item_id, epsg: 3857, resampling: 'bilinear' } },
    { job_type_id: 'mosaic', input_params: { item_ids: [first, second], method: 'median' } },
    { job_type_id: 'zonal_stats', input_params: { item_id, zones: { type: 'FeatureCollection', features: [zone()] } } },
    { job_type_id: 'contour', input_params: { item_id, interval: TOO_FINE } },
  ])
}
const zone = () => ({ type: 'Feature', properties: { name: 'field' }, geometry: INSIDE })

/** What the schedules do, without waiting for them: runs that died are taken up, then rests of a day ago are swept, twice. */
async function recover(w: World): Promise<void> {
  // Workers keep real time, and what they did last must lie in the past of this clock.
  w.clock.advance({ seconds: Math.max(0, Math.ceil((Date.now() - w.clock.now().getTime()) / 1000)) })
  for (let round = 0; round < 2; round++) {
    w.clock.advance({ minutes: 2 })
    await w.runTask(resume)
    await w.drain(run)
  }
  for (let round = 0; round < 2; round++) {
    w.clock.advance({ hours: 25 })
    await w.runTask(sweep)
  }
}

test('kill -9 of workers in the middle of jobs', { timeout: 3_600_000 }, async (t) => {
  const seed = testSeed
  const random = seeded(seed)
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  const dataDir = lab.dataDir()
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, DEMO: '0', SANDBOX: '0', LOG_LEVEL: 'error', RASTER_PROCESSES: '1' }
  const { baseUrl } = await lab.start({ env: { ...env, ROLE: 'api' } })
  const w = await world(t, { databaseUrl: database.url, store: { dataDir, secret: randomBytes(32) }, startAt: new Date().toISOString() })
  t.after(() => database.drop()) // After the world has closed: hooks run in the order in which they were added.

  const owner = await createOwner(baseUrl, 'owner@example.com')
  await ok(baseUrl, owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await ok(baseUrl, owner.token, 'billing.plan.change', { plan_id: 'business' })
  await w.ok(await w.serviceToken(), 'billing.credits.grant', {
    organization_id: owner.organizationId,
    credits: 5_000_000,
    reason: 'a campaign',
  })
  const { key } = await ok(baseUrl, owner.token, 'api_keys.create', {
    name: 'jobs',
    permissions: ['read', 'write', 'process'],
    rate_limit: 1_000_000,
  })
  const { id: project_id } = await ok(baseUrl, owner.token, 'projects.create', { name: 'Jobs' })
  const items: string[] = []
  for (const shift of [0, 0.03]) {
    const bytes = await scene({ width: SIDE, height: SIDE, west: WEST + shift, north: NORTH, degrees: DEGREES })
    items.push((await w.upload(key, project_id, { 'scene.tif': bytes })).body.item_ids[0])
  }

  const start = () => lab.start({ env: { ...env, ROLE: 'worker' } })
  const workers: Service[] = await Promise.all(Array.from({ length: SIZE.workers }, start))
  const count = async (...statuses: ('completed' | 'failed')[]) =>
    Number(
      (
        await w.db
          .selectFrom('processing_job')
          .select((e) => e.fn.countAll().as('n'))
          .where('status', 'in', statuses)
          .executeTakeFirstOrThrow()
      ).n,
    )
  const began = performance.now()
  let asked = 0
  const ask = async () => {
    while (asked++ < SIZE.jobs) {
      const { status, text } = await call(baseUrl, key, 'processing.create_and_dispatch', { project_id, ...wish(random, items) })
      assert.equal(status, 200, text)
    }
  }
  const asking = Promise.all(Array.from({ length: CLIENTS }, ask))
  let deaths = 0
  for (let nth = 1; nth <= SIZE.kills; nth++) {
    // At some moment of its own after another share of the jobs has ended, so that all kills fall into the work.
    const share = Math.floor((nth * SIZE.jobs) / (SIZE.kills + 2))
    await until(`${share} jobs to end`, async () => (await count('completed', 'failed')) >= share, END_MS)
    const at = random.integer(0, SIZE.workers - 1)
    await workers[at]!.kill('SIGKILL')
    deaths++
    workers[at] = await start()
  }
  await asking
  if (SIZE.workers > 2) await until('all jobs to end', async () => (await count('completed', 'failed')) === SIZE.jobs, END_MS)
  for (const worker of workers) await worker.kill('SIGKILL')
  const seconds = (performance.now() - began) / 1_000
  await recover(w)

  const again = await w.db.selectFrom('processing_job').select('attempts').where('attempts', '>', 1).execute()
  const failed = await w.db.selectFrom('processing_job').select('error').where('status', '=', 'failed').execute()
  const reasons = [...Map.groupBy(failed, ({ error }) => error)].map(([error, rows]) => `${rows.length} failed: ${error}`)
  t.diagnostic(
    `TEST_SEED=${seed}: ${SIZE.jobs} jobs, ${SIZE.workers} workers, ${deaths} kills in ${seconds.toFixed(0)} s; ` +
      `${await count('completed')} completed, ${again.length} taken up again; ${reasons.join('; ')}`,
  )
  const open = await w.db.selectFrom('processing_job').select(['status', 'stage', 'attempts']).where('completed_at', 'is', null).execute()
  assert.deepEqual(open, [], 'every job has ended')
  assert.equal(await count('completed', 'failed'), SIZE.jobs)
  assert.deepEqual(await jobViolations(w), [])
})
