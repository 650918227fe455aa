import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '#core/problem.ts'
import { forTenant } from '#core/tenant.ts'
import { openDatabase } from '#db/open.ts'
import { sql } from 'kysely'
import { FairQueue } from '#core/fair-queue.ts'
import { createFairScheduler } from '#pipeline/fair-scheduler.ts'
import type { Reply } from '#pipeline/reply.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import { scene } from '../support/scene.ts'
import { storeFile } from '../support/stored-file.ts'
import { world, type Org } from '../support/world.ts'

// Goal: however much one organization asks for at once, another is served as if it were alone, and too much is refused
// with a time to come back.
test('row 31: no tenant starves others', async (t) => {
  await t.test('tenants are served in rotation, each in its own order', () => {
    const queue = new FairQueue<string>()
    for (let n = 0; n < 100; n++) queue.push('hostile', `h${n}`)
    queue.push('good', 'g0')
    queue.push('good', 'g1')
    const served = Array.from({ length: 6 }, () => queue.take(() => true)!.entry)
    assert.deepEqual(served, ['h0', 'g0', 'h1', 'g1', 'h2', 'h3'])
    assert.equal(
      queue.take((tenant) => tenant === 'good'),
      null,
    )
  })

  await t.test('the raster pool reserves a child for others, and rejects tasks beyond a tenant’s share of the queue', async () => {
    const pool = new RasterPool({
      module: new URL(import.meta.resolve('#raster/testing/pool-handlers.ts')),
      size: 2,
      deadlineMs: 20_000,
      maxQueuePerTenant: 10,
    })
    t.after(() => pool.close())
    const stop = new AbortController()
    const hostile = Array.from({ length: 60 }, () =>
      pool.run('wait', null, { tenant: 'hostile', signal: stop.signal }).then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
    )
    assert.equal(await pool.run('echo', 7, { tenant: 'good' }), 7, 'served while the other’s never end')
    stop.abort()
    const ends = await Promise.all(hostile)
    assert.equal(ends.filter((end) => end === 'too_many').length, 49, 'one runs, ten wait')
  })

  await t.test('the database pool reserves connections for others', async () => {
    const w = await world(t)
    const database = openDatabase(w.databaseUrl, { maxConnections: 8 })
    t.after(() => database.close())
    const gate = 4_242
    await sql`select 1`.execute(database.db)
    await w.db.connection().execute(async (holder) => {
      await sql`select pg_advisory_lock(${gate}::bigint)`.execute(holder)
      const stuck = Array.from({ length: 40 }, () =>
        forTenant('hostile', () =>
          sql`select pg_advisory_lock_shared(${gate}::bigint), pg_advisory_unlock_shared(${gate}::bigint)`.execute(database.db),
        ),
      )
      const { rows } = await forTenant('good', () => sql<{ n: number }>`select 1 as n`.execute(database.db))
      assert.deepEqual(rows, [{ n: 1 }], 'served while the other’s statements hang')
      const [{ inUse, waiting } = { inUse: 0, waiting: 0 }] = database.connectionUse()
      assert.deepEqual([inUse, waiting], [6, 34], 'it was alone when it came, so it has all but the quarter that stays free')
      await sql`select pg_advisory_unlock(${gate}::bigint)`.execute(holder)
      await Promise.all(stuck)
    })
  })

  await t.test('60 concurrent statistics of one organization: another’s tile is done before most of them', async () => {
    const w = await world(t)
    const make = async (org: Org) => {
      const { id } = await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'n' })
      await storeFile(w, id, { bytes: await scene({ width: 1_500, height: 1_000 }), bandNames: ['blue', 'green', 'red', 'nir'] })
      return id
    }
    const [good, bad] = [await w.organization(), await w.organization()]
    const [goodItem, badItem] = [await make(good), await make(bad)]
    const tile = (x: number) =>
      w.call(good.owner.token, 'items.tile.render', { item_id: goodItem, z: 0, x: 0, y: 0, bands: '3,2,1', rescale: `0,${x}` })
    assert.equal((await tile(1_000)).status, 200)
    let done = 0
    const flood = Array.from({ length: 60 }, async (_, n) => {
      const answer = await w.call(bad.owner.token, 'items.tile.statistics', { item_id: badItem, expression: `(b4-b1)/(b4+b1+${n + 1})` })
      if (answer.status === 200) done++ // A refusal takes nobody's time.
      return answer
    })
    while (done < 1) await new Promise(setImmediate)
    for (let n = 0; n < 3; n++) assert.equal((await tile(2_000 + n)).status, 200)
    const before = done
    const answers = await Promise.all(flood)
    assert.ok(before < 40, `${before} of 60 were done before three tiles were`)
    assert.ok(
      answers.every(({ status, headers }) => status === 200 || (status === 429 && headers.get('retry-after') !== null)),
      answers.map(({ status }) => status).join(),
    )
  })

  await t.test('while the event loop is late, pages of one organization wait for short calls of the other', async () => {
    const w = await world(t)
    const [good, bad] = [await w.organization(), await w.organization()]
    const feature = (n: number) => ({ type: 'Feature', id: `n-${n}`, geometry: null, properties: { note: 'x'.repeat(500) }, assets: {} })
    const features = { type: 'FeatureCollection', features: Array.from({ length: 100 }, (_, n) => feature(n)) }
    assert.equal((await w.ok(bad.owner.token, 'items.import_stac', { project_id: bad.projectId, features })).created, 100)
    const hog = setInterval(spin, 1)
    t.after(() => clearInterval(hog))
    let done = 0
    const flood = Array.from({ length: 40 }, async () => {
      const { status } = await w.call(bad.owner.token, 'items.list', { project_id: bad.projectId })
      done++
      return status
    })
    for (let n = 0; n < 8; n++) assert.equal((await w.call(good.owner.token, 'projects.list', {})).status, 200)
    const before = done
    clearInterval(hog)
    assert.deepEqual(new Set(await Promise.all(flood)), new Set([200]), 'all of them are answered in the end')
    t.diagnostic(`${before} of 40 pages were answered before eight short calls`)
    assert.ok(before <= 32, `${before} of 40 pages were answered before eight short calls`)
  })

  await t.test('an organization with too many queued calls gets Retry-After; others, and a single organization, never wait', async () => {
    const scheduler = createFairScheduler()
    t.after(() => scheduler.close())
    const { signal } = new AbortController()
    const reply = { status: 200, headers: {}, body: Buffer.alloc(0) }
    let begun = 0
    const begin = () => {
      begun++
      return new Promise<Reply>(() => {})
    }
    const refused: Problem[] = []
    const flood = async (count: number) => {
      for (let n = 0; n < count; n++) scheduler.run('bad', { signal }, begin).catch((error: Problem) => refused.push(error))
      await new Promise(setImmediate)
    }
    await flood(1_000)
    assert.equal(begun, 1_000, 'it was alone')
    assert.equal(await scheduler.run('good', { signal }, async () => reply), reply)
    await flood(600)
    assert.equal(begun, 1_000)
    assert.equal(refused.length, 100, 'the others wait')
    assert.deepEqual(new Set(refused.map(({ slug, headers }) => `${slug} ${headers['Retry-After']}`)), new Set(['rate-limited 1']))
    assert.equal(await scheduler.run('good', { signal }, async () => reply), reply)
  })
})

/** Longer than any part of a call. */
function spin(): void {
  const { user: until } = process.threadCpuUsage()
  while (process.threadCpuUsage().user - until < 10_000);
}

// Goal: a caller whose body was read in full and who still waits for the response is not taken for one that has left.
test('row 31: routes that are not operations wait for a slot with their caller', async (t) => {
  const w = await world(t)
  const { token } = await w.person()
  const { run } = w.platform.scheduler
  const aborted: boolean[] = []
  ;(w.platform.scheduler as { run: typeof run }).run = (name, call, work) => {
    aborted.push(call.signal.aborted)
    return run(name, call, work)
  }
  for (const notification_mail of ['daily', 'none']) {
    const { status } = await w.post('/auth/notifications', { notification_mail }, { authorization: `Bearer ${token}` })
    assert.equal(status, 204)
  }
  assert.deepEqual(aborted, [false, false])
})
