import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { sql } from 'kysely'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { operations } from '#registry.ts'
import { campaign, someOf } from '../support/campaign.ts'
import { until } from '../support/service.ts'
import { world, type Answer, type World } from '../support/world.ts'
import { businessDigest } from './digest.ts'
import { OPEN_HOST } from './makers.ts'
import { rows } from './rows.ts'

/** Every table and column name that tells of our insides, and the shapes of stacks, statements, paths and driver errors. */
async function telltales(w: World): Promise<RegExp[]> {
  const { rows } = await sql<{
    name: string
  }>`select table_name as name from information_schema.tables where table_schema in ('public', 'queue')`.execute(w.db)
  const tables = rows.map(({ name }) => name).filter((name) => name.includes('_')) // 'project' and 'event' are words of the interface too.
  return [
    new RegExp(`\\b(${tables.join('|')})\\b`),
    /\bat .*[\w./]+:\d+/,
    /\.(ts|mjs|js)\b/,
    /node_modules|node:internal|file:\/\//,
    /\/(work|home|tmp|var|usr|src)\//,
    /\b(select|insert into|update \w+ set|delete from|alter table)\b/i,
    /\b(relation|column|constraint|syntax|duplicate key|transaction is aborted|statement timeout)\b/i,
    /\b(postgres|kysely|pg|fastify|typebox|jose|socket|ECONN\w*|connection|terminat\w+|Error:)\b/i,
    /\b(23505|42P01|42703|57P01|3D000)\b/,
    /\$\d\b/,
  ]
}

const FAULT = {
  title: 'Internal Server Error',
  status: 500,
  detail: 'An internal error occurred. The request was rolled back.',
  code: 'internal-error',
}
const AWAY = { title: 'Service Unavailable', status: 503, detail: 'The database cannot be reached; try again shortly', code: 'unavailable' }

function requireFixed(answer: Answer, signs: readonly RegExp[], why: string, expected = FAULT): void {
  assert.equal(answer.status, expected.status, why)
  const { instance, type, ...rest } = answer.body
  assert.deepEqual(rest, expected, why)
  assert.ok(type.endsWith(`/problems/${expected.code}`), type)
  assert.match(instance, /^urn:uuid:[0-9a-f-]{36}$/)
  const text = `${answer.bytes.toString()}\n${[...answer.headers]
    .filter(([name]) => !['content-security-policy', 'access-control-expose-headers'].includes(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}`
  for (const sign of signs)
    assert.doesNotMatch(text.replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, '').replace(/^connection: .*$/m, ''), sign, why)
}

async function broken<T>(w: World, what: string, meanwhile: () => Promise<T>): Promise<T> {
  const [kind, name] = what.split(' ') as ['table' | 'column', string]
  const [table, column] = name.split('.') as [string, string | undefined]
  const rename = (from: string, to: string) =>
    kind === 'table'
      ? sql`alter table ${sql.id(from)} rename to ${sql.id(to)}`.execute(w.db)
      : sql`alter table ${sql.id(table)} rename column ${sql.id(from)} to ${sql.id(to)}`.execute(w.db)
  await w.flushAudit()
  await rename(column ?? table, 'gone')
  try {
    return await meanwhile()
  } finally {
    await rename('gone', column ?? table)
  }
}

