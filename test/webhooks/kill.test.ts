import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { openDatabase } from '#db/open.ts'
import { campaign, testSeed } from '../support/campaign.ts'
import { createDatabase } from '../support/database.ts'
import { seeded } from '../support/random.ts'
import { receiver, type Received } from '../support/receiver.ts'
import { openLab, type Service } from '../support/service.ts'

const { kills, eventsPerOrganization } = campaign({
  short: { kills: 3, eventsPerOrganization: 8 },
  ci: { kills: 6, eventsPerOrganization: 50 },
  long: { kills: 20, eventsPerOrganization: 200 },
})
/** For each of two organizations: of 50 in all, 15 answer 503 every other time, at random, and 5 hang. */
const ENDPOINTS = 25
const isFlaky = (n: number) => n % 10 >= 5 && n % 10 <= 7
const isHanging = (n: number) => n % 10 === 9
const isHealthy = (n: number) => !isFlaky(n) && !isHanging(n)
const TIMEOUT_SECONDS = 1
const SETTLE_MS = 1_200_000
/** An api that was killed is started at once; on a busy machine that takes its time. */
const COMES_BACK_MS = 600_000
const ENV = {
  DEMO: '0',
  PAYMENTS: 'none',
  PORT: '0',
  LOG_LEVEL: 'error',
  WEBHOOK_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
  WEBHOOK_BACKOFF_SECONDS: '0.2,0.4',
}

/** Signed by the secret, for the plain way and for the published verifier. */
function requireSigned({ headers, text }: Received, secret: string): void {
  assert.equal(headers['x-svc-signature'], `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`)
  new Webhook(secret).verify(text, headers as Record<string, string>)
}

