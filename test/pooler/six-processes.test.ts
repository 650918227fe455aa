// Goal: six processes, three of them workers, serve writes, searches, uploads and tiles through PgBouncer, and the server never has more
// than forty connections from them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { call, createOwner, ok } from '../support/client.ts'
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { scene, tileAt } from '../support/scene.ts'
import { startServerPostgres } from '../support/server-postgres.ts'
import { openLab, type Service } from '../support/service.ts'
import { uploadedItem } from '../support/uploaded.ts'

const skip = noPgBouncer() ?? false
const SERVER_CONNECTIONS = 40
/** Leaves 24 for six processes: two listeners each, and twelve locks. */
const POOL_SIZE = 16
const ROLES = ['api', 'api', 'api', 'worker', 'worker', 'worker']
const CLIENTS = 24
const CALLS_PER_CLIENT = 20
const SAMPLE_MS = 20
const [WEST, NORTH] = [151, -33]

test('six processes on forty connections', { skip }, async (t) => {
  const server = await startServerPostgres({ settings: ['max_connections=100', 'fsync=off'] })
  if (!server) return t.skip('no PostgreSQL is installed in /usr/lib/postgresql')
  const direct = await server.createDatabase('six')
  const bouncer = await startPgBouncer({ serverUrl: direct, poolSize: POOL_SIZE, preparedStatements: 0 })
  const lab = openLab()
  const pooled = { DATABASE_URL: bouncer.urlFor(direct), DATABASE_DIRECT_URL: direct, DATABASE_POOLER: 'transaction' }
  const env = { ...pooled, DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX: '0', RASTER_PROCESSES: '1' }
  const connections = await watchConnections(direct)
  t.after(async () => {
    await connections.stop()
    await lab.close()
    await bouncer.stop()
    await server.stop()
  })

  const apis: Service[] = (await Promise.all(ROLES.map((ROLE) => lab.start({ env: { ...env, ROLE } })))).slice(0, 3)
  const { baseUrl } = apis[0]!
  const { token } = await createOwner(baseUrl, 'six@example.com')
  const { key } = await ok(baseUrl, token, 'api_keys.create', { name: 'six', permissions: ['read', 'write'], rate_limit: 1_000_000 })
  const { id: projectId } = await ok(baseUrl, token, 'projects.create', { name: 'Six' })
  const itemId = await uploadedItem({ baseUrl, token, projectId, bytes: await scene({ west: WEST, north: NORTH }) })
  const { z, x, y } = tileAt(WEST + 0.1, NORTH - 0.1, 12)

  const statuses = new Map<string, number>()
  const note = (what: string, status: number) => statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1)
  const client = async (n: number): Promise<void> => {
    const at = apis[n % apis.length]!.baseUrl
    for (let k = 0; k < CALLS_PER_CLIENT; k++) {
      note('create', (await call(at, key, 'collections.create', { project_id: projectId, name: `${n}-${k}` })).status)
      note('search', (await call(at, key, 'items.search', { project_id: projectId })).status)
      const tile = await fetch(`${at}/api/v1/items/${itemId}/tiles/${z}/${x}/${y}.png`, { headers: { authorization: `Bearer ${key}` } })
      await tile.arrayBuffer()
      note('tile', tile.status)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)))

  const each = CLIENTS * CALLS_PER_CLIENT
  assert.deepEqual(Object.fromEntries(statuses), { 'create 200': each, 'search 200': each, 'tile 200': each })
  assert.ok(connections.most() > POOL_SIZE, 'connections were counted while all were busy')
  assert.ok(connections.most() <= SERVER_CONNECTIONS, `${connections.most()} connections`)
  t.diagnostic(`PgBouncer ${bouncer.version}: at most ${connections.most()} connections to the server`)
})

/** Counts the connections to a database again and again, without its own. */
async function watchConnections(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let [most, isStopped] = [0, false]
  const counting = (async () => {
    while (!isStopped) {
      const { rows } = await client.query<{ n: number }>(`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
      most = Math.max(most, rows[0]!.n)
      await sleep(SAMPLE_MS)
    }
  })()
  return {
    most: () => most,
    async stop() {
      isStopped = true
      await counting
      await client.end()
    },
  }
}