// Goal: when the ground breaks under an operation, the caller learns which call it was, and nothing about the inside; the
// log has the rest under the same id; nothing of the call remains.
test('row 25: an internal error in any operation reveals nothing', async (t) => {
  // Nothing moves by itself between two digests; files by reference may be downloaded.
  const w = await world(t, { payments: { manualNotices: true }, egressAllow: [OPEN_HOST], vendors: true })
  const org = await w.organization()
  const everything = await w.serviceToken(null)
  const everythingHere = await w.serviceToken(org.id)
  // Whoever holds the scope: what is the platform's, or the clip user's, is nobody's by a role in an organization.
  const holderOf = (scope: string) =>
    scope.startsWith('admin:') ? everything : scope.startsWith('clip:') ? everythingHere : org.owner.token
  const signs = await telltales(w)
  assert.deepEqual([...rows.keys()].toSorted(), [...operations.keys()].toSorted(), 'every operation has its row')

  for (const [id, { breaks, input }] of campaign({ short: someOf([...rows], 4), long: [...rows] })) {
    if (breaks === null) continue
    await t.test(`${id} without ${breaks}`, async () => {
      const body = await input(w, org)
      const credential = holderOf(operations.get(id)!.scope)
      const before = await businessDigest(w.db)
      const answer = await broken(w, breaks, () => w.call(credential, id, body))
      requireFixed(answer, signs, id)
      assert.equal(answer.body.instance, `urn:uuid:${answer.headers.get('x-svc-invocation-id')}`)
      const fault = w.logLines
        .map((line) => JSON.parse(line))
        .find((line) => line.msg === 'fault' && line.invocation === answer.headers.get('x-svc-invocation-id'))
      assert.equal(fault?.operation, id, 'the log knows the call')
      assert.ok(fault.err.message.length > 0 && fault.err.stack.includes('.ts'), 'and why it failed')
      assert.equal(await businessDigest(w.db), before)
      await w.flushAudit()
      const audited = await w.db
        .selectFrom('audit')
        .select(['status', 'operation'])
        .where('invocation_id', '=', answer.headers.get('x-svc-invocation-id')!)
        .execute()
      assert.deepEqual(audited, [{ status: 500, operation: id }], 'and so does the audit')
    })
  }

  await t.test('errors outside the operation: credentials, limits, audit, sign-in', async () => {
    const { key } = await w.key(org.owner.token)
    for (const [breaks, attempt] of [
      ['table user_session', () => w.call(org.owner.token, 'projects.list')],
      ['column api_key.secret_hash', () => w.call(key, 'projects.list')],
      ['table rate_window', () => w.call(key, 'projects.list')],
      ['column audit.input_hash', () => w.call(org.owner.token, 'projects.create', { name: 'not audited, not made' })],
      ['table event', () => w.call(org.owner.token, 'projects.create', { name: 'not told, not made' })],
      ['table user_session', () => w.request('GET', '/v1/event-types', { headers: { authorization: `Bearer ${org.owner.token}` } })],
      ['table app_user', () => w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password })],
      ['table rate_window', () => w.post('/auth/sign-up', { email: 'new@example.com', password: 'long enough password', name: 'x' })],
      ['table refresh_token', () => w.post('/auth/refresh', { refresh_token: org.owner.refreshToken })],
    ] as const)
      requireFixed(await broken(w, breaks, attempt), signs, breaks)
    assert.equal((await w.db.selectFrom('project').select('id').where('name', 'like', 'not %').execute()).length, 0)
  })

  await t.test('an operation that throws arbitrary values', async () => {
    for (const thrown of [
      new Error('select secret from vault'),
      'a string at /home/x.ts:1',
      null,
      { statusCode: 404, message: 'x' },
      Object.assign(new Error('gone'), { statusCode: 418, status: 200 }),
    ]) {
      const op = operation({
        id: 'test.throws',
        scope: 'items:read',
        tier: 'read',
        input: Closed({}),
        output: Closed({}),
        example: { input: {} },
      }).handle({ execute: () => Promise.reject(thrown) })
      const other = await world(t, { operations: [op], databaseUrl: w.databaseUrl })
      requireFixed(await other.call(org.owner.token, 'test.throws'), signs, String(thrown))
    }
  })
})