// Goal: whatever is killed and whatever endpoints do, each delivery arrives at least once or becomes a dead letter with a reason.
test('webhooks survive kill -9 of api and worker', async (t) => {
  const seed = testSeed
  const random = seeded(seed)
  const secrets = new Map<string, string>()
  const wronglySigned: unknown[] = []
  const endpoint = await receiver(t, (got, response) => {
    // At once: the published verifier takes what is older than five minutes for a replay.
    try {
      requireSigned(got, secrets.get(got.path)!)
    } catch (error) {
      wronglySigned.push(error)
    }
    const n = Number(got.path.split('/')[3])
    if (isHanging(n)) return
    response.writeHead(isFlaky(n) && random.next() < 0.5 ? 503 : 204).end()
  })
  const database = await createDatabase()
  const lab = openLab()
  t.after(async () => {
    await lab.close()
    await database.drop()
  })
  const { db, close } = openDatabase(database.url, { maxConnections: 2 })
  t.after(close)
  const dataDir = lab.dataDir()
  const start = (ROLE: string) =>
    lab.start({ env: { ...ENV, ROLE, DATABASE_URL: database.url, DATA_DIR: dataDir, EGRESS_ALLOW: endpoint.host } })
  const running: Record<'api' | 'worker', Service> = { api: await start('api'), worker: await start('worker') }
  const post = async (path: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
    const answer = await fetch(running.api.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const createOwner = async (name: string, firstEndpoint: number) => {
    const { access_token } = await post('/auth/sign-up', { email: `${name}@example.com`, password: 'correct horse battery', name })
    const { id } = await post('/v1/op/organizations.create', { name }, access_token)
    const { access_token: token } = await post('/auth/sign-in', { email: `${name}@example.com`, password: 'correct horse battery' })
    const { key } = await post('/v1/op/api_keys.create', { name, permissions: ['read', 'write'] }, token)
    const project = await post('/v1/op/projects.create', { name }, key)
    for (let n = firstEndpoint; n < firstEndpoint + ENDPOINTS; n++) {
      const wanted = { event_type: 'collection.created', endpoint_url: `${endpoint.url}/${id}/${n}` }
      const { signing_secret } = await post('/v1/op/event_subscriptions.create', wanted, key)
      secrets.set(new URL(wanted.endpoint_url).pathname, signing_secret)
    }
    return { key: key as string, projectId: project.id as string }
  }
  const organizations = [await createOwner('first', 0), await createOwner('second', ENDPOINTS)]

  const acknowledged: string[] = []
  const make = async (n: number, { key, projectId }: (typeof organizations)[number]) => {
    const deadline = Date.now() + COMES_BACK_MS
    while (Date.now() < deadline) {
      const collection = await post('/v1/op/collections.create', { project_id: projectId, name: `${n}` }, key).catch(() => null)
      if (collection) return void acknowledged.push(collection.id)
      await sleep(50) // The api is being started again.
    }
    throw new Error('the api did not come back')
  }
  const killing = (async () => {
    for (let n = 0; n < kills; n++) {
      await sleep(random.integer(200, 1_500))
      const role = random.pick(['api', 'worker'] as const)
      await running[role].kill('SIGKILL')
      running[role] = await start(role)
    }
  })()
  for (let n = 0; n < eventsPerOrganization; n++) await Promise.all(organizations.map((organization) => make(n, organization)))
  await killing

  const deadline = Date.now() + SETTLE_MS
  const open = async () =>
    (await db.selectFrom('webhook_delivery').select('id').where('state', 'in', ['pending', 'held']).limit(1).execute()).length
  while ((await open()) > 0 && Date.now() < deadline) await sleep(200)
  const deliveries = await db
    .selectFrom('webhook_delivery as d')
    .innerJoin('event as e', 'e.seq', 'd.event_seq')
    .innerJoin('event_subscription as s', 's.id', 'd.subscription_id')
    .select(['d.state', 'd.reason', 'e.id as eventId', 'e.entity_id as entityId', 'e.org_id as organizationId', 's.endpoint_url as url'])
    .execute()
  const arrived = new Set(endpoint.received.map(({ path, body }) => `${path} ${body.event_id}`))
  const placeOf = (url: string) => new URL(url).pathname
  const dead = deliveries.filter(({ state }) => state === 'dead')
  t.diagnostic(`seed ${seed}: ${deliveries.length} deliveries, ${endpoint.received.length} requests, ${dead.length} dead, ${kills} kills`)

  const told = new Set(deliveries.map(({ entityId }) => entityId))
  assert.ok(
    acknowledged.every((id) => told.has(id)),
    'what was acknowledged has its deliveries',
  )
  assert.equal(deliveries.length, told.size * ENDPOINTS, 'one for each subscription')
  assert.deepEqual(deliveries.filter(({ state }) => state !== 'delivered' && state !== 'dead').length, 0, 'each has ended')
  for (const { state, reason, url, eventId } of deliveries) {
    if (state === 'delivered') assert.ok(arrived.has(`${placeOf(url)} ${eventId}`), 'delivered means that it arrived')
    else assert.match(reason!, /^All \d+ attempts failed/)
  }
  // A healthy endpoint answers 204, so on a busy machine only the deadline can fail an attempt there: never a lost connection.
  const early = await db
    .selectFrom('webhook_attempt as a')
    .innerJoin('webhook_delivery as d', 'd.id', 'a.delivery_id')
    .innerJoin('event_subscription as s', 's.id', 'd.subscription_id')
    .select(['s.endpoint_url as url', 'a.duration_ms as durationMs', 'a.http_status as status'])
    .where('a.error', 'is not', null)
    .execute()
  const ofHealthy = early.filter(({ url }) => isHealthy(Number(url.split('/').at(-1))))
  t.diagnostic(`${ofHealthy.length} attempts at healthy endpoints ran into the deadline`)
  assert.deepEqual(
    ofHealthy.filter(({ durationMs, status }) => status !== null || durationMs < TIMEOUT_SECONDS * 1_000 - 1),
    [],
  )
  assert.deepEqual(wronglySigned, [])
  for (const { path, body } of endpoint.received) assert.equal(body.organization_id, path.split('/')[2], 'nothing for another tenant')
})
