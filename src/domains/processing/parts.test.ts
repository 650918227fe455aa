// Goal: a large job is computed in parts, costs the same, gives the same bytes, survives workers and leaves nothing behind.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import * as parts from '#model/processing/part.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import clear from './clear.task.ts'
import part from './part.task.ts'
import resume from './resume.task.ts'
import run from './run.task.ts'

/** A scene of 700 × 2,300 pixels and four bands has 6.4 million samples. */
const SMALL_PART = 500_000
const [WIDTH, HEIGHT] = [700, 2_300] as const

async function shop(t: TestContext, jobPartSamples: number) {
  const w = await world(t, { jobPartSamples })
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  const items: string[] = []
  for (const shift of [0, 0.2]) {
    const bytes = await scene({
      width: WIDTH,
      height: HEIGHT,
      west: 151 + shift,
      value: (band, x, y) => ((x * 31 + y * 17 + band * 7) % 5_000) + 1,
    })
    items.push((await w.upload(token, org.projectId, { 'a.tif': bytes })).body.item_ids[0] as string)
  }
  return { w, org, token, items }
}

const COUNTS = ['pixels_without_data', 'cloud_cover', 'zone_count', 'empty_zone_count'] as const

const start = async (w: World, org: Org, job_type_id: string, input_params: object): Promise<string> =>
  (await w.ok(org.owner.token, 'processing.create_and_dispatch', { project_id: org.projectId, job_type_id, input_params })).job.id

const jobOf = async (w: World, org: Org, id: string) => (await w.ok(org.owner.token, 'processing.job.get', { job_id: id })).job

/** The SHA-256 of each file of a completed job, by its key; the manifest of a mosaic names items, which differ. */
async function digests(w: World, org: Org, id: string): Promise<Record<string, string>> {
  const job = await jobOf(w, org, id)
  assert.deepEqual([job.status, job.error], ['completed', null])
  const rows = await w.db
    .selectFrom('asset')
    .innerJoin('item', 'item.seq', 'asset.item_seq')
    .select(['asset.key', 'asset.sha256'])
    .where('item.id', 'in', job.output_item_ids)
    .where('asset.key', '<>', 'source_manifest')
    .execute()
  assert.ok(rows.length > 0)
  return Object.fromEntries(rows.map(({ key, sha256 }) => [key, sha256!.toString('hex')]))
}

const partObjects = async (w: World, id: string): Promise<string[]> => {
  const { bucket_name } = await w.db
    .selectFrom('project')
    .select('bucket_name')
    .where('bucket_name', 'is not', null)
    .executeTakeFirstOrThrow()
  return (await w.storage.list(bucket_name!, { prefix: `jobs/${id}/` })).objects.map(({ key }) => key)
}

const JOBS = (items: readonly string[]) =>
  [
    ['mosaic', { item_ids: items, method: 'median' }],
    ['composite', { item_ids: items, statistic: 'mean' }],
    ['index', { item_id: items[0], index_name: 'ndvi' }],
    ['cog_convert', { item_id: items[0] }],
    ['reproject', { item_id: items[0], epsg: 32_756 }],
    ['cloud_mask', { item_id: items[0], reflectance_scale: 0.0002 }],
    ['mosaic', { item_ids: items, cloud_aware: true }],
    ['zonal_stats', { item_id: items[0], zones: ZONES, percentiles: [10, 50] }],
  ] as const

/** Squares of many sizes all over the first scene, in an order that has nothing to do with their places; one is outside. */
const ZONES = {
  type: 'FeatureCollection',
  features: Array.from({ length: 41 }, (_, n) => {
    const [west, north, side] = [151 + ((n * 17) % 41) * 0.015, -33 - ((n * 29) % 41) * 0.053, 0.15 + (n % 5) * 0.05]
    const [east, south] = [west + side, north - side]
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    return { type: 'Feature', id: n, geometry: { type: 'Polygon', coordinates: [n === 40 ? ring.map(([x, y]) => [x! + 5, y!]) : ring] } }
  }),
}