// Goal: when connections fail or the database rejects new ones, callers get a fixed response, and the service recovers automatically.
test('row 25: a database outage', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const signs = await telltales(w)
  const name = new URL(w.databaseUrl).pathname.slice(1)
  const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL']! })
  await admin.connect()
  t.after(() => admin.end())
  const endConnections = () => admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  await w.flushAudit()

  await t.test('the database rejects all connections for a while', async () => {
    await admin.query(`alter database ${name} with allow_connections false`)
    let lastStatus = 0
    try {
      await endConnections()
      for (const id of operations.keys()) {
        const answer = await w.call(org.owner.token, id, operations.get(id)!.example.input as object)
        // A call that found a connection which was just ending is a fault; whoever finds none is told to come back.
        requireFixed(answer, signs, id, answer.status === 503 ? AWAY : FAULT)
        lastStatus = answer.status
      }
      assert.equal(lastStatus, 503)
      requireFixed(await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password }), signs, 'sign-in', AWAY)
      assert.equal((await w.request('GET', '/health')).status, 200)
    } finally {
      await admin.query(`alter database ${name} with allow_connections true`)
    }
    await requireBack(w, org.owner.token)
  })

  await t.test('connections are repeatedly closed under load: responses are complete or the fixed problem', async () => {
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 30 }, (_, index) =>
        w.call(org.owner.token, index % 2 ? 'projects.list' : 'projects.create', index % 2 ? {} : { name: `cut ${round} ${index}` }),
      )
      await endConnections()
      const answers = await Promise.all(calls)
      for (const answer of answers)
        if (answer.status !== 200) requireFixed(answer, signs, `round ${round}`, answer.status === 503 ? AWAY : FAULT)
      const acknowledged = answers.filter(({ status, body }) => status === 200 && body.id).map(({ body }) => body.id as string)
      const witness = new pg.Client({ connectionString: w.databaseUrl })
      await witness.connect()
      const { rowCount } = await witness.query('select id from project where id = any($1::uuid[])', [acknowledged])
      await witness.end()
      assert.equal(rowCount, acknowledged.length, 'what was acknowledged is there')
    }
    await requireBack(w, org.owner.token)
  })
})

/** At once, without a restart. PgBouncer still hands out connections that have been closed, and waits before it opens new ones. */
async function requireBack(w: World, token: string): Promise<void> {
  const status = async () => (await w.call(token, 'projects.list')).status
  if (process.env['TEST_POOLER_URL']) await until('the pooler to reconnect', async () => (await status()) === 200)
  assert.equal(await status(), 200)
}

