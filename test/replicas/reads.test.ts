// Goal: reads use a streaming replica; a caller always finds what it has written, through any process; changes of access rights are never
// read late; and what a replica cannot do is done by the primary, so that nobody notices when it stops, is cancelled or promoted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import * as registry from '#registry.ts'
import { isUsed, NO_SERVER, readsDuring, replicaState, replicated, untilSetAside, untilUsed } from '../support/replicated.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'

const PAUSE = 'select pg_wal_replay_pause()'
const RESUME = 'select pg_wal_replay_resume()'

test('reads from a replica', async (t) => {
  const database = await replicated(t)
  if (!database) return t.skip(NO_SERVER)
  const { replica, url, replicaUrl } = database
  const [first, second] = [await database.process(), await database.process()]
  const org = await first.organization()
  const stranger = await first.organization()
  const create = async (w: World, { owner, projectId }: Org, name: string, headers = {}) =>
    await w.ok(owner.token, 'collections.create', { project_id: projectId, name }, headers)
  const names = async (w: World, { owner, projectId }: Org): Promise<string[]> =>
    (await w.ok(owner.token, 'collections.list', { project_id: projectId })).map(({ name }: { name: string }) => name)
  const caughtUp = async (who: Org = org) => {
    for (const w of [first, second]) {
      await untilUsed(w)
      await until('a read by the replica', async () => (await readsDuring(w, () => names(w, who))) > 0)
    }
  }

  await t.test('is used by every process once it has replayed what the caller wrote', async () => {
    await caughtUp()
    assert.ok(first.replicaLines.some((line) => /^Replica .+\/replicated is used for reads$/.test(line)))
    assert.doesNotMatch(first.replicaLines.join(), /postgres@|password/)
    const { body } = await first.request('GET', '/metrics').then(({ bytes }) => ({ body: bytes.toString() }))
    for (const name of ['used', 'lag_seconds', 'connections', 'reads_total'])
      assert.match(body, new RegExp(`groundtrack_replica_${name}\\{replica=".+/replicated"[^}]*\\} `))
  })

  await t.test('what a caller wrote is found by its next read in any process, while others still read the replica', async () => {
    await caughtUp(stranger)
    await replica.run(PAUSE)
    await create(first, org, 'Written while replay was paused')
    for (const w of [first, second]) {
      const found: string[] = []
      assert.equal(await readsDuring(w, async () => found.push(...(await names(w, org)))), 0)
      assert.ok(found.includes('Written while replay was paused'))
      assert.equal(await readsDuring(w, () => names(w, stranger)), 1)
    }
    await replica.run(RESUME)
    await caughtUp()
    assert.ok((await names(second, org)).includes('Written while replay was paused'))
  })

  await t.test('a repeated write with an idempotency key is found as well, and so is what a task changed', async () => {
    await replica.run(PAUSE)
    const headers = { 'idempotency-key': 'the same' }
    await create(first, org, 'Once', headers)
    await create(second, org, 'Once', headers)
    assert.equal((await names(second, org)).filter((name) => name === 'Once').length, 1)
    await create(first, stranger, 'Made')
    await replica.run(RESUME)
    await caughtUp(stranger)
    await replica.run(PAUSE)
    await first.platform.services.commit(stranger.id, 'test', async ({ tx }) => {
      await tx.updateTable('collection').set({ name: 'Renamed' }).where('project_id', '=', stranger.projectId).execute()
    })
    assert.deepEqual(await names(second, stranger), ['Renamed'])
    await replica.run(RESUME)
  })

  await t.test('changes of access rights are never read late, even in another organization', async () => {
    const guest = await first.guest(org.projectId, 'viewer', (await first.organization()).owner)
    const { key, id } = await first.key(org.owner.token)
    await caughtUp()
    const get = (w: World, token: string) => w.call(token, 'projects.get', { project_id: org.projectId })
    assert.equal((await get(second, guest.token)).status, 200)
    assert.equal((await get(second, key)).status, 200)
    await replica.run(PAUSE)
    await first.ok(org.owner.token, 'projects.remove_member', { project_id: org.projectId, user_id: guest.id })
    for (const w of [second, first]) assert.equal((await get(w, guest.token)).status, 404)
    await first.ok(org.owner.token, 'api_keys.revoke', { key_id: id })
    for (const w of [second, first]) assert.equal((await get(w, key)).status, 401)
    await replica.run(RESUME)
  })

  await t.test('a revoked share link is closed at once', async () => {
    const { id } = await create(first, org, 'Shared')
    const terms = { password: 'open sesame', expires_at: '2030-01-02T00:00:00Z' }
    const link = await first.ok(org.owner.token, 'share.link.create', { target_type: 'collection', target_id: id, ...terms })
    const open = (w: World) => w.call(null, 'share.link.validate', { token: link.token, password: terms.password })
    await caughtUp()
    assert.equal((await open(second)).status, 200)
    await replica.run(PAUSE)
    await first.ok(org.owner.token, 'share.link.revoke', { link_id: link.id })
    for (const w of [second, first]) assert.notEqual((await open(w)).status, 200)
    await replica.run(RESUME)
  })

  await t.test('every operation that reads replicas only needs what a replica can do', async () => {
    await caughtUp()
    const operations = [...registry.operations.values()].filter(({ readsReplica }) => readsReplica)
    assert.ok(operations.length > 40)
    for (const { id, example } of operations) {
      await until(`${id} to be read from the replica`, async () => {
        const before = replicaState(first)
        const { status } = await first.call(org.owner.token, id, example.input as object)
        assert.ok(status < 500, `${id}: ${status}`)
        const after = replicaState(first)
        assert.equal(after.repeated, before.repeated, id)
        // A rejected input is not counted, because no query ran to its end.
        return status >= 400 || after.reads > before.reads
      })
    }
  })

  await t.test('connections that the replica ends: reads are repeated on the primary', async () => {
    await caughtUp()
    const before = replicaState(first).repeated
    await until('a repeated read', async () => {
      await untilUsed(first)
      const reads = Promise.all(Array.from({ length: 20 }, () => first.call(org.owner.token, 'projects.list', {})))
      await replica.run(`select pg_terminate_backend(pid) from pg_stat_activity where application_name ~ '^groundtrack \\d+$'`)
      for (const { status } of await reads) assert.equal(status, 200)
      return replicaState(first).repeated > before
    })
  })

  await t.test('killed during reads: nobody notices; back again: it is used', async () => {
    await caughtUp()
    let isOver = false
    const statuses = new Set<number>()
    const reading = Array.from({ length: 8 }, async (_, n) => {
      while (!isOver) statuses.add((await [first, second][n % 2]!.call(org.owner.token, 'projects.list', {})).status)
    })
    await replica.kill()
    await untilSetAside(first)
    await untilSetAside(second)
    assert.equal((await first.request('GET', '/ready')).status, 200)
    await replica.start()
    await untilUsed(first)
    await untilUsed(second)
    isOver = true
    await Promise.all(reading)
    assert.deepEqual([...statuses], [200])
  })

  await t.test('too far behind: not used until it has caught up; an idle primary is never ahead', async () => {
    const strict = await database.process({ maxLagSeconds: 1 })
    await untilUsed(strict)
    await replica.run(PAUSE)
    await create(first, org, 'Ahead')
    await untilSetAside(strict)
    assert.ok(isUsed(first), 'within its limit')
    assert.ok(strict.replicaLines.some((line) => /is not used: it is \d+ s behind the primary/.test(line)))
    await replica.run(RESUME)
    await untilUsed(strict)
  })

  await t.test('a process that does not announce its writes: replicas are not used while it runs', async () => {
    const processes = 5 // More than there are in this test.
    const silent = Array.from(
      { length: processes },
      () => new pg.Client({ connectionString: url, application_name: 'groundtrack notices' }),
    )
    for (const client of silent) await client.connect()
    await until('the line', () => first.replicaLines.some((line) => line.includes('have no DATABASE_REPLICA_URLS')))
    assert.equal(await readsDuring(first, () => names(first, org)), 0)
    for (const client of silent) await client.end()
    await caughtUp()
  })

  await t.test('the primary itself, or a replica of another server, is never used', async (t) => {
    const wrong = await world(t, { databaseUrl: url, replicas: { urls: [url] } })
    await caughtUp() // Probes of all processes have the same rhythm.
    assert.equal(await readsDuring(wrong, () => names(wrong, org)), 0)
    assert.equal(isUsed(wrong), false)
  })

  await t.test('without the setting, nothing is announced', async (t) => {
    const plain = await world(t, { databaseUrl: url })
    const heard: string[] = []
    const listener = new pg.Client({ connectionString: url })
    await listener.connect()
    listener.on('notification', ({ payload }) => void heard.push(payload ?? ''))
    await listener.query('listen groundtrack_write')
    await create(plain, org, 'Quiet')
    await listener.query('select 1')
    assert.equal(heard.length, 0)
    await create(first, org, 'Announced')
    await listener.query('select 1')
    assert.deepEqual([heard.length, heard[0]?.includes(org.id)], [1, true])
    await listener.end()
  })

  await t.test('promoted: not used any more, and nothing can be written to it', async () => {
    await caughtUp()
    await replica.run('select pg_promote()')
    await untilSetAside(first)
    assert.ok(first.replicaLines.some((line) => line.includes('it is not a replica, or was promoted')))
    assert.equal((await first.call(org.owner.token, 'projects.list', {})).status, 200)
    const { rows } = await query(replicaUrl, `select count(*)::int as n from rate_window`)
    assert.equal(rows[0].n, 0)
  })
})

async function query(connectionString: string, text: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}
