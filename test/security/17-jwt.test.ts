import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, sign as signBytes, type JsonWebKey } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK, type JWTHeaderParameters, type JWTPayload } from 'jose'
import { newId } from '#core/ids.ts'
import { world } from '../support/world.ts'
import { withoutInstance } from './cast.ts'

const encode = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

// Goal: nothing but a token that this service signed, for this service, that is valid now and whose session lives, is
// believed; and every refusal looks like every other.
test('row 17: forged, stolen and expired session tokens', async (t) => {
  const w = await world(t)
  const { owner, id: organizationId } = await w.organization()
  const reply = (token: string) => w.call(token, 'projects.list')
  assert.equal((await reply(owner.token)).status, 200)
  const neutral = await reply('nonsense')
  const refused = async (token: string, why: string) => {
    const answer = await reply(token)
    assert.equal(answer.status, 401, why)
    assert.equal(withoutInstance(answer.bytes), withoutInstance(neutral.bytes), why)
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="svc", error="invalid_token"', why)
  }

  const { kid, private_jwk } = await w.db.selectFrom('signing_key').select(['kid', 'private_jwk']).executeTakeFirstOrThrow()
  const secret = private_jwk as unknown as JWK
  const { d: _private, ...publicJwk } = secret
  const [header, payload, signature] = owner.token.split('.') as [string, string, string]
  const claims = decode(payload) as JWTPayload
  const now = Math.floor(w.clock.now().getTime() / 1000)
  const sign = async (change: JWTPayload, more: Partial<JWTHeaderParameters> = {}, key?: Parameters<SignJWT['sign']>[0]) =>
    await new SignJWT({ ...claims, ...change })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT', ...more })
      .sign(key ?? (await importJWK(secret, 'EdDSA')))

  await t.test('control: the same claims signed with our key are accepted', async () => {
    assert.equal((await reply(await sign({ jti: newId() }))).status, 200)
  })

  await t.test('no signature, or an invalid one', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'EdDSA', null]) {
      await refused(`${encode({ alg, kid, typ: 'JWT' })}.${payload}.`, `alg ${alg} without signature`)
      await refused(`${encode({ alg, kid, typ: 'JWT' })}.${payload}.${encode('signed')}`, `alg ${alg} with a made-up signature`)
    }
    await refused(`${encode({ alg: 'none' })}.${payload}.${signature}`, 'alg none with the true signature')
    await refused(`${encode({ kid })}.${payload}.${signature}`, 'no alg')
  })

  await t.test('the public key as a shared secret', async () => {
    const pem = createPublicKey({ key: publicJwk as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const secrets = [
      Buffer.from(publicJwk.x!, 'base64url'),
      Buffer.from(publicJwk.x!),
      Buffer.from(JSON.stringify(publicJwk)),
      Buffer.from(pem),
      Buffer.from(String(pem).trim()),
    ]
    for (const alg of ['HS256', 'HS384', 'HS512'])
      for (const shared of secrets) {
        const padded = Buffer.concat([shared, Buffer.alloc(0)])
        await refused(
          await sign({}, { alg }, new Uint8Array(padded.length >= 64 ? padded : Buffer.concat([padded, Buffer.alloc(64 - padded.length)]))),
          alg,
        )
      }
    await refused(await sign({}, { alg: 'HS256' }, new Uint8Array(secrets[0]!)), 'the exact 32 bytes')
  })

  await t.test('another key, of the right type and of others, under our key id', async () => {
    for (const [alg, options] of [
      ['EdDSA', { crv: 'Ed25519' }],
      ['ES256', {}],
      ['RS256', {}],
      ['PS256', {}],
    ] as const) {
      const { privateKey } = await generateKeyPair(alg, options)
      await refused(await sign({}, { alg }, privateKey), alg)
      await refused(await sign({}, { alg, kid: newId() }, privateKey), `${alg} with a new kid`)
    }
    await refused(
      await sign({}, { alg: 'Ed25519' }, await importJWK({ ...secret, alg: 'Ed25519' }, 'Ed25519')),
      'our key under the other name of its algorithm',
    )
  })

  await t.test('headers that contain or reference a key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid: 'mine', alg: 'EdDSA', use: 'sig' }
    const offers: Record<string, Partial<JWTHeaderParameters>> = {
      jwk: { jwk, kid: 'mine' },
      'jwk under our kid': { jwk: { ...jwk, kid } },
      jku: { jku: `${w.baseUrl}/.well-known/jwks.json`, kid: 'mine' },
      'jku elsewhere': { jku: 'http://127.0.0.1:9/jwks.json' },
      x5u: { x5u: 'http://127.0.0.1:9/cert.pem' },
      x5c: { x5c: ['AAAA'] },
      crit: { crit: ['exp'] },
      'kid as a path': { kid: '../../../../dev/null' },
      'kid as SQL': { kid: "' or '1'='1" },
      'kid of an object': { kid: '__proto__' },
      'empty kid': { kid: '' },
    }
    for (const [why, more] of Object.entries(offers)) {
      const signed = await new SignJWT(claims)
        .setProtectedHeader({
          alg: 'EdDSA',
          kid,
          typ: 'JWT',
          ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== 'crit')),
        })
        .sign(privateKey)
      await refused(signed, why)
      if (more.crit) await refused(`${encode({ alg: 'EdDSA', kid, crit: more.crit })}.${signed.split('.').slice(1).join('.')}`, why)
    }
  })

  await t.test('wrong issuer, audience or time, although our own key signed it', async () => {
    const wrong: Record<string, JWTPayload> = {
      'another issuer': { iss: 'somebody' },
      'no issuer': { iss: undefined as never },
      'another audience': { aud: 'other-api' },
      'no audience': { aud: undefined as never },
      expired: { iat: now - 1_000, exp: now - 1 },
      'expires this second': { exp: now },
      'never expires': { exp: undefined as never },
      'not yet valid': { nbf: now + 3_600 },
      'issued in the future': { iat: now + 3_600, exp: now + 4_500 },
      'no issue time': { iat: undefined as never },
      'no token id': { jti: undefined as never },
    }
    for (const [why, change] of Object.entries(wrong)) await refused(await sign(change), why)
    // The library does not sign such a thing, so it is put together by hand.
    const key = createPrivateKey({ key: private_jwk as unknown as JsonWebKey, format: 'jwk' })
    for (const exp of ['"2099-01-01"', '[9999999999]', 'true']) {
      const input = `${header}.${encode(JSON.stringify({ ...claims, exp: 0 }).replace('"exp":0', `"exp":${exp}`))}`
      await refused(`${input}.${signBytes(null, Buffer.from(input), key).toString('base64url')}`, `exp ${exp}`)
    }
  })

  await t.test('claims of another kind of token', async () => {
    const wrong: Record<string, JWTPayload> = {
      'unknown kind': { typ: 'refresh' },
      'no kind': { typ: undefined },
      'kind as a list': { typ: ['session'] },
      'session without a session': { sid: undefined },
      'session that never was': { sid: newId() },
      'session id that is no id': { sid: "x' or 1=1" },
      'session as an object': { sid: {} },
      'organization that is no id': { org: 'x' },
      'worker without a job': { typ: 'worker', job: undefined },
      'worker without an organization': { typ: 'worker', job: newId(), org: null },
    }
    for (const [why, change] of Object.entries(wrong)) await refused(await sign(change), why)
  })

  await t.test('modified, truncated and concatenated tokens', async () => {
    const tampered = (change: JWTPayload) => `${header}.${encode({ ...claims, ...change })}.${signature}`
    await refused(tampered({ org: newId() }), 'another organization')
    await refused(tampered({ sub: newId() }), 'another user')
    await refused(tampered({ exp: now + 10_000_000 }), 'a longer life')
    await refused(tampered({ typ: 'service' }), 'a session that would be the service')
    await refused(`${encode({ ...decode(header), typ: 'at+jwt' })}.${payload}.${signature}`, 'another header')
    for (const cut of [1, 2, 10, signature.length]) await refused(owner.token.slice(0, -cut), `${cut} characters short`)
    for (const [why, token] of Object.entries({
      'header and payload': `${header}.${payload}`,
      'header alone': header,
      'empty parts': '..',
      'a fourth part': `${owner.token}.x`,
      'five parts': `${header}....`,
      doubled: owner.token + owner.token,
    }))
      await refused(token, why)
    const middle = Math.floor(signature.length / 2)
    await refused(
      `${header}.${payload}.${signature.slice(0, middle)}${signature[middle] === 'A' ? 'B' : 'A'}${signature.slice(middle + 1)}`,
      'one character of the signature',
    )
  })

  await t.test('valid tokens in the wrong place', async () => {
    const worker = await w.workerToken(organizationId, newId())
    const service = await w.serviceToken(organizationId)
    for (const token of [owner.token, worker, service]) {
      for (const answer of [
        await w.post('/v1/op/projects.list', {}, { 'x-api-key': token }),
        await w.request('GET', `/v1/event-types?key=${token}`),
        await w.request('GET', '/auth/me', { headers: { 'x-api-key': token } }),
      ]) {
        assert.equal(answer.status, 401)
        assert.equal(withoutInstance(answer.bytes), withoutInstance(neutral.bytes))
      }
      assert.equal((await w.post('/auth/refresh', { refresh_token: token })).status, token.length > 500 ? 422 : 401)
    }
    assert.equal((await w.call(worker, 'projects.list')).status, 403, 'a worker is known, but may only report on its job')
    for (const token of [worker, service])
      assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })).status, 403)
  })

  await t.test('other schemes and spellings of the header', async () => {
    const withHeader = (authorization: string) => w.post('/v1/op/projects.list', {}, { authorization })
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${encode('a:b')}`,
      owner.token,
      `Token ${owner.token}`,
      `Bearer ${owner.token} x`,
      `Bearer ${owner.token}, Bearer ${owner.token}`,
      `Bearer "${owner.token}"`,
    ]) {
      const answer = await withHeader(authorization)
      assert.equal(answer.status, 401, authorization.slice(0, 20))
      assert.equal(withoutInstance(answer.bytes), withoutInstance(neutral.bytes))
    }
    for (const scheme of ['bearer', 'BEARER']) assert.equal((await withHeader(`${scheme} ${owner.token}`)).status, 200)
    const { key } = await w.key(owner.token)
    assert.equal(
      (await w.post('/v1/op/projects.list', {}, { authorization: 'Bearer nonsense', 'x-api-key': key })).status,
      401,
      'the first credential counts, whatever the second is worth',
    )
  })

  await t.test('without any credential the challenge names no error, and the body says what to send (G29)', async () => {
    const answer = await w.call(null, 'projects.list')
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="svc"')
    assert.match(answer.body.detail, /^The request has no credential; send Authorization: Bearer/)
    assert.equal(answer.body.code, neutral.body.code)
  })
})

// Goal: a token that was good stops being good at once when its time, its session or its person ends.
test('row 17: tokens expire', async (t) => {
  const w = await world(t)
  const status = async (token: string) => (await w.call(token, 'organizations.create', { name: 'x' })).status
  const refresh = (refresh_token: string) => w.post('/auth/refresh', { refresh_token })

  await t.test('after fifteen minutes, also when it has been used before', async () => {
    const person = await w.person()
    w.clock.advance({ minutes: 14, seconds: 59 })
    assert.equal(await status(person.token), 200)
    w.clock.advance({ seconds: 1 })
    assert.equal(await status(person.token), 401)
  })

  await t.test('with sign-out', async () => {
    const person = await w.person()
    const other = await w.signIn(person)
    assert.equal(await status(person.token), 200)
    assert.equal((await w.post('/auth/sign-out', { refresh_token: person.refreshToken })).status, 204)
    assert.equal(await status(person.token), 401)
    assert.equal((await refresh(person.refreshToken)).status, 401)
    assert.equal(await status(other.token), 200, 'another session of the same person goes on')
    assert.equal((await w.post('/auth/sign-out', { refresh_token: 'unknown' })).status, 204, 'signing out tells nothing about a token')
  })

  await t.test('with the reuse of a spent refresh token: the whole session', async () => {
    const person = await w.person()
    const next = (await refresh(person.refreshToken)).body
    assert.equal(await status(next.access_token), 200)
    const reuse = await refresh(person.refreshToken)
    assert.equal(reuse.status, 401)
    assert.equal(reuse.body.detail, 'Invalid authentication credentials')
    assert.equal(await status(next.access_token), 401)
    assert.equal((await refresh(next.refresh_token)).status, 401)
  })

  await t.test('at most one of two concurrent refreshes succeeds, and the other ends the session', async () => {
    const person = await w.person()
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(person.refreshToken)))
    const won = answers.filter((answer) => answer.status === 200)
    assert.equal(won.length, 1)
    assert.equal(await status(won[0]!.body.access_token), 401)
  })

  await t.test('after thirty days without a refresh', async () => {
    const person = await w.person()
    w.clock.advance({ days: 29 })
    const later = (await refresh(person.refreshToken)).body
    w.clock.advance({ days: 29 })
    const last = (await refresh(later.refresh_token)).body
    w.clock.advance({ days: 30 })
    assert.equal((await refresh(last.refresh_token)).status, 401)
  })

  await t.test('with the person: sessions, refresh tokens and keys', async () => {
    const org = await w.organization()
    const { key } = await w.key(org.owner.token)
    await w.db.updateTable('app_user').set({ is_active: false }).where('id', '=', org.owner.id).execute()
    assert.equal(await status(org.owner.token), 401)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    assert.equal((await refresh(org.owner.refreshToken)).status, 401)
    const wrong = await w.post('/auth/sign-in', { email: org.owner.email, password: 'not the password' })
    const right = await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password })
    assert.equal(right.status, 401)
    assert.equal(withoutInstance(right.bytes), withoutInstance(wrong.bytes))
  })
})

// Goal: guessing is slow, and a guess learns nothing: not whether the address exists, not whether the password was close.
test('sign-in is throttled and neutral', async (t) => {
  const w = await world(t)
  const person = await w.person()
  const attempt = (email: string, password: string) => w.post('/auth/sign-in', { email, password })

  const wrong = await attempt(person.email, 'wrong password')
  for (const [email, password] of [
    ['nobody@example.com', 'wrong password'],
    [person.email, ''],
    [person.email, `${person.password} `],
    [person.email, 'x'.repeat(1_000)],
    ['not an address', 'x'],
  ] as const) {
    const answer = await attempt(email, password)
    assert.equal(answer.status, 401)
    assert.equal(withoutInstance(answer.bytes), withoutInstance(wrong.bytes))
  }
  // Four failures so far for this account; the tenth attempt is the last that is looked at.
  for (let attempts = 5; attempts <= 10; attempts++) assert.equal((await attempt(person.email.toUpperCase(), 'wrong password')).status, 401)
  const eleventh = await attempt(person.email, person.password)
  assert.equal(eleventh.status, 429)
  assert.equal(eleventh.body.code, 'too-many-attempts')
  assert.equal(eleventh.headers.get('retry-after'), '900')
  assert.equal((await attempt('somebody.else@example.com', 'x')).status, 401, 'other accounts are not locked')
  w.clock.advance({ minutes: 15 })
  assert.equal((await attempt(person.email, person.password)).status, 200)
  for (let attempts = 1; attempts <= 9; attempts++) await attempt(person.email, 'wrong password')
  assert.equal((await attempt(person.email, person.password)).status, 200, 'success within the limit')
  assert.equal((await attempt(person.email, 'wrong password')).status, 401, 'and it starts the count anew')
})
