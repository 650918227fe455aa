import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Closed } from '#core/shapes.ts'
import type { Db } from '#db/tables.ts'
import { operation } from '#operation.ts'
import { world } from '../support/world.ts'

/** Every row of every table of ours and of the queue, as text; bytes appear as hexadecimal digits. */
async function wholeDatabase(db: Db): Promise<string> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables where table_schema in ('public', 'queue')
      and table_type = 'BASE TABLE'
  `.execute(db)
  const texts = await Promise.all(
    tables.map(async ({ schema, name }) => {
      const { rows } = await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.id(schema, name)} t`.execute(db)
      return rows.map(({ row }) => `${name} ${row}`).join('\n')
    }),
  )
  return texts.join('\n')
}

const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(secret),
]

function findAny(text: string, secrets: Record<string, string>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
    .map(([name]) => name)
}

// Goal: however a password, a key or a token is used, none of them can be read afterwards in the
// log, the database or the metrics.
test('row 18: secrets leave no trace', async (t) => {
  const throws = operation({
    id: 'test.throws',
    scope: 'items:read',
    tier: 'read',
    input: Closed({}),
    output: Closed({}),
    example: { input: {} },
  }).handle({
    async execute() {
      const told = `failed with ${Object.values(secrets)
        .filter((secret) => /^svc_|^eyJ/.test(secret))
        .join(' and ')} at https://x.example/?key=${secrets['key']}&token=opaque-canary-51`
      throw new Error(told, { cause: new Error(told) })
    },
  })
  const w = await world(t, { operations: [throws] })
  const secrets: Record<string, string> = { 'query value in an error': 'opaque-canary-51' }
  const remember = (name: string, secret: string) => (secrets[name] = secret)
  const grant = (name: string, body: { access_token: string; refresh_token: string }) => {
    remember(`access token of ${name}`, body.access_token)
    remember(`its signature, ${name}`, body.access_token.split('.')[2]!)
    remember(`refresh token of ${name}`, body.refresh_token)
    return body
  }

  // Sign-up, sign-in, refresh and sign-out, right and wrong.
  const email = 'canary@example.com'
  const password = remember('password', 'canary-password-8c1f')
  const up = grant('sign-up', (await w.post('/auth/sign-up', { email, password, name: 'Canary' })).body)
  const wrong = (body: object) => w.post('/auth/sign-in', body)
  await wrong({ email, password: remember('wrong password', 'canary-wrong-2b7d') })
  await wrong({ email: 'nobody@example.com', password: remember('password of nobody', 'canary-nobody-93ac') })
  await wrong({ email, password: remember('password in a bad body', 'canary-extra-77e0'), extra: 1 })
  await wrong({ email: 5, password: remember('password beside a bad address', 'canary-number-0d4e') })
  await w.request('POST', '/auth/sign-in', {
    headers: { 'content-type': 'application/json' },
    body: `{"email":"${email}","password":"${remember('password in broken JSON', 'canary-broken-e412')}"`,
  })
  await w.request('POST', '/auth/sign-in', {
    headers: { 'content-type': 'text/plain' },
    body: `password=${remember('password as plain text', 'canary-plain-5aa1')}`,
  })
  await w.post('/auth/sign-up', { email, password: remember('password of a taken address', 'canary-taken-66f2'), name: 'x' })
  await w.post('/auth/sign-up', { email: 'short@example.com', password: remember('too short', 'cnry-9f3b'), name: 'x' })
  await w.post('/auth/sign-up', { email: 'long@example.com', password: remember('too long', `canary-long-${'x'.repeat(80)}`), name: 'x' })
  const refreshed = grant('refresh', (await w.post('/auth/refresh', { refresh_token: up.refresh_token })).body)
  await w.ok(refreshed.access_token, 'organizations.create', { name: 'Canary' })
  const acting = grant('refresh for the organization', (await w.post('/auth/refresh', { refresh_token: refreshed.refresh_token })).body)

  // Keys in every place that accepts them: valid, wrong and revoked.
  const canaryKey = await w.ok(acting.access_token, 'api_keys.create', { name: 'canary', permissions: ['read', 'write'] })
  const key = remember('key', canaryKey.key)
  remember('its random part', canaryKey.key.split('_')[2])
  const mistyped = remember('mistyped key', `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`)
  for (const secret of [key, mistyped]) {
    const encoded = `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`
    await w.call(secret, 'projects.list')
    await w.post('/v1/op/projects.list', {}, { 'x-api-key': secret })
    for (const query of [`key=${secret}`, `%6bey=${encoded}`, `KEY=${encoded}`, `a=1&key=${secret}&b=2`, `key=${secret}#x`, encoded]) {
      for (const path of [
        '/v1/event-types',
        '/auth/me',
        '/openapi.json',
        '/docs',
        '/nowhere',
        '/health',
        '/v1/op/projects.list',
        '/problems/none',
      ])
        await w.request('GET', `${path}?${query}`)
      await w.post(`/v1/op/projects.list?${query}`, {})
    }
    await w.request('GET', `/${secret}`)
    await w.request('GET', `/v1/${secret}`)
    await w.post(`/v1/op/${secret}`, {})
    await w.call(acting.access_token, 'projects.get', { project_id: secret })
    await w.call(acting.access_token, 'api_keys.revoke', { key_id: secret })
  }
  await w.request('GET', `/auth/me?token=${acting.access_token}`)
  await w.request('GET', '/auth/me', {
    headers: {
      authorization: `Basic ${acting.access_token}`,
      cookie: `session=${acting.access_token}`,
      referer: `https://x.example/?key=${key}`,
    },
  })
  await w.call(acting.access_token, 'test.throws')

  // Faults of the database, while secrets are in the statements.
  for (const [table, attempt] of [
    ['app_user', () => w.post('/auth/sign-in', { email, password })],
    [
      'app_user',
      () =>
        w.post('/auth/sign-up', {
          email: 'later@example.com',
          password: remember('password during a fault', 'canary-fault-b8b8'),
          name: 'x',
        }),
    ],
    ['refresh_token', () => w.post('/auth/refresh', { refresh_token: acting.refresh_token })],
    ['refresh_token', () => w.post('/auth/sign-out', { refresh_token: acting.refresh_token })],
    ['api_key', () => w.call(key, 'projects.list')],
    ['api_key', () => w.call(acting.access_token, 'api_keys.create', { name: 'x' })],
    ['user_session', () => w.call(acting.access_token, 'projects.list')],
  ] as const) {
    await sql`alter table ${sql.table(table)} rename to gone`.execute(w.db)
    try {
      assert.equal((await attempt()).status, 500, table)
    } finally {
      await sql`alter table gone rename to ${sql.table(table)}`.execute(w.db)
    }
  }
  await w.ok(acting.access_token, 'api_keys.revoke', { key_id: canaryKey.id })
  await w.call(key, 'projects.list')
  await w.post('/auth/sign-out', { refresh_token: acting.refresh_token })
  await w.post('/auth/refresh', { refresh_token: acting.refresh_token })
  await w.flushAudit()

  const log = w.logLines.join('')
  const database = await wholeDatabase(w.db)
  const metrics = (await w.request('GET', '/metrics')).bytes.toString()

  await t.test('the search itself works', () => {
    assert.ok(w.logLines.length > 50 && log.includes('"fault"') && log.includes('"call"'))
    assert.deepEqual(
      findAny(database, {
        email,
        prefix: canaryKey.prefix,
        hidden: Buffer.from((JSON.parse(/signing_key (.*)/.exec(database)![1]!) as { kid: string }).kid).toString(),
      }),
      ['email', 'prefix', 'hidden'],
    )
    assert.deepEqual(findAny(`x ${Buffer.from(password).toString('hex')} y`, secrets), ['password'])
    assert.ok(Object.keys(secrets).length >= 20)
  })
  await t.test('log', () => assert.deepEqual(findAny(log, secrets), []))
  await t.test('database', () => assert.deepEqual(findAny(database, secrets), []))
  await t.test('metrics', () => assert.deepEqual(findAny(metrics, secrets), []))
  await t.test('passwords are stored as bcrypt hashes, tokens as digests', async () => {
    const { password_hash } = await w.db.selectFrom('app_user').select('password_hash').where('email', '=', email).executeTakeFirstOrThrow()
    assert.match(password_hash, /^\$2b\$\d\d\$/)
    assert.ok((await w.db.selectFrom('refresh_token').select('token_hash').execute()).every(({ token_hash }) => token_hash.length === 32))
  })
})

// Goal: verifiers get what verifies, never what signs.
test('row 18: only the public part of the signing keys is published', async (t) => {
  const w = await world(t)
  await w.person()
  const { body } = await w.request('GET', '/.well-known/jwks.json')
  assert.ok(body.keys.length > 0)
  for (const published of body.keys) assert.deepEqual(Object.keys(published).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
})
