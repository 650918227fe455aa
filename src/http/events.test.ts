import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { sql } from 'kysely'
import { campaign, testSeed } from '../../test/support/campaign.ts'
import { seeded } from '../../test/support/random.ts'
import { until } from '../../test/support/service.ts'
import { listen } from '../../test/support/sse.ts'
import { world } from '../../test/support/world.ts'
import { STREAM_LIMITS } from '#background/event-stream.ts'

/** A stream that nobody ends goes on for ever, and a busy machine only takes longer. */
const ENDS_MS = 120_000

// Goal: a stream delivers every event of the organization that its user can read, from every process, and no others.
test('GET /v1/events', async (t) => {
  const w = await world(t)
  const second = await world(t, { databaseUrl: w.databaseUrl })
  const org = await w.organization()
  const stranger = await w.organization()
  const make = (name: string, project_id = org.projectId) => w.ok(org.owner.token, 'collections.create', { project_id, name })

  await t.test('an event of one process is streamed by both, in the form of a webhook', async () => {
    const streams = await Promise.all([w, second].map(({ baseUrl }) => listen(baseUrl, org.owner.token)))
    const other = await listen(w.baseUrl, stranger.owner.token)
    const { id } = await make('Reef')
    for (const stream of streams) {
      await stream.until(1)
      const [{ id: eventId, type, body }] = stream.heard as [(typeof stream.heard)[number]]
      assert.deepEqual([type, body.event_id, body.entity_id, body.data.name], ['collection.created', eventId, id, 'Reef'])
    }
    await w.ok(stranger.owner.token, 'projects.create', { name: 'Theirs' })
    await other.until(1)
    assert.deepEqual(
      other.heard.map(({ type }) => type),
      ['project.created'],
    )
    for (const stream of [...streams, other]) stream.cut()
  })

  await t.test('Last-Event-ID resumes after that event; an ID of another organization is 422', async () => {
    const first = await listen(w.baseUrl, org.owner.token)
    await make('one')
    await first.until(1)
    first.cut()
    await make('two')
    await make('three')
    const resumed = await listen(second.baseUrl, org.owner.token, first.heard[0]!.id)
    await make('four')
    await resumed.until(3)
    assert.deepEqual(
      resumed.heard.map(({ body }) => body.data.name),
      ['two', 'three', 'four'],
    )
    resumed.cut()
    assert.equal((await listen(w.baseUrl, stranger.owner.token, first.heard[0]!.id)).status, 422)
    assert.equal((await listen(w.baseUrl, stranger.owner.token, 'nonsense')).status, 422)
  })

  await t.test('an event of a transaction that commits late is not skipped', async () => {
    const stream = await listen(w.baseUrl, org.owner.token)
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let begun = () => {}
    const started = new Promise<void>((resolve) => (begun = resolve))
    const late = w.db.transaction().execute(async (tx) => {
      const { write } = await import('#model/platform/outbox.ts')
      const data = { id: 'x', name: 'late', visibility: 'organization', status: 'active', created_at: w.clock.now().toISOString() }
      await write(tx, org.id, org.id, [{ type: 'project.created', entityId: org.projectId, data }], w.clock.now())
      begun()
      await held
    })
    await started
    await make('early')
    assert.equal(stream.heard.length, 0, 'what might still get a predecessor waits')
    release()
    await late
    await stream.until(2)
    assert.deepEqual(
      stream.heard.map(({ body }) => body.data.name),
      ['late', 'early'],
    )
    stream.cut()
  })

  await t.test('events committed before the stream opened are not sent, even if an older transaction delays them', async () => {
    const held = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const older = w.db.transaction().execute(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx)
      begun.resolve()
      await held.promise
    })
    await begun.promise
    await make('before')
    const stream = await listen(w.baseUrl, org.owner.token)
    await make('after')
    held.resolve()
    await older
    await stream.until(1)
    assert.deepEqual(
      stream.heard.map(({ body }) => body.data.name),
      ['after'],
    )
    stream.cut()
  })

  await t.test('row 39: events of private projects are only sent to their members', async () => {
    const outsider = await w.member(org)
    const insider = await w.member(org)
    const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
    await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id: insider.id, role: 'viewer' })
    const { key } = await w.key(outsider.token, ['read'])
    const [out, byKey, inside, owner] = await Promise.all(
      [outsider.token, key, insider.token, org.owner.token].map((token) => listen(w.baseUrl, token)),
    )
    await make('private', project_id)
    await make('open')
    for (const stream of [out!, byKey!]) {
      await stream.until(1)
      assert.deepEqual(
        stream.heard.map(({ body }) => body.data.name),
        ['open'],
      )
    }
    for (const stream of [inside!, owner!]) {
      await stream.until(2)
      assert.deepEqual(
        stream.heard.map(({ body }) => body.data.name),
        ['private', 'open'],
      )
    }
    for (const stream of [out!, byKey!, inside!, owner!]) stream.cut()
  })

  await t.test('row 39: a stream ends within seconds of its credential', async () => {
    const { id, key } = await w.key(org.owner.token, ['read'])
    const guest = await w.member(org)
    const [byKey, bySession] = await Promise.all([listen(w.baseUrl, key), listen(second.baseUrl, guest.token)])
    const revokedMs = performance.now()
    await w.ok(org.owner.token, 'api_keys.revoke', { key_id: id })
    await w.post('/auth/sign-out', { refresh_token: guest.refreshToken })
    await Promise.all([byKey.ended, bySession.ended])
    assert.ok(performance.now() - revokedMs < ENDS_MS)
  })

  await t.test('a caller without access is rejected', async () => {
    assert.equal((await listen(w.baseUrl, 'nonsense')).status, 401)
    assert.equal((await listen(w.baseUrl, (await w.person()).token)).status, 403)
    assert.equal((await listen(w.baseUrl, await w.workerToken(org.id, org.id))).status, 403)
  })
})

