import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import * as deliveries from '#model/events/delivery.ts'
import sweep from '#domains/webhooks/sweep.task.ts'
import { HOOK_URL, world, type Org, type World } from '../support/world.ts'

const ITEMS = 1_000
const SUBSCRIPTIONS = 100
const MIB = 2 ** 20

const feature = (n: number) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  id: `scene-${n}`,
  geometry: { type: 'Point', coordinates: [n / 10, 0] },
  bbox: [n / 10, 0, n / 10, 0],
  properties: { datetime: '2029-01-01T00:00:00Z', note: `${n} `.repeat(1_000).slice(0, 4_000) },
  assets: { data: { href: `https://data.example/${n}.tif`, type: 'image/tiff; application=geotiff' } },
  links: [],
})

async function importItems(w: World, org: Org, count = ITEMS, first = 0): Promise<void> {
  const features = Array.from({ length: count }, (_, n) => feature(first + n))
  await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, features: { type: 'FeatureCollection', features } })
}

async function subscribe(w: World, org: Org, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++)
    ids.push((await w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'item.created', endpoint_url: HOOK_URL })).id)
  return ids
}

const bytesOf = async (w: World): Promise<number> => {
  const { rows } = await sql<{ bytes: string }>`select pg_database_size(current_database())::text as bytes`.execute(w.db)
  return Number(rows[0]!.bytes)
}

const waiting = async (w: World) =>
  (await sql<{ count: number }>`select count(*) from webhook_delivery where state in ('pending', 'held')`.execute(w.db)).rows[0]!.count
const inBacklog = async (w: World) => (await sql<{ count: number }>`select count(*) from webhook_backlog`.execute(w.db)).rows[0]!.count

/** As if the endpoint had refused everything that waits in the queue, once. */
async function failOnce(w: World): Promise<void> {
  const later = new Date(w.clock.now().getTime() + 3_600_000)
  for (;;) {
    const claimed = await deliveries.claim(w.db, { total: 1_000, perEndpoint: 1_000, free: new Map(), leaseSeconds: 60 }, w.clock.now())
    if (claimed.length === 0) return
    const attempt = () => ({ id: newId(), at: w.clock.now(), durationMs: 3, httpStatus: 500, error: 'It answered 500', start: 'no' })
    const outcomes = claimed.map((delivery) => ({
      delivery: delivery,
      attempt: attempt(),
      state: 'pending' as const,
      dueAt: later,
      reason: null,
    }))
    await w.db.transaction().execute((tx) => deliveries.finish(tx, outcomes, 1_000_000_000, w.clock.now()))
  }
}

/** As if the endpoints had taken everything that waits in the queue. */
const takeAll = (w: World) =>
  w.db.updateTable('webhook_delivery').set({ state: 'delivered', ended_at: w.clock.now() }).where('state', '=', 'pending').execute()

// Goal: what an import costs the database does not grow with the number of subscriptions, and yet each of them is told of every
// event, once.
test('row 63: webhook fan-out', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const quiet = await w.organization()
  await importItems(w, quiet)
  const ids = await subscribe(w, org, SUBSCRIPTIONS)
  const before = await bytesOf(w)
  await importItems(w, org)
  await failOnce(w)
  const grown = (await bytesOf(w)) - before

  await t.test('1,000 items for 100 subscriptions, each attempted once, add less than 32 MiB', () => {
    t.diagnostic(`${(grown / MIB).toFixed(1)} MiB more`)
    assert.ok(grown < 32 * MIB, `${(grown / MIB).toFixed(1)} MiB`)
  })

  await t.test('the queue of an organization is limited, and its later events wait behind the earlier ones', async () => {
    assert.equal(await waiting(w), deliveries.MAX_WAITING)
    assert.equal(await inBacklog(w), ITEMS - deliveries.MAX_WAITING / SUBSCRIPTIONS)
    await importItems(w, org, 1, ITEMS)
    assert.equal(await waiting(w), deliveries.MAX_WAITING)
    assert.equal(await inBacklog(w), ITEMS + 1 - deliveries.MAX_WAITING / SUBSCRIPTIONS)
  })

  await t.test('another organization does not wait', async () => {
    const [id] = await subscribe(w, quiet, 1)
    await importItems(w, quiet, 1, ITEMS)
    const queued = await w.db.selectFrom('webhook_delivery').select('state').where('subscription_id', '=', id!).execute()
    assert.deepEqual(queued, [{ state: 'pending' }])
  })

  await t.test(
    'as the queue empties, each subscription gets every event once; a deleted one gets no more, a paused one waits',
    async () => {
      const [deleted, paused, ...others] = ids
      await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id: deleted })
      await takeAll(w)
      await w.ok(org.owner.token, 'event_subscriptions.update', { subscription_id: paused, active: false })
      for (let round = 0; (await inBacklog(w)) > 0; round++) {
        assert.ok(round < ITEMS, 'it comes to an end')
        await deliveries.admit(w.db, w.clock.now())
        assert.ok((await waiting(w)) <= deliveries.MAX_WAITING)
        await takeAll(w)
      }
      const { rows } = await sql<{ id: string; events: number; held: number }>`
      select subscription_id as id, count(distinct event_seq) as events, count(*) filter (where state = 'held') as held
      from webhook_delivery where subscription_id = any(${ids}::uuid[]) group by subscription_id
    `.execute(w.db)
      assert.deepEqual(rows.map(({ id, events }) => [id, events]).toSorted(), [paused!, ...others].map((id) => [id, ITEMS + 1]).toSorted())
      assert.equal(rows.find(({ id }) => id === paused)!.held, ITEMS + 1 - deliveries.MAX_WAITING / SUBSCRIPTIONS)
    },
  )

  await t.test('the latest successful deliveries stay listed', async () => {
    await w.runTask(sweep)
    const { rows } = await sql<{ count: number }>`
      select count(*) from webhook_delivery d join event_subscription s on s.id = d.subscription_id
      where s.org_id = ${org.id} and d.state = 'delivered'
    `.execute(w.db)
    assert.equal(rows[0]!.count, deliveries.MAX_DELIVERED)
  })
})
