// Goal: every call passes the same stages, and a failure in any of them leaves nothing behind.
import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { until } from './support/service.ts'
import { world } from './support/world.ts'

const Empty = Closed({})
const Made = Closed({ id: Type.String() })
const example = { input: {} }

const noted: string[] = []
const note = task({ name: 'test.note', data: Closed({ text: Type.String() }) }).handle(async (_context, { text }) => {
  noted.push(text)
})

/** Makes a project the way an operation of the platform would, with a fault where the test wants one. */
const make = operation({
  id: 'test.make',
  scope: 'projects:write',
  tier: 'compute',
  produces: ['project:created'],
  events: ['project.created'],
  example: { input: { fault: 'none' } },
  input: Closed({ fault: Type.String() }),
  output: Made,
}).handle({
  async check({ principal }) {
    return requireOrganization(principal)
  },
  async execute({ tx, clock, lineage, events, tasks, principal }, { fault }, organizationId) {
    const project = await projects.insert(tx, {
      organizationId,
      name: 'made',
      description: null,
      visibility: 'organization',
      region: 'us-west1',
      createdBy: principal.userId,
      now: clock.now(),
    })
    await tasks.enqueue(note, { text: project.id })
    if (fault === 'nothing produced') lineage.nothingProduced()
    else if (fault !== 'no lineage') lineage.record('project', project.id, 'created')
    if (fault === 'undeclared lineage') lineage.record('item', project.id, 'uploaded', { kind: 'project', id: project.id })
    if (fault === 'unknown origin') lineage.record('project', project.id, 'created', { kind: 'project', id: 'nowhere' })
    if (fault === 'undeclared event') events.emit('item.deleted', project.id, {})
    if (fault === 'broken event') events.emit('project.created', project.id, { id: project.id, secret: 1 })
    if (fault === 'late refusal') throw problem('bad-request', 'changed my mind')
    if (fault === 'crash') throw new Error('secret detail of /etc/passwd: select * from app_user')
    return fault === 'leaky output' ? ({ id: project.id, password: 'x' } as { id: string }) : { id: project.id }
  },
})

const picture = operation({
  id: 'test.picture',
  scope: 'tiles:read',
  tier: 'read',
  raw: 'bytes',
  input: Empty,
  output: Type.Any(),
  example,
}).handle({
  async execute() {
    return { contentType: 'image/png', headers: { ETag: '"a"' }, body: Buffer.from([0x89, 0x50, 0x4e, 0x47]) }
  },
})
const document = operation({
  id: 'test.document',
  scope: 'items:read',
  tier: 'read',
  raw: 'xml',
  input: Empty,
  output: Type.Any(),
  example,
}).handle({
  async execute() {
    return { contentType: 'application/xml', body: Buffer.from('<ok/>') }
  },
})
const lines = operation({
  id: 'test.lines',
  scope: 'catalog:read',
  tier: 'read',
  raw: 'ndjson',
  input: Closed({ failAt: Type.Integer() }),
  output: Closed({ n: Type.Integer() }),
  example: { input: { failAt: 0 } },
}).handle({
  async execute(_context, { failAt }) {
    return (async function* () {
      for (let n = 1; n <= 3; n++) {
        if (n === failAt) throw new Error('secret detail')
        yield { n }
      }
    })()
  },
})
const open = operation({
  id: 'test.open',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  input: Empty,
  output: Closed({ kind: Type.String() }),
  example,
}).handle({
  async execute({ principal }) {
    return { kind: principal.kind }
  },
})