// Goal: however often a client is disconnected, it receives every event once, in order.
test('a client that is disconnected repeatedly misses no event and gets none twice', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const cuts = campaign({ short: 20, long: 100 })
  const seed = testSeed
  const random = seeded(seed)
  const { key } = await w.key(org.owner.token, ['write'])
  let stream = await listen(w.baseUrl, key)
  const make = (name: string) => w.ok(key, 'collections.create', { project_id: org.projectId, name })
  let isOver = false
  const writing = (async () => {
    for (let n = 0; !isOver; n++) await Promise.all([0, 1, 2, 3].map((k) => make(`${n} ${k}`)))
  })()
  const heard: string[] = []
  for (let cut = 0; cut < cuts; cut++) {
    await stream.until(random.integer(1, 6))
    stream.cut()
    await stream.ended
    heard.push(...stream.heard.map(({ id }) => id))
    stream = await listen(w.baseUrl, key, heard.at(-1))
  }
  isOver = true
  await writing
  const written = await w.db
    .selectFrom('event')
    .select('id')
    .where('type', '=', 'collection.created')
    .orderBy('txid')
    .orderBy('seq')
    .execute()
  await stream.until(written.length - heard.length)
  stream.cut()
  heard.push(...stream.heard.map(({ id }) => id))
  assert.deepEqual(
    heard,
    written.map(({ id }) => id),
    `seed ${seed}`,
  )
  t.diagnostic(`${cuts} cuts, ${heard.length} events, seed ${seed}`)
})

// Goal: one organization's streams leave capacity for others, even if they all open at once.
test('streams are limited by user and organization', async (t) => {
  const w = await world(t)
  const [org, other] = [await w.organization(), await w.organization()]
  const { perUser, perOrganization } = STREAM_LIMITS
  const open = (token: string) => listen(w.baseUrl, token)
  const atOnce = (token: string, count: number) => Promise.all(Array.from({ length: count }, () => open(token)))
  const accepted = (streams: Awaited<ReturnType<typeof atOnce>>) => streams.filter(({ status }) => status === 200).length
  const [second, third] = [await w.member(org), await w.member(org)]
  const ofFirst = await atOnce(org.owner.token, perUser + 20)
  assert.deepEqual([accepted(ofFirst), ofFirst.filter(({ status }) => status === 429).length], [perUser, 20])
  const ofOthers = (await Promise.all([atOnce(second.token, perUser), atOnce(third.token, perUser)])).flat()
  assert.equal(accepted(ofFirst) + accepted(ofOthers), perOrganization)
  const theirs = await open(other.owner.token)
  assert.equal(theirs.status, 200)
  ofFirst.find(({ status }) => status === 200)!.cut()
  await until('a place', async () => {
    const stream = await open(org.owner.token)
    stream.cut()
    return stream.status === 200
  })
  for (const stream of [...ofFirst, ...ofOthers, theirs]) stream.cut()
})

// Goal: a client that disconnects while it joins leaves nothing behind, such as a timer that keeps authenticating.
test('a client that disconnects while joining leaves nothing behind', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const authenticated = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const { authenticate } = w.platform.authenticator
  let count = 0
  t.mock.method(w.platform.authenticator, 'authenticate', async (...given: Parameters<typeof authenticate>) => {
    const current = await authenticate(...given)
    if (++count > 1) return current
    authenticated.resolve()
    await gone.promise
    return current
  })
  const timers = new Set<unknown>()
  const { setInterval: set, clearInterval: clear } = globalThis
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    const timer = set(work, ms)
    timers.add(timer)
    return timer
  })
  t.mock.method(globalThis, 'clearInterval', (timer: NodeJS.Timeout) => {
    timers.delete(timer)
    clear(timer)
  })
  const headers = { authorization: `Bearer ${owner.token}` }
  const leaving = http.request(`${w.baseUrl}/v1/events`, { headers, agent: false }).on('error', () => {})
  leaving.end()
  await authenticated.promise
  leaving.destroy()
  await w.request('GET', '/health') // Served after the server has seen the connection end.
  gone.resolve()
  const later = await listen(w.baseUrl, owner.token) // Joins after it.
  later.cut()
  await later.ended
  await until('no timer is left', async () => timers.size === 0)
})