test('jobs in parts', async (t) => {
  const { w, org, items } = await shop(t, SMALL_PART)
  const alone = await shop(t, 0)
  const open = () => w.db.selectFrom('job_part').selectAll().orderBy('phase').orderBy('number').execute()

  await t.test('the files are byte for byte those of a job that was not divided, for the same price', async () => {
    for (const [index, [type, params]] of JOBS(items).entries()) {
      const id = await start(w, org, type, params)
      const stages = new Set<string>()
      const watched = setInterval(() => void jobOf(w, org, id).then(({ stage }) => stages.add(stage)), 100)
      await w.drain(run)
      clearInterval(watched)
      const job = await jobOf(w, org, id)
      const otherId = await start(alone.w, alone.org, type, JOBS(alone.items)[index]![1])
      await alone.w.drain(run)
      const other = await jobOf(alone.w, alone.org, otherId)
      assert.deepEqual(await digests(w, org, id), await digests(alone.w, alone.org, otherId), type)
      assert.deepEqual([job.captured_credits, job.progress], [other.captured_credits, 100])
      const counts = ({ output_artifacts }: { output_artifacts: Record<string, never> }) => [
        ...COUNTS.map((name) => output_artifacts[name]),
        (output_artifacts['scenes'] as { pixels: number }[] | undefined)?.map(({ pixels }) => pixels),
      ]
      assert.deepEqual(counts(job), counts(other))
      assert.ok(
        [...stages].some((stage) => /: \d+ of \d+ parts$/.test(stage)),
        `${type} showed ${[...stages].join(', ')}`,
      )
      assert.ok((await partObjects(w, id)).length > 0, 'it was divided')
      assert.deepEqual(await open(), [], 'and has no parts left')
    }
    await w.drain(clear)
    for (const { id } of await w.db.selectFrom('processing_job').select('id').execute()) assert.deepEqual(await partObjects(w, id), [])
    await w.drain(part)
  })

  const breaking = (t: TestContext, isBroken: (key: string) => boolean) => {
    const put = w.storage.put.bind(w.storage)
    const keys: string[] = []
    const mocked = t.mock.method(w.storage, 'put', async (...[at, content, options]: Parameters<typeof put>) => {
      keys.push(at.key)
      if (isBroken(at.key)) throw new Error('the store is away')
      return await put(at, content, options)
    })
    return { keys, restore: () => mocked.mock.restore() }
  }

  await t.test('another attempt of a job continues the parts that are done', async (t) => {
    const id = await start(w, org, 'mosaic', { item_ids: items })
    const isPart = (key: string) => key.startsWith(`jobs/${id}/`)
    const first = breaking(t, (key) => !isPart(key))
    await w.drain(run).catch(() => {})
    first.restore()
    assert.ok(first.keys.some(isPart))
    assert.ok((await open()).every(({ state }) => state === 'done'))
    assert.equal((await jobOf(w, org, id)).status, 'running')
    w.clock.advance({ minutes: 2 })
    await w.runTask(resume)
    const second = breaking(t, () => false)
    await w.drain(run)
    second.restore()
    assert.equal((await jobOf(w, org, id)).status, 'completed')
    assert.deepEqual(second.keys.filter(isPart), [], 'no part is computed twice')
  })

  await t.test('a part that fails in every attempt ends the job, which costs nothing', async (t) => {
    const id = await start(w, org, 'mosaic', { item_ids: items })
    const broken = breaking(t, (key) => key.startsWith(`jobs/${id}/`))
    await w.drain(run)
    broken.restore()
    const { status, error, captured_credits } = await jobOf(w, org, id)
    assert.deepEqual([status, error, captured_credits], ['failed', 'Internal error in 4 attempts', 0])
    assert.deepEqual(await open(), [])
  })

  await t.test('a claimed part without heartbeats is claimed again, and the first worker can no longer finish it', async () => {
    const id = await start(w, org, 'mosaic', { item_ids: items })
    const key = { organizationId: org.id, jobId: id, step: 0 }
    await w.db.transaction().execute((tx) =>
      parts.open(
        tx,
        key,
        { request: {} },
        [
          {
            phase: 0,
            rows: [
              { from: 0, to: 1_024 },
              { from: 1_024, to: 2_300 },
            ],
          },
          { phase: 1, rows: [{ from: 0, to: 1_024 }] },
        ],
        w.clock.now(),
      ),
    )
    const first = (await parts.claim(w.db, w.clock.now()))!
    const second = (await parts.claim(w.db, w.clock.now()))!
    assert.deepEqual([first.number, second.number], [0, 1])
    assert.equal(await parts.claim(w.db, w.clock.now()), null, 'the overviews wait for the rows')
    w.clock.advance({ seconds: 15 })
    assert.ok(await parts.heartbeat(w.db, second, w.clock.now()))
    w.clock.advance({ seconds: 6 })
    const again = (await parts.claim(w.db, w.clock.now()))!
    assert.deepEqual([again.number, again.attempts], [0, 2])
    assert.equal(await parts.heartbeat(w.db, first, w.clock.now()), false)
    assert.equal(await parts.finish(w.db, first, {}), false)
    assert.ok(await parts.finish(w.db, again, {}))
    const overview = (await parts.claim(w.db, w.clock.now()))!
    assert.equal(overview.phase, 1)
    await w.ok(org.owner.token, 'processing.job.cancel', { job_id: id })
    assert.equal(await parts.heartbeat(w.db, second, w.clock.now()), false, 'cancelling stops all parts')
    assert.deepEqual(await open(), [])
  })

  await t.test('organizations take turns', async () => {
    const other = await w.organization()
    const rows = Array.from({ length: 4 }, (_, n) => ({ from: n, to: n + 1 }))
    const [a, b] = [org, other].map(({ id }) => ({ organizationId: id, jobId: crypto.randomUUID(), step: 0 }))
    for (const key of [a!, b!])
      await w.db.transaction().execute((tx) => parts.open(tx, key, { request: {} }, [{ phase: 0, rows }], w.clock.now()))
    const turns: string[] = []
    for (let n = 0; n < 8; n++) {
      w.clock.advance({ seconds: 1 })
      turns.push((await parts.claim(w.db, w.clock.now()))!.organizationId)
    }
    for (let n = 0; n < 8; n += 2) assert.notEqual(turns[n], turns[n + 1], turns.join(' '))
    for (const key of [a!, b!])
      await w.db.transaction().execute((tx) => parts.remove(tx, { organizationId: key.organizationId, id: key.jobId }))
  })

  await t.test('cancelling stops the work, and its files are removed', async (t) => {
    const id = await start(w, org, 'mosaic', { item_ids: items })
    const put = w.storage.put.bind(w.storage)
    let cancelled: Promise<unknown> | null = null
    const mocked = t.mock.method(w.storage, 'put', async (...[at, content, options]: Parameters<typeof put>) => {
      const stored = await put(at, content, options)
      cancelled ??= w.ok(org.owner.token, 'processing.job.cancel', { job_id: id })
      await cancelled
      if (!options.signal!.aborted) await once(options.signal!, 'abort') // Only the heartbeat that finds no part ends this.
      return stored
    })
    await w.drain(run)
    mocked.mock.restore()
    assert.equal((await jobOf(w, org, id)).status, 'cancelled')
    await w.drain(clear)
    assert.deepEqual([await partObjects(w, id), await open()], [[], []])
  })

  await t.test('abandoned parts are offered to workers again', async () => {
    await w.drain(part)
    const key = { organizationId: org.id, jobId: crypto.randomUUID(), step: 0 }
    const rows = [{ from: 0, to: 1 }]
    await w.db.transaction().execute((tx) => parts.open(tx, key, { request: {} }, [{ phase: 0, rows }], w.clock.now()))
    await parts.claim(w.db, w.clock.now())
    await w.runTask(resume)
    assert.equal(await w.drain(part), 0, 'its worker may be alive')
    w.clock.advance({ seconds: 30 })
    await w.runTask(resume)
    await w.db.transaction().execute((tx) => parts.remove(tx, { organizationId: org.id, id: key.jobId }))
    assert.equal(await w.drain(part), 1)
  })

  await t.test('money and objects agree, and nothing is left', async () => {
    await w.drain(clear)
    assert.deepEqual(await moneyViolations(w.db), [])
    for (const { id } of await w.db.selectFrom('processing_job').select('id').execute()) assert.deepEqual(await partObjects(w, id), [])
    assert.deepEqual([await open(), await w.db.selectFrom('job_step').selectAll().execute()], [[], []])
  })
})
