import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { world, type Answer } from './support/world.ts'

// Goal: users sign in with the right password only, stay signed in by rotating tokens, and are signed out on request.
test('sign-up and sign-in', async (t) => {
  const w = await world(t)

  await t.test('a new user is signed in, without an organization', async () => {
    const { status, body, headers } = await w.post('/auth/sign-up', { email: ' Ana@Example.com', password: 'long enough', name: 'Ana' })
    assert.equal(status, 422, 'a space is no part of an address')
    const {
      status: created,
      body: grant,
      headers: grantHeaders,
    } = await w.post('/auth/sign-up', { email: 'Ana@Example.com', password: 'long enough', name: 'Ana' })
    assert.equal(created, 201)
    assert.deepEqual(Object.keys(grant).toSorted(), [
      'access_token',
      'expires_in',
      'organization_id',
      'refresh_token',
      'token_type',
      'user',
    ])
    assert.equal(grant.user.email, 'ana@example.com')
    assert.equal(grant.organization_id, null)
    assert.equal(grant.expires_in, 900)
    assert.equal(grantHeaders.get('cache-control'), 'no-store')
    assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8')
    assert.equal(body.code, 'invalid-input')
    const again = await w.post('/auth/sign-up', { email: 'ana@example.com', password: 'long enough', name: 'Ana' })
    assert.equal(again.status, 400)
  })

  await t.test('passwords have at least 10 characters and at most 72 bytes', async () => {
    const status = async (password: string) =>
      (await w.post('/auth/sign-up', { email: `p${password.length}@example.com`, password, name: 'P' })).status
    assert.equal(await status('123456789'), 422)
    assert.equal(await status('1234567890'), 201)
    assert.equal(await status('a'.repeat(72)), 201)
    assert.equal(await status('a'.repeat(73)), 422)
    assert.equal(await status('é'.repeat(37)), 422)
  })

  await t.test('a wrong password and an unknown address look the same', async () => {
    await w.person('bo@example.com')
    const wrong = await w.post('/auth/sign-in', { email: 'bo@example.com', password: 'not the password' })
    const unknown = await w.post('/auth/sign-in', { email: 'nobody@example.com', password: 'not the password' })
    assert.equal(wrong.status, 401)
    assert.equal(unknown.status, 401)
    assert.deepEqual({ ...wrong.body, instance: '' }, { ...unknown.body, instance: '' })
    assert.match(wrong.headers.get('www-authenticate')!, /^Bearer realm="svc"/)
  })

  await t.test('the token is an EdDSA JWT that verifies against the published keys', async () => {
    const { token, id } = await w.person()
    assert.equal(decodeProtectedHeader(token).alg, 'EdDSA')
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${w.baseUrl}/.well-known/jwks.json`)), {
      currentDate: w.clock.now(),
    })
    assert.equal(payload.sub, id)
    assert.deepEqual(
      ['iss', 'sub', 'org', 'sid', 'iat', 'exp', 'jti'].filter((claim) => !(claim in payload)),
      [],
    )
    assert.equal(payload.exp! - payload.iat!, 900)
    const { body } = await w.request('GET', '/.well-known/jwks.json')
    assert.ok(
      body.keys.every((key: object) => !('d' in key)),
      'no private half is published',
    )
  })

  await t.test('the token expires after 15 minutes', async () => {
    const { token } = await w.person()
    const me = () => w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })
    assert.equal((await me()).status, 200)
    w.clock.advance({ minutes: 14, seconds: 59 })
    assert.equal((await me()).status, 200)
    w.clock.advance({ seconds: 1 })
    assert.equal((await me()).status, 401)
  })
})

test('guesses are limited per account, and only failures count', async (t) => {
  const w = await world(t)
  const { email, password } = await w.person()
  const attempt = (guess: string) => w.post('/auth/sign-in', { email, password: guess })

  for (let i = 0; i < 9; i++) assert.equal((await attempt('wrong wrong')).status, 401)
  assert.equal((await attempt(password)).status, 200)
  for (let i = 0; i < 10; i++) assert.equal((await attempt('wrong wrong')).status, 401)
  const locked = await attempt(password)
  assert.equal(locked.status, 429)
  assert.equal(locked.body.code, 'too-many-attempts')
  assert.equal(locked.headers.get('retry-after'), '900')
  w.clock.advance({ minutes: 15 })
  assert.equal((await attempt(password)).status, 200)
})

test('refresh tokens', async (t) => {
  const w = await world(t)
  const refresh = (refresh_token: string, more: object = {}) => w.post('/auth/refresh', { refresh_token, ...more })

  await t.test('each works once, and reuse ends the session', async () => {
    const { refreshToken: first } = await w.person()
    const second = await refresh(first)
    assert.equal(second.status, 200)
    assert.notEqual(second.body.refresh_token, first)
    assert.equal((await w.call(second.body.access_token, 'organizations.create', { name: 'x' })).status, 200)
    assert.equal((await refresh(first)).status, 401, 'spent')
    assert.equal((await refresh(second.body.refresh_token)).status, 401, 'the thief or the victim: both are out')
    assert.equal(
      (await w.call(second.body.access_token, 'organizations.create', { name: 'x' })).status,
      401,
      'the access token too, at once',
    )
  })

  await t.test('two concurrent uses: one succeeds, and the session ends', async () => {
    const { refreshToken } = await w.person()
    const statuses = (await Promise.all([refresh(refreshToken), refresh(refreshToken)])).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 401])
  })

  await t.test('a session expires after 30 days without use', async () => {
    const { refreshToken } = await w.person()
    w.clock.advance({ days: 29 })
    const { body, status } = await refresh(refreshToken)
    assert.equal(status, 200)
    w.clock.advance({ days: 30 })
    assert.equal((await refresh(body.refresh_token)).status, 401)
  })

  await t.test('signing out ends the session', async () => {
    const { refreshToken, token } = await w.person()
    assert.equal((await w.post('/auth/sign-out', { refresh_token: refreshToken })).status, 204)
    assert.equal((await refresh(refreshToken)).status, 401)
    assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })).status, 401)
    assert.equal((await w.post('/auth/sign-out', { refresh_token: 'never issued' })).status, 204, 'nothing to end is no failure')
  })
})

// Goal: a user who reloads a page twice stays signed in, although the browser never got the response of the first renewal; a token
// that two parties hold still ends the session.
test('refresh tokens in the cookie of a browser', async (t) => {
  const w = await world(t)
  const own = { origin: w.baseUrl, 'sec-fetch-site': 'same-origin' }
  const tokenOf = (answer: Answer) => /^groundtrack_refresh=([^;]*)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? ''
  const signIn = async (): Promise<string> => {
    const { email, password } = await w.person()
    return tokenOf(await w.post('/auth/sign-in', { email, password, cookie: true }, own))
  }
  const refresh = async (token: string) => {
    const answer = await w.post('/auth/refresh', {}, { ...own, cookie: `groundtrack_refresh=${token}` })
    return { status: answer.status, token: tokenOf(answer) }
  }

  await t.test('an interrupted renewal can be repeated for a short time, as often as it is interrupted', async () => {
    const first = await signIn()
    assert.equal((await refresh(first)).status, 200)
    w.clock.advance({ seconds: 20 })
    assert.equal((await refresh(first)).status, 200)
    w.clock.advance({ seconds: 9 })
    const last = await refresh(first)
    assert.equal(last.status, 200)
    w.clock.advance({ minutes: 14 })
    assert.equal((await refresh(last.token)).status, 200, 'the session goes on with the token that arrived')
  })

  await t.test('a repetition does not extend the time for the next one', async () => {
    const first = await signIn()
    assert.equal((await refresh(first)).status, 200)
    w.clock.advance({ seconds: 29 })
    const repeated = await refresh(first)
    assert.equal(repeated.status, 200)
    w.clock.advance({ seconds: 1 })
    assert.equal((await refresh(first)).status, 401)
    assert.equal((await refresh(repeated.token)).status, 401, 'the session has ended')
  })

  await t.test('once a newer token has been used, an older one ends the session at once', async () => {
    const first = await signIn()
    const second = await refresh(first)
    w.clock.advance({ seconds: 1 })
    const third = await refresh(second.token)
    assert.equal(third.status, 200)
    assert.equal((await refresh(first)).status, 401)
    assert.equal((await refresh(third.token)).status, 401)
  })

  await t.test('a thief who repeats a renewal in time is found out at the next one, whoever comes first', async () => {
    for (const isThiefFirst of [true, false]) {
      const stolen = await signIn()
      const [owner, thief] = [await refresh(stolen), await refresh(stolen)].map(({ token }) => token)
      w.clock.advance({ minutes: 12 })
      const [earlier, later] = isThiefFirst ? [thief, owner] : [owner, thief]
      const renewed = await refresh(earlier!)
      assert.equal(renewed.status, 200)
      w.clock.advance({ seconds: 1 })
      assert.equal((await refresh(later!)).status, 401, 'two holders')
      assert.equal((await refresh(renewed.token)).status, 401, 'both are out')
    }
  })

  await t.test('two concurrent uses both succeed, and one of their tokens continues the session', async () => {
    const refreshToken = await signIn()
    const answers = await Promise.all([refresh(refreshToken), refresh(refreshToken)])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    w.clock.advance({ seconds: 31 })
    assert.equal((await refresh(answers[0]!.token)).status, 200)
    assert.equal((await refresh(answers[1]!.token)).status, 401)
  })
})

test('the active organization of a user', async (t) => {
  const w = await world(t)
  const who = await w.person()
  const first = await w.ok(who.token, 'organizations.create', { name: 'First' })
  const second = await w.ok(who.token, 'organizations.create', { name: 'Second' })
  const orgOf = (token: string) => decodeJwt(token)['org']

  assert.equal(orgOf((await w.signIn(who)).token), first.id, 'the oldest, when none was used')
  const chosen = await w.signIn(who, second.id)
  assert.equal(orgOf(chosen.token), second.id)
  assert.equal(orgOf((await w.signIn(who)).token), second.id, 'the one used last')
  const switched = await w.post('/auth/refresh', { refresh_token: chosen.refreshToken, organization_id: first.id })
  assert.equal(switched.body.organization_id, first.id)

  const foreign = await w.organization()
  const refused = await w.post('/auth/sign-in', { email: who.email, password: who.password, organization_id: foreign.id })
  assert.equal(refused.status, 403)
  const me = await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${switched.body.access_token}` } })
  assert.equal(me.body.can_clip_areas, false)
  const ordinary = { requires_two_factors: false, per_order_limit_credits: null, spend_limit_credits: null, spent_30d_credits: 0 }
  assert.deepEqual(me.body.organizations, [
    { id: first.id, name: 'First', role: 'owner', ...ordinary },
    { id: second.id, name: 'Second', role: 'owner', ...ordinary },
  ])
})