test('a write is atomic', async (t) => {
  const w = await world(t, { operations: [make], tasks: [note] })
  const { owner } = await w.organization()
  const state = async () => {
    const rows = async (table: 'project' | 'lineage_node' | 'event') => (await w.db.selectFrom(table).selectAll().execute()).length
    return { projects: await rows('project'), nodes: await rows('lineage_node'), events: await rows('event'), tasks: await w.drain(note) }
  }
  const before = await state()

  // Goal: whatever goes wrong in or after execute, no row, no lineage, no event and no job stays.
  const faults: [string, number, string][] = [
    ['no lineage', 500, 'provenance-error'],
    ['undeclared lineage', 500, 'provenance-error'],
    ['unknown origin', 500, 'provenance-error'],
    ['undeclared event', 500, 'internal-error'],
    ['broken event', 500, 'internal-error'],
    ['leaky output', 500, 'internal-error'],
    ['late refusal', 400, 'bad-request'],
    ['crash', 500, 'internal-error'],
  ]
  for (const [fault, status, code] of faults) {
    await t.test(`${fault}: ${status}, and nothing is stored`, async () => {
      const answer = await w.call(owner.token, 'test.make', { fault })
      assert.equal(answer.status, status)
      assert.equal(answer.body.code, code)
      assert.doesNotMatch(answer.bytes.toString(), /secret|passwd|select/)
      assert.deepEqual(await state(), { ...before, tasks: 0 })
      await w.flushAudit()
      const entry = await w.db
        .selectFrom('audit')
        .selectAll()
        .where('invocation_id', '=', answer.headers.get('x-svc-invocation-id')!)
        .executeTakeFirstOrThrow()
      assert.equal(entry.status, status)
    })
  }

  await t.test('none: everything is committed together, including the job', async () => {
    const { body, headers } = await w.call(owner.token, 'test.make', { fault: 'none' })
    const invocation = headers.get('x-svc-invocation-id')!
    const node = await w.db.selectFrom('lineage_node').selectAll().where('entity_id', '=', body.id).executeTakeFirstOrThrow()
    assert.equal(node.invocation_id, invocation)
    const entry = await w.db.selectFrom('audit').selectAll().where('invocation_id', '=', invocation).executeTakeFirstOrThrow()
    assert.deepEqual([entry.status, entry.artifacts], [200, [`project ${body.id}`]])
    assert.equal(await w.drain(note), 1)
    assert.deepEqual(noted, [body.id])
  })

  await t.test('an operation that declares no results needs no lineage', async () => {
    const { status, body } = await w.call(owner.token, 'test.make', { fault: 'nothing produced' })
    assert.equal(status, 200)
    assert.equal((await w.db.selectFrom('lineage_node').selectAll().where('entity_id', '=', body.id).execute()).length, 0)
    await w.drain(note)
  })
})

test('raw operations pass the same stages', async (t) => {
  const w = await world(t, { operations: [picture, document, lines] })
  const { owner } = await w.organization()

  await t.test('bytes and XML are sent unchanged', async () => {
    const image = await w.call(owner.token, 'test.picture')
    assert.deepEqual(
      [image.status, image.headers.get('content-type'), image.headers.get('etag'), image.bytes.toString('hex')],
      [200, 'image/png', '"a"', '89504e47'],
    )
    const xml = await w.call(owner.token, 'test.document')
    assert.deepEqual([xml.headers.get('content-type'), xml.bytes.toString()], ['application/xml', '<ok/>'])
    assert.equal((await w.call(null, 'test.picture')).status, 401)
    assert.equal((await w.call(owner.token, 'test.picture', { more: 1 })).status, 422)
  })

  await t.test('lines are streamed and validated; a failure becomes a line without secrets', async () => {
    const whole = await w.call(owner.token, 'test.lines', { failAt: 0 })
    assert.equal(whole.headers.get('content-type'), 'application/x-ndjson')
    assert.equal(whole.bytes.toString(), '{"n":1}\n{"n":2}\n{"n":3}\n')
    const broken = await w.call(owner.token, 'test.lines', { failAt: 2 })
    const [first, last] = broken.bytes
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(first, { n: 1 })
    assert.deepEqual([last.type, last.status, last.code], ['Error', 500, 'internal-error'])
    assert.doesNotMatch(broken.bytes.toString(), /secret/)
    await w.flushAudit()
    assert.equal((await w.db.selectFrom('audit').selectAll().where('operation', '=', 'test.lines').execute()).length, 2)
  })
})

// Goal: a stream that nobody reads is audited like any other call, and the service does not wait for it when it stops.
test('a stream dropped before its first byte is audited', async (t) => {
  const asked = Promise.withResolvers<AbortSignal>()
  const answered = Promise.withResolvers<void>()
  const slow = operation({
    id: 'test.slow',
    scope: 'catalog:read',
    tier: 'read',
    raw: 'ndjson',
    input: Empty,
    output: Closed({ n: Type.Integer() }),
    example,
  }).handle({
    async execute({ signal }) {
      asked.resolve(signal)
      await answered.promise
      return (async function* () {
        yield { n: 1 }
      })()
    },
  })
  const w = await world(t, { operations: [slow] })
  const { owner } = await w.organization()
  const headers = { authorization: `Bearer ${owner.token}` }
  const leaving = http.request(`${w.baseUrl}/v1/op/test.slow`, { method: 'POST', headers, agent: false }).on('error', () => {})
  leaving.end()
  const signal = await asked.promise
  const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  leaving.destroy()
  await gone
  answered.resolve()
  await until('an audit entry', async () => {
    await w.flushAudit()
    return (await w.db.selectFrom('audit').selectAll().where('operation', '=', 'test.slow').execute()).length === 1
  })
})