// Goal: any page may call with a credential of its own, no page can borrow one, and it can read what it needs.
test('row 25: cross-origin calls', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const names = (value: string | null) => (value ?? '').toLowerCase().split(/,\s*/)

  const preflight = await w.request('OPTIONS', '/v1/op/projects.list', {
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key,x-api-key',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.bytes.length, 0)
  assert.ok(names(preflight.headers.get('access-control-allow-methods')).includes('post'))
  for (const header of ['authorization', 'x-api-key', 'content-type', 'idempotency-key'])
    assert.ok(names(preflight.headers.get('access-control-allow-headers')).includes(header), header)

  const answers = {
    preflight,
    success: await w.call(owner.token, 'projects.list', {}, { origin: 'https://evil.example' }),
    unauthorized: await w.call(null, 'projects.list', {}, { origin: 'https://evil.example' }),
    invalid: await w.call(owner.token, 'projects.list', { x: 1 }),
    'unknown operation': await w.call(owner.token, 'no.such'),
    nowhere: await w.request('GET', '/nowhere'),
    'bad address': await w.request('GET', '/%zz'),
    'sign-in': await w.post('/auth/sign-in', { email: 'x', password: 'x' }),
  }
  for (const [which, { headers }] of Object.entries(answers)) {
    assert.equal(headers.get('access-control-allow-origin'), '*', which)
    assert.equal(headers.get('access-control-allow-credentials'), null, `${which}: no cookies, so no page borrows a session`)
    assert.equal(headers.get('set-cookie'), null, which)
    for (const header of ['ratelimit', 'ratelimit-policy', 'retry-after', 'etag', 'content-disposition'])
      assert.ok(names(headers.get('access-control-expose-headers')).includes(header), `${which} exposes ${header}`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', which)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, which)
    assert.equal(headers.get('server'), null, which)
    assert.equal(headers.get('x-powered-by'), null, which)
  }
  for (const which of ['success', 'unauthorized', 'sign-in'] as const)
    assert.equal(answers[which].headers.get('cache-control'), 'no-store', which)
})

// Goal: a limit belongs to its key (or, for nobody, to the real address), and no alias, header, process or failure gets around it.
test('row 25: limits cannot be bypassed', async (t) => {
  const open = operation({
    id: 'test.open',
    scope: 'tiles:read',
    tier: 'read',
    public: true,
    input: Closed({}),
    output: Closed({}),
    example: { input: {} },
  }).handle({ execute: async () => ({}) })
  const w = await world(t, { operations: [open] })
  const second = await world(t, { operations: [open], databaseUrl: w.databaseUrl })
  const { owner } = await w.organization()
  const limited = async (rate_limit: number) => (await w.key(owner.token, ['read'], { rate_limit })).key
  const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])

  await t.test('both path forms, both processes, every way to send the key, failed calls and GET routes count alike', async () => {
    const key = await limited(9)
    const bearer = { authorization: `Bearer ${key}` }
    const calls: (() => Promise<Answer>)[] = [
      () => w.call(key, 'projects.list'),
      () => w.post('/v1/projects/list', {}, bearer),
      () => second.post('/v1/projects/list', {}, bearer),
      () => w.post('/v1/op/projects.list', {}, { 'x-api-key': key }),
      () => w.call(key, 'projects.create', { name: 'x' }), //        403
      () => w.call(key, 'projects.list', { unknown: 1 }), //         422
      () => w.request('GET', `/v1/event-types?key=${key}`),
      () => second.request('GET', '/v1/event-types', { headers: { 'x-api-key': key } }),
      () => w.post('/v1/op/projects.list', {}, { ...bearer, 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }),
    ]
    for (const [index, call] of calls.entries()) {
      const answer = await call()
      assert.notEqual(answer.status, 429, `call ${index + 1}`)
      assert.equal(answer.headers.get('ratelimit-policy'), '"key";q=9;w=3600')
      assert.equal(remaining(answer), 9 - index - 1)
    }
    for (const call of calls) {
      const answer = await call()
      assert.equal(answer.status, 429)
      assert.equal(answer.body.code, 'rate-limited')
      assert.equal(answer.headers.get('retry-after'), '3600')
      assert.equal(remaining(answer), 0)
    }
    assert.equal((await w.call(owner.token, 'projects.list')).status, 200, 'the person is not their key')
    w.clock.advance({ hours: 1 })
    second.clock.advance({ hours: 1 })
    assert.equal((await w.call(key, 'projects.list')).status, 200, 'a new window')
  })

  await t.test('exact to one request over two processes at once', async () => {
    const fresh = await w.signIn(owner)
    const { key } = await w.key(fresh.token, ['read'], { rate_limit: 25 })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? w : second).call(key, 'projects.list')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 25)
    assert.equal(answers.filter(({ status }) => status === 429).length, 35)
  })

  await t.test('without a key of its own limit, the organization gives it', async () => {
    const fresh = await w.signIn(owner)
    const { key } = await w.key(fresh.token, ['read'])
    assert.equal((await w.call(key, 'projects.list')).headers.get('ratelimit-policy'), '"key";q=10000;w=3600')
    assert.equal((await w.call(fresh.token, 'projects.list')).headers.get('ratelimit-policy'), '"user";q=36000;w=3600')
  })

  await t.test('a forwarded address of an untrusted client is ignored', async () => {
    const from = (headers: Record<string, string>, path = '/v1/op/test.open') => w.post(path, {}, headers)
    const first = await from({})
    assert.equal(first.headers.get('ratelimit-policy'), '"address";q=600;w=60')
    const spoofs: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.1' },
      { 'x-forwarded-for': '203.0.113.2, 127.0.0.1' },
      { forwarded: 'for=203.0.113.3' },
      { 'x-real-ip': '203.0.113.4' },
      { 'cf-connecting-ip': '203.0.113.5' },
      { 'true-client-ip': '203.0.113.6' },
    ]
    for (const [index, spoof] of spoofs.entries())
      assert.equal(remaining(await from(spoof, index % 2 ? '/v1/test/open' : '/v1/op/test.open')), remaining(first) - 1 - index)
    assert.ok(!w.logLines.some((line) => line.includes('203.0.113.')), 'nor is it one in the log')
  })

  await t.test('nor does it help with guessing passwords', async () => {
    const person = await w.person()
    const guess = (index: number) =>
      w.post('/auth/sign-in', { email: person.email, password: 'wrong password' }, { 'x-forwarded-for': `203.0.113.${index}` })
    for (let index = 0; index < 10; index++) assert.equal((await guess(index)).status, 401)
    assert.equal((await guess(11)).status, 429)
  })

  await t.test('links in responses come from the configuration, not from the Host header', async () => {
    const { body } = await w.post('/v1/op/projects.list', {}, { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' })
    assert.equal(body.type, `${w.baseUrl}/problems/unauthorized`)
  })
})