test('operator addresses', async (t) => {
  const open = await world(t, { systemAdminEmails: ['root@example.com'], clipUserEmail: 'clip@example.com' })
  const org = await open.organization()
  const { id } = await open.key(org.owner.token)
  const root = await open.person('root@example.com')
  assert.equal((await open.call(root.token, 'api_keys.set_scopes', { key_id: id, scopes: ['clip:read'] })).status, 200)
  assert.equal((await open.call(org.owner.token, 'api_keys.set_scopes', { key_id: id, scopes: ['clip:read'] })).status, 403)

  const clip = await open.person('clip@example.com')
  const me = await open.request('GET', '/auth/me', { headers: { authorization: `Bearer ${clip.token}` } })
  assert.equal(me.body.can_clip_areas, true)

  const closed = await world(t, { systemAdminEmails: ['root@example.com'], clipUserEmail: 'clip@example.com', maySignUp: false })
  for (const email of ['root@example.com', 'Clip@Example.com']) {
    const { status, body } = await closed.post('/auth/sign-up', { email, password: 'long enough', name: 'x' })
    assert.equal(status, 403)
    assert.equal(body.code, 'sign-up-refused')
  }
})

test('precedence of credentials', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token)
  const get = (headers: Record<string, string>, query = '') => w.request('GET', `/v1/event-types${query}`, { headers })

  assert.equal((await get({ 'x-api-key': key })).status, 200)
  assert.equal((await get({}, `?key=${key}`)).status, 200)
  assert.equal((await get({ authorization: `Bearer ${key}` })).status, 200)
  assert.equal((await get({ 'x-api-key': owner.token })).status, 401, 'a session token only in Authorization')
  assert.equal((await get({}, `?key=${owner.token}`)).status, 401)
  assert.equal((await get({ authorization: 'Bearer nonsense', 'x-api-key': key })).status, 401, 'Authorization wins')
  assert.equal((await get({ authorization: `Basic ${key}` })).status, 401)
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
  for (const pair of [`qgis:${key}`, `${key}:`]) assert.equal((await get(basic(pair))).status, 200, 'a key as the password, or as the name')
  for (const pair of [`qgis:${owner.token}`, `${key}:wrong`, key, ':', '', `${owner.email}:correct horse battery`])
    assert.equal((await get(basic(pair))).status, 401, 'only a key, never a session token or a password')
  assert.equal((await w.request('POST', `/v1/op/projects.list?key=${key}`)).status, 401, 'key= is for GET')
  const none = await get({})
  assert.equal(none.headers.get('www-authenticate'), 'Bearer realm="svc"')
  const mistyped = await get({ authorization: `Bearer ${key.slice(0, -1)}` })
  assert.equal(mistyped.headers.get('www-authenticate'), 'Bearer realm="svc", error="invalid_token"')
  assert.equal(mistyped.body.detail, 'Invalid authentication credentials')
  assert.match(none.body.detail, /^The request has no credential; send Authorization: Bearer/)
})