// Goal: once a change is committed, no response denies it.
test('a failure after the commit does not deny the change', async (t) => {
  const late = operation({
    id: 'test.late',
    scope: 'projects:write',
    tier: 'compute',
    input: Empty,
    output: Made,
    example,
  }).handle({
    async execute({ invocationId }) {
      return { id: invocationId }
    },
    async afterwards() {
      throw new Error('secret detail of what came afterwards')
    },
  })
  const w = await world(t, { operations: [late] })
  const { owner } = await w.organization()

  await t.test('in `afterwards`: the saved response is sent, and the failure is logged', async () => {
    const { status, body, headers } = await w.call(owner.token, 'test.late')
    assert.deepEqual([status, body], [200, { id: headers.get('x-svc-invocation-id') }])
    assert.ok(w.logLines.some((line) => line.includes('secret detail of what came afterwards')))
  })

  await t.test('while other processes are notified of a revoked key: 500 that says the change is saved', async () => {
    const { id } = await w.key(owner.token)
    t.mock.method(w.platform, 'rightsChanged', async () => {
      throw new Error('secret detail of notices')
    })
    const { status, body } = await w.call(owner.token, 'api_keys.revoke', { key_id: id })
    assert.deepEqual([status, body.code], [500, 'internal-error'])
    assert.match(body.detail, /^The change was saved/)
    assert.ok(w.logLines.some((line) => line.includes('secret detail of notices')))
    const row = await w.db.selectFrom('api_key').select('revoked_at').where('id', '=', id).executeTakeFirstOrThrow()
    assert.notEqual(row.revoked_at, null)
  })
})

test('public operations run without a credential and ignore a bad one', async (t) => {
  const w = await world(t, { operations: [open] })
  for (const credential of [null, 'nonsense']) {
    const { status, body, headers } = await w.call(credential, 'test.open')
    assert.deepEqual([status, body], [200, { kind: 'anonymous' }])
    assert.match(headers.get('ratelimit-policy')!, /^"address";q=600;w=60$/)
  }
})

test('a key has exactly its number of requests per window, which starts with the first', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token, ['read'], { rate_limit: 3 })
  const call = () => w.call(key, 'organizations.get')
  w.clock.advance({ minutes: 10 })
  const first = await call()
  assert.equal(first.headers.get('ratelimit-policy'), '"key";q=3;w=3600')
  assert.equal(first.headers.get('ratelimit'), '"key";r=2;t=3600')
  w.clock.advance({ minutes: 30 })
  assert.equal((await w.call(key, 'projects.create', { name: 'x' })).status, 403, 'a refused call counts too')
  assert.equal((await call()).status, 200)
  const over = await call()
  assert.deepEqual(
    [over.status, over.body.code, over.headers.get('retry-after'), over.headers.get('ratelimit')],
    [429, 'rate-limited', '1800', '"key";r=0;t=1800'],
  )
  assert.equal(
    (await w.request('POST', '/v1/organizations/get', { headers: { 'x-api-key': key } })).status,
    429,
    'the other path and header are the same key',
  )
  w.clock.advance({ minutes: 30 })
  assert.equal((await call()).status, 200, 'a new window')
})

test('per-key counting', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()

  await t.test('100 at once on a limit of 40: exactly 40 pass', async () => {
    const { key } = await w.key(owner.token, ['read'], { rate_limit: 40 })
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await w.call(key, 'organizations.get')).status))
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length], [40, 60])
  })

  await t.test('use is counted on the key', async () => {
    const { key, id } = await w.key(owner.token)
    for (let i = 0; i < 3; i++) await w.call(key, 'organizations.get')
    await w.flushAudit()
    const listed = (await w.ok(owner.token, 'api_keys.list')).find((entry: { id: string }) => entry.id === id)
    assert.equal(listed.total_requests, 3)
    assert.equal(listed.last_used_at, w.clock.now().toISOString())
  })
})

test('the event catalogue', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const { status, body } = await w.request('GET', '/v1/event-types', { headers: { authorization: `Bearer ${owner.token}` } })
  assert.equal(status, 200)
  const types = body.event_types.map((entry: { type: string }) => entry.type)
  assert.equal(new Set(types).size, types.length)
  for (const stated of [
    'order.created',
    'quotation.rejected',
    'job.captured',
    'upload.completed',
    'collection.updated',
    'analytics.executed',
    'payment_method.detached',
    'alert.triggered',
  ])
    assert.ok(types.includes(stated), stated)
  for (const entry of body.event_types) assert.equal(entry.data_schema.additionalProperties, false, entry.type)
  assert.equal((await w.request('GET', '/v1/event-types')).status, 401)
})
