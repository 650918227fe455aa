// Goal: several real processes on one database agree, and each of them starts and stops cleanly.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#db/open.ts'
import { call, createOwner, ok, post } from './support/client.ts'
import { createDatabase, createEmptyDatabase } from './support/database.ts'
import { createEffects } from './faults/operations.ts'
import { MAIN_WITH_TEST_OPERATIONS, openLab, until, type Lab } from './support/service.ts'

const LOCK = 4711
/** A process remembers for seconds; a busy machine makes a minute of them. */
const REMEMBERED_MS = 60_000

function labFor(t: TestContext): Lab {
  const lab = openLab()
  t.after(() => lab.close())
  return lab
}

/** A database and a connection to it; the connection is closed and the database dropped after the test. */
async function databaseFor(t: TestContext, create = createDatabase) {
  const own = await create()
  const database = openDatabase(own.url, { maxConnections: 2 })
  t.after(async () => {
    await database.close()
    await own.drop()
  })
  return { url: own.url, db: database.db }
}

test('two services start at the same moment on an empty database', async (t) => {
  const lab = labFor(t)
  const { url, db } = await databaseFor(t, createEmptyDatabase)
  const env = { DATABASE_URL: url, DATA_DIR: lab.dataDir() }
  const [first, second] = await Promise.all([lab.start({ env }), lab.start({ env })])
  const { rows } = await sql<{ users: number; organizations: number; projects: number; keys: number }>`
    select (select count(*) from app_user) as users, (select count(*) from organization) as organizations,
      (select count(*) from project) as projects, (select count(*) from signing_key) as keys
  `.execute(db)
  assert.deepEqual(rows, [{ users: 1, organizations: 1, projects: 1, keys: 1 }], 'one demo, one signing key')
  const owner = await createOwner(first!.baseUrl, 'founder@example.com')
  assert.equal(
    (await call(second!.baseUrl, owner.token, 'organizations.get', {})).status,
    200,
    'a token of one process is good for the other',
  )
  assert.equal(
    (
      await call(
        first!.baseUrl,
        (await post(second!.baseUrl, '/auth/refresh', { refresh_token: owner.refreshToken })).body.access_token,
        'organizations.get',
        {},
      )
    ).status,
    200,
  )
})

