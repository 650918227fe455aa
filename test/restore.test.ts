// Goal: a database that pg_dump and pg_restore moved to a new cluster continues where it was: a client of the event stream resumes from
// its last event without loss or repetition, and each webhook delivery that was pending goes out once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { createOwner, ok } from './support/client.ts'
import { receiver } from './support/receiver.ts'
import { startServerPostgres } from './support/server-postgres.ts'
import { openLab, until } from './support/service.ts'
import { listen } from './support/sse.ts'

/** Transactions that the old cluster is ahead: positions of its events are then far in the future of the new one. */
const AHEAD = 20_000

async function clusters(t: TestContext) {
  const servers = await Promise.all([startServerPostgres(), startServerPostgres()])
  t.after(() => Promise.all(servers.map((server) => server?.stop())))
  const [old, fresh] = servers
  return old && fresh ? { old, fresh } : null
}

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

function run(program: string, args: readonly string[], input?: Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync(program, args, { input, maxBuffer: 2 ** 30 })
  assert.equal(status, 0, `${program}: ${stderr.toString()}`)
  return stdout
}

test('a restore into a new cluster', async (t) => {
  const both = await clusters(t)
  if (!both) return t.skip('PostgreSQL with pg_dump is not installed (Debian: apt-get install postgresql)')
  const lab = openLab()
  t.after(() => lab.close())
  const endpoint = await receiver(t)
  const [oldUrl, newUrl] = [await both.old.createDatabase('groundtrack'), await both.fresh.createDatabase('groundtrack')]
  await query(oldUrl, `do $$ begin for n in 1 .. ${AHEAD} loop perform pg_current_xact_id(); commit; end loop; end $$`)
  const settings = { DATA_DIR: lab.dataDir(), DEMO: '0', PAYMENTS: 'none', EGRESS_ALLOW: endpoint.host }
  const startOn = (url: string, role: 'all' | 'api') => lab.start({ env: { ...settings, DATABASE_URL: url, ROLE: role } })
  const deliveredNames = () => endpoint.received.map(({ body }) => body.data.name as string)

  const first = await startOn(oldUrl, 'all')
  const owner = await createOwner(first.baseUrl, 'owner@example.com')
  const { id: project_id } = await ok(first.baseUrl, owner.token, 'projects.create', { name: 'Harbour' })
  const webhook = { event_type: 'collection.created', endpoint_url: endpoint.url }
  await ok(first.baseUrl, owner.token, 'event_subscriptions.create', webhook)
  const collect = (baseUrl: string, name: string) => ok(baseUrl, owner.token, 'collections.create', { project_id, name })
  const stream = await listen(first.baseUrl, owner.token)
  await collect(first.baseUrl, 'delivered')
  await endpoint.until(1)
  await stream.until(1)
  const cursor = stream.heard.at(-1)!
  assert.equal(cursor.type, 'collection.created')
  stream.cut()
  await until('the delivery to be recorded', async () => {
    const rows = await query<{ state: string }>(oldUrl, 'select state from webhook_delivery')
    return rows.every(({ state }) => state === 'delivered')
  })
  await first.kill('SIGTERM')

  // Nobody delivers now. The dump is taken while the service runs, and all that comes after it is lost with the old cluster.
  const second = await startOn(oldUrl, 'api')
  for (const name of ['pending 1', 'pending 2', 'pending 3']) await collect(second.baseUrl, name)
  const dump = run(path.join(both.old.bin, 'pg_dump'), ['-Fc', '-d', oldUrl])
  await second.kill('SIGKILL')
  run(path.join(both.fresh.bin, 'pg_restore'), ['--exit-on-error', '-d', newUrl], dump)

  const third = await startOn(newUrl, 'all')
  await t.test('the start says that it recognized the new cluster', () => {
    assert.match(third.output(), /restored into another cluster/)
  })

  await t.test('a stream resumes from its last event without loss or repetition', async () => {
    const resumed = await listen(third.baseUrl, owner.token, cursor.id)
    await collect(third.baseUrl, 'new')
    await resumed.until(4)
    const names = resumed.heard.map(({ body }) => body.data.name as string)
    assert.deepEqual(names, ['pending 1', 'pending 2', 'pending 3', 'new'])
    resumed.cut()
    const again = await listen(third.baseUrl, owner.token, resumed.heard.at(-1)!.id)
    await collect(third.baseUrl, 'last')
    await again.until(1)
    assert.deepEqual(
      again.heard.map(({ body }) => body.data.name as string),
      ['last'],
    )
    again.cut()
  })

  await t.test('webhooks that were pending, and new ones, go out once', async () => {
    await until('all deliveries to end', async () => {
      const rows = await query<{ state: string }>(newUrl, 'select state from webhook_delivery')
      return rows.length === 6 && rows.every(({ state }) => state === 'delivered')
    })
    assert.deepEqual(deliveredNames().toSorted(), ['delivered', 'last', 'new', 'pending 1', 'pending 2', 'pending 3'])
    assert.equal(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size, 6, 'each event once')
  })

  await t.test('another start on the new cluster changes nothing', async () => {
    await third.kill('SIGTERM')
    const fourth = await startOn(newUrl, 'api')
    assert.doesNotMatch(fourth.output(), /restored into another cluster/)
    const resumed = await listen(fourth.baseUrl, owner.token, cursor.id)
    await resumed.until(5)
    assert.deepEqual(
      resumed.heard.map(({ body }) => body.data.name as string),
      ['pending 1', 'pending 2', 'pending 3', 'new', 'last'],
    )
    resumed.cut()
  })
})