test('limits and revocation apply across two processes', async (t) => {
  const lab = labFor(t)
  const { url, db } = await databaseFor(t)
  const env = { DATABASE_URL: url, DATA_DIR: lab.dataDir(), DEMO: '0' }
  const [first, second] = await Promise.all([lab.start({ env }), lab.start({ env })])
  const owner = await createOwner(first!.baseUrl, 'founder@example.com')
  /** Ends the connections on which the processes hear of changes. */
  const deafen = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid, pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'groundtrack notices' and datname = current_database()
    `.execute(db)
    return rows.length
  }

  await t.test('the hourly limit of a key is exact to one request', async () => {
    const { key } = await ok(first!.baseUrl, owner.token, 'api_keys.create', { name: 'limited', permissions: ['read'], rate_limit: 200 })
    const statuses = await Promise.all(
      Array.from(
        { length: 300 },
        async (_, index) => (await call([first!, second!][index % 2]!.baseUrl, key, 'organizations.get', {})).status,
      ),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 200)
    assert.equal(statuses.filter((status) => status === 429).length, 100)
  })

  await t.test('the other process rejects a revoked key at once', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, key } = await ok(first!.baseUrl, owner.token, 'api_keys.create', { name: 'revoked soon', permissions: ['read'] })
      const use = async (): Promise<number> => (await call(second!.baseUrl, key, 'organizations.get', {})).status
      assert.deepEqual([await use(), await use()], [200, 200], 'the second time from memory')
      if (round % 5 === 4) assert.ok((await deafen()) >= 1, 'and whoever cannot be told asks the database')
      await ok(first!.baseUrl, owner.token, 'api_keys.revoke', { key_id: id })
      assert.deepEqual(await Promise.all([use(), use(), use()]), [401, 401, 401])
    }
  })

  await t.test('cached keys do not outlive a manual change in the database', async () => {
    const { id, key } = await ok(first!.baseUrl, owner.token, 'api_keys.create', { name: 'by hand', permissions: ['read'] })
    const use = async (): Promise<number> => (await call(second!.baseUrl, key, 'organizations.get', {})).status
    assert.deepEqual([await use(), await use()], [200, 200])
    await db.updateTable('api_key').set({ is_active: false, revoked_at: new Date() }).where('id', '=', id).execute()
    await until('the other process to have heard', async () => (await use()) === 401, REMEMBERED_MS)
  })

  await t.test('the other process rejects an ended session at once', async () => {
    const { body } = await post(first!.baseUrl, '/auth/sign-in', { email: owner.email, password: 'correct horse battery' })
    assert.equal((await call(second!.baseUrl, body.access_token, 'organizations.get', {})).status, 200)
    await post(first!.baseUrl, '/auth/sign-out', { refresh_token: body.refresh_token })
    assert.equal((await call(second!.baseUrl, body.access_token, 'organizations.get', {})).status, 401)
  })
})

test('SIGTERM lets running calls finish', async (t) => {
  const lab = labFor(t)
  const { url, db } = await databaseFor(t)
  await createEffects(db)
  const service = await lab.start({ entry: MAIN_WITH_TEST_OPERATIONS, env: { DATABASE_URL: url, DATA_DIR: lab.dataDir(), DEMO: '0' } })
  const owner = await createOwner(service.baseUrl, 'founder@example.com')
  assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200)

  const released = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holding = db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${LOCK})`.execute(connection)
    held.resolve()
    await released.promise
    await sql`select pg_advisory_unlock(${LOCK})`.execute(connection)
  })
  await held.promise
  const calls = Array.from({ length: 5 }, (_, index) =>
    call(service.baseUrl, owner.token, 'faults.wait', { lock: LOCK, token: `t${index}` }),
  )
  await until('the calls to wait inside their transactions', async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks where locktype = 'advisory' and not granted`.execute(db)
    return rows[0]!.n >= 5
  })
  const accepted = net.connect(Number(new URL(service.baseUrl).port), '127.0.0.1').setEncoding('utf8')
  await once(accepted, 'connect')
  assert.equal((await fetch(`${service.baseUrl}/ready`)).status, 200) // So the connection before it is accepted as well.
  const stopping = service.kill('SIGTERM')
  await until(
    'new connections to be refused',
    async () =>
      await fetch(`${service.baseUrl}/ready`).then(
        () => false,
        () => true,
      ),
  )
  accepted.write('GET /v1/limits HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.match(String((await once(accepted, 'data'))[0]), /^HTTP\/1\.1 200 /, 'a request on a connection that was accepted is served')
  accepted.destroy()
  released.resolve()
  await holding
  assert.deepEqual(
    (await Promise.all(calls)).map((reply) => reply.status),
    [200, 200, 200, 200, 200],
  )
  assert.deepEqual(await stopping, { code: 0, signal: null }, service.output())
  const { rows } = await sql<{ n: number }>`select count(*) as n from test_effect`.execute(db)
  assert.equal(rows[0]!.n, 5)
  const audited = await db
    .selectFrom('audit')
    .select('invocation_id')
    .where('operation', '=', 'faults.wait')
    .where('status', '=', 200)
    .execute()
  assert.equal(audited.length, 5)
})

test('ROLE=worker serves health checks and runs jobs, and nothing else', async (t) => {
  const lab = labFor(t)
  const { url, db } = await databaseFor(t)
  const env = { DATABASE_URL: url, DATA_DIR: lab.dataDir(), DEMO: '0' }
  const api = await lab.start({ env: { ...env, ROLE: 'api' } })
  const owner = await createOwner(api.baseUrl, 'founder@example.com')
  const { id: projectId } = await ok(api.baseUrl, owner.token, 'projects.create', { name: 'x' })
  await ok(api.baseUrl, owner.token, 'projects.add_member', { project_id: projectId, email: 'late@example.com' })
  await sql`update invitation set expires_at = now() - interval '1 day'`.execute(db)

  const worker = await lab.start({ env: { ...env, ROLE: 'worker' } })
  const statusOf = async (path: string, method = 'GET') => (await fetch(worker.baseUrl + path, { method })).status
  assert.deepEqual([await statusOf('/health'), await statusOf('/ready'), await statusOf('/metrics')], [200, 200, 200])
  assert.deepEqual(
    [
      await statusOf('/v1/op/projects.list', 'POST'),
      await statusOf('/auth/sign-in', 'POST'),
      await statusOf('/openapi.json'),
      await statusOf('/'),
    ],
    [404, 404, 404, 404],
  )

  await sql`insert into queue.job (name, data) values ('organizations.expire_invitations', '{}')`.execute(db)
  const { outcome } = await until(
    'the job to be worked',
    async () => await db.selectFrom('invitation').select('outcome').where('outcome', 'is not', null).executeTakeFirst(),
  )
  assert.equal(outcome, 'expired')
  assert.equal((await worker.kill('SIGTERM')).code, 0)
})

test('an invalid setting is reported in one line', async (t) => {
  const lab = labFor(t)
  const wrong: Record<string, [string, string]> = {
    PORT: ['eighty', "PORT must be an integer from 0 to 65535, not 'eighty'\n"],
    ROLE: ['boss', "ROLE must be one of all, api, worker, not 'boss'\n"],
    DATABASE_URL: ['mysql://x', 'DATABASE_URL must begin with postgres://\n'],
    BASE_URL: ['ftp://x', 'BASE_URL must be an http or https URL\n'],
    LOG_LEVEL: ['loud', "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not 'loud'\n"],
    DEMO: ['maybe', "DEMO must be one of 0, 1, not 'maybe'\n"],
  }
  const services = Object.entries(wrong).map(([name, [value]]) => lab.spawn({ env: { DATA_DIR: lab.dataDir(), [name]: value } }))
  assert.deepEqual(
    await Promise.all(services.map(async (service) => ({ code: (await service.exited).code, output: service.output() }))),
    Object.values(wrong).map(([, output]) => ({ code: 1, output })),
  )
})
