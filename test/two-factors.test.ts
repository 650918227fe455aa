import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeAt, stepAt } from '#core/totp.ts'
import accountNotice from '#domains/notifications/account-notice.task.ts'
import confirmAddress from '#domains/notifications/confirm-address.task.ts'
import resetPassword from '#domains/notifications/reset-password.task.ts'
import { softwareAuthenticator } from './support/authenticator.ts'
import { addApp, codeOf } from './support/second-factors.ts'
import { mailsIn, tokenIn } from './support/mails.ts'
import { world, type Answer, type Person, type World } from './support/world.ts'

type Who = Pick<Person, 'token'>

const bearer = (who: Who) => ({ authorization: `Bearer ${who.token}` })
const get = (w: World, who: Who, path: string) => w.request('GET', path, { headers: bearer(who) })
const post = (w: World, who: Who, path: string, body: object = {}) => w.post(path, body, bearer(who))
const signIn = (w: World, { email, password }: Person) => w.post('/auth/sign-in', { email, password })

/** Passkeys need a host name, which `localhost` is and 127.0.0.1 is not. */
async function postByName(w: World, path: string, body: object, who?: Who): Promise<Answer> {
  const response = await fetch(w.baseUrl.replace('127.0.0.1', 'localhost') + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(who ? bearer(who) : {}) },
    body: JSON.stringify(body),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes, body: bytes.length > 0 ? JSON.parse(bytes.toString()) : null }
}

async function addPasskey(w: World, who: Person, presence: object, name = 'Test key') {
  const authenticator = softwareAuthenticator(w.baseUrl.replace('127.0.0.1', 'localhost'))
  const { status, body } = await postByName(w, '/auth/two-factors/passkeys/start', presence, who)
  assert.equal(status, 200, JSON.stringify(body))
  const credential = authenticator.create(body.options)
  const added = await postByName(w, '/auth/two-factors/passkeys/add', { challenge_token: body.challenge_token, credential, name }, who)
  assert.equal(added.status, 200, JSON.stringify(added.body))
  return { authenticator, ...added.body } as {
    authenticator: typeof authenticator
    passkey: { id: string }
    recovery_codes: string[] | null
  }
}

// Goal: with an authenticator app, the password alone no longer signs in; each code works once, near its time; guessing is bounded.
test('two factors: authenticator app', async (t) => {
  const w = await world(t)

  await t.test('setting it up takes the password and a code, ends other sessions, and returns ten recovery codes', async () => {
    const who = await w.person()
    const other = await w.signIn(who)
    const start = (body: object) => post(w, who, '/auth/two-factors/authenticator/start', body)
    assert.equal((await start({})).status, 422)
    assert.equal((await start({ password: 'not the password' })).status, 403)
    const { body } = await start({ password: who.password })
    assert.match(body.uri, /^otpauth:\/\/totp\/Groundtrack:.*secret=[A-Z2-7]{32}&/)
    assert.equal((await signIn(w, who)).status, 200, 'not before it is confirmed')
    const confirm = (code: string) => post(w, who, '/auth/two-factors/authenticator/confirm', { code })
    assert.equal((await confirm('000000')).body.code, 'wrong-second-factor')
    const { body: confirmed } = await confirm(codeOf(w, body.secret))
    assert.equal(new Set(confirmed.recovery_codes).size, 10)
    assert.equal((await get(w, other, '/auth/me')).status, 401)
    assert.equal((await get(w, who, '/auth/me')).body.has_two_factors, true)
    const { rows } = { rows: await w.db.selectFrom('totp_factor').selectAll().where('user_id', '=', who.id).execute() }
    assert.ok(!JSON.stringify(rows).includes(body.secret), 'the secret is encrypted')
    const hashes = JSON.stringify(await w.db.selectFrom('recovery_code').selectAll().execute())
    assert.ok(!hashes.includes(confirmed.recovery_codes[0]), 'recovery codes are hashed')
  })

  await t.test('a secret that is not confirmed within 15 minutes is void', async () => {
    const who = await w.person()
    const { body } = await post(w, who, '/auth/two-factors/authenticator/start', { password: who.password })
    w.clock.advance({ minutes: 14, seconds: 59 })
    const again = await w.signIn(who)
    w.clock.advance({ seconds: 1 })
    assert.equal((await post(w, again, '/auth/two-factors/authenticator/confirm', { code: codeOf(w, body.secret) })).status, 403)
  })

  await t.test('signing in takes a second step; every code works once, one step early or late', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const first = await signIn(w, who)
    assert.equal(first.status, 401)
    assert.equal(first.body.code, 'second-factor-required')
    assert.deepEqual(first.body.factors, ['code', 'recovery_code'])
    assert.equal(first.body.expires_in, 300)
    assert.equal((await w.post('/auth/sign-in', { email: who.email, password: 'not the password' })).body.code, 'unauthorized')
    const second = (body: object, token = first.body.challenge_token) =>
      w.post('/auth/sign-in/second-factor', { challenge_token: token, ...body })
    assert.equal((await second({})).status, 422)
    assert.equal((await second({ code: '1', recovery_code: '2' })).status, 422)
    assert.equal((await second({ code: codeAt(secret, stepAt(w.clock.now()) - 2) })).status, 403)
    assert.equal((await second({ code: codeAt(secret, stepAt(w.clock.now()) + 2) })).status, 403)
    const code = codeAt(secret, stepAt(w.clock.now()) + 1)
    const { status, body } = await second({ code: `${code.slice(0, 3)} ${code.slice(3)}` })
    assert.equal(status, 200)
    assert.equal((await get(w, { token: body.access_token }, '/auth/me')).body.user.id, who.id)
    assert.equal((await second({ code })).status, 401, 'the challenge is used up')
    const { body: next } = await signIn(w, who)
    assert.equal((await second({ code }, next.challenge_token)).status, 403, 'the code is used up')
    assert.equal((await second({ code: codeOf(w, secret) }, next.challenge_token)).status, 403, 'and so are those before it')
    w.clock.advance({ seconds: 60 })
    assert.equal((await second({ code: codeOf(w, secret) }, next.challenge_token)).status, 200)
  })

  await t.test('of concurrent sign-ins with one code, one succeeds', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const tokens = await Promise.all(Array.from({ length: 4 }, async () => (await signIn(w, who)).body.challenge_token as string))
    const code = codeOf(w, secret)
    const answers = await Promise.all(tokens.map((challenge_token) => w.post('/auth/sign-in/second-factor', { challenge_token, code })))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 403, 403, 403])
  })

  await t.test('a challenge expires after 5 minutes, and ends with a change of the password', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const { body: late } = await signIn(w, who)
    w.clock.advance({ minutes: 5 })
    const second = (challenge_token: string) => w.post('/auth/sign-in/second-factor', { challenge_token, code: codeOf(w, secret) })
    assert.equal((await second(late.challenge_token)).status, 401)
    const { body: stale } = await signIn(w, who)
    const change = { password: who.password, new_password: 'another long one' }
    assert.equal((await post(w, who, '/auth/password', change)).status, 204)
    assert.equal((await second(stale.challenge_token)).status, 401)
    assert.equal((await second('made up')).status, 401)
  })

  await t.test('five wrong codes end the guessing for 15 minutes, wherever they come from, and the user is told by email', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const { body } = await signIn(w, who)
    const second = (code: string, token: string = body.challenge_token) =>
      w.post('/auth/sign-in/second-factor', { challenge_token: token, code })
    for (let n = 0; n < 5; n++) assert.equal((await second('000000')).status, 403)
    const limited = await second(codeOf(w, secret))
    assert.equal(limited.status, 429, 'even the right code')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    await w.drain(accountNotice)
    assert.ok(mailsIn(w.mailDir, who.email).some((mail) => mail.includes('Wrong codes at sign-in')))
    w.clock.advance({ minutes: 15 })
    const { body: later } = await signIn(w, who)
    assert.equal((await second(codeOf(w, secret), later.challenge_token)).status, 200)
  })

  await t.test('fifty wrong codes end the guessing for the day', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const attempt = async (code: string) => {
      const { body } = await signIn(w, who)
      return (await w.post('/auth/sign-in/second-factor', { challenge_token: body.challenge_token, code })).status
    }
    for (let quarter = 0; quarter < 10; quarter++) {
      for (let n = 0; n < 5; n++) assert.equal(await attempt('000000'), 403)
      w.clock.advance({ minutes: 15 })
    }
    assert.equal(await attempt(codeOf(w, secret)), 429)
    w.clock.advance({ hours: 24 })
    assert.equal(await attempt(codeOf(w, secret)), 200)
  })

  await t.test('API keys are not affected, and password resets do not go around the second factor', async () => {
    const founded = await w.organization()
    // The first proof that somebody reads the mail would end what was created before it.
    await w.drain(confirmAddress)
    const confirmation = tokenIn(mailsIn(w.mailDir, founded.owner.email).at(-1)!)
    assert.equal((await w.post('/auth/confirm', { token: confirmation })).status, 204)
    const owner = await w.signIn(founded.owner, founded.id)
    const { key } = await w.key(owner.token)
    await addApp(w, owner)
    assert.equal((await w.call(key, 'projects.list')).status, 200)
    const form = new URLSearchParams({ grant_type: 'password', username: owner.email, password: owner.password })
    const up42 = await w.request('POST', '/realms/public/protocol/openid-connect/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    })
    assert.equal(up42.status, 401)
    assert.equal(up42.body.error, 'invalid_grant')
    await w.post('/auth/forgot', { email: owner.email })
    await w.drain(resetPassword)
    const token = tokenIn(mailsIn(w.mailDir, owner.email).at(-1)!)
    assert.equal((await w.post('/auth/reset', { token, password: 'another long one' })).status, 204)
    assert.equal((await signIn(w, { ...owner, password: 'another long one' })).body.code, 'second-factor-required')
  })
})

// Goal: recovery codes replace a lost factor, each once; changes of the factors require one now, and are told and recorded.
test('two factors: recovery codes and changes', async (t) => {
  const w = await world(t)

  await t.test('a recovery code signs in once, however it is written', async () => {
    const who = await w.person()
    const { recoveryCodes } = await addApp(w, who)
    const second = async (recovery_code: string) => {
      const { body } = await signIn(w, who)
      return (await w.post('/auth/sign-in/second-factor', { challenge_token: body.challenge_token, recovery_code })).status
    }
    assert.equal(await second(recoveryCodes[0]!.toUpperCase().replaceAll('-', ' ')), 200)
    assert.equal(await second(recoveryCodes[0]!), 403)
    assert.equal(await second(recoveryCodes[1]!), 200)
    assert.equal(await second('aaaa-bbbb-cccc-dddd'), 403)
    assert.equal((await get(w, who, '/auth/two-factors')).body.recovery_codes_left, 8)
    await w.drain(accountNotice)
    assert.ok(mailsIn(w.mailDir, who.email).some((mail) => mail.includes('Recovery code used')))
  })

  await t.test('new recovery codes replace the old ones, for a second factor and not for a password', async () => {
    const who = await w.person()
    const { secret, recoveryCodes } = await addApp(w, who)
    const renew = (body: object) => post(w, who, '/auth/two-factors/recovery-codes', body)
    assert.equal((await renew({})).body.code, 'fresh-factor-required')
    assert.equal((await renew({ code: '000000' })).body.code, 'wrong-second-factor')
    const { body } = await renew({ code: codeOf(w, secret) })
    assert.equal(body.recovery_codes.length, 10)
    const { body: challenged } = await signIn(w, who)
    const second = (recovery_code: string) =>
      w.post('/auth/sign-in/second-factor', { challenge_token: challenged.challenge_token, recovery_code })
    assert.equal((await second(recoveryCodes[0]!)).status, 403)
    assert.equal((await second(body.recovery_codes[0])).status, 200)
  })

  await t.test('removing the app takes a code; then the password alone signs in, and recovery codes are gone', async () => {
    const org = await w.organization()
    const { secret } = await addApp(w, org.owner)
    const remove = (body: object) => post(w, org.owner, '/auth/two-factors/authenticator/remove', body)
    assert.equal((await remove({})).body.code, 'fresh-factor-required')
    assert.equal((await remove({ code: codeOf(w, secret) })).status, 204)
    assert.equal((await signIn(w, org.owner)).status, 200)
    assert.deepEqual((await get(w, org.owner, '/auth/two-factors')).body, {
      is_on: false,
      authenticator: null,
      passkeys: [],
      recovery_codes_left: 0,
      required_by: [],
    })
    await w.drain(accountNotice)
    const mails = mailsIn(w.mailDir, org.owner.email)
    for (const subject of ['Authenticator app added', 'Authenticator app removed'])
      assert.ok(
        mails.some((mail) => mail.includes(subject)),
        subject,
      )
    const { entries } = await w.ok(org.owner.token, 'organizations.audit.list', {})
    const operations = entries.map(({ operation }: { operation: string }) => operation)
    for (const name of ['auth.authenticator_added', 'auth.authenticator_removed']) assert.ok(operations.includes(name), name)
  })

  await t.test('a new phone replaces the old one without a gap', async () => {
    const who = await w.person()
    const { secret } = await addApp(w, who)
    const { body } = await post(w, who, '/auth/two-factors/authenticator/start', { code: codeOf(w, secret) })
    w.clock.advance({ seconds: 30 })
    const { body: challenged } = await signIn(w, who)
    const second = (code: string, challenge_token: string) => w.post('/auth/sign-in/second-factor', { challenge_token, code })
    assert.equal((await second(codeOf(w, secret), challenged.challenge_token)).status, 200, 'the old one works until the new one does')
    const confirmed = await post(w, who, '/auth/two-factors/authenticator/confirm', { code: codeOf(w, body.secret) })
    assert.equal(confirmed.body.recovery_codes, null, 'recovery codes stay')
    w.clock.advance({ seconds: 30 })
    const { body: next } = await signIn(w, who)
    assert.equal((await second(codeOf(w, secret), next.challenge_token)).status, 403)
    assert.equal((await second(codeOf(w, body.secret), next.challenge_token)).status, 200)
  })

  await t.test('another installation key makes codes wrong, and recovery codes still work', async () => {
    const who = await w.person()
    const { secret, recoveryCodes } = await addApp(w, who)
    const other = await world(t, { databaseUrl: w.databaseUrl, clock: w.clock, secretsKey: Buffer.alloc(32, 'x') })
    const { body } = await signIn(other, who)
    const second = (factor: object) => other.post('/auth/sign-in/second-factor', { challenge_token: body.challenge_token, ...factor })
    assert.equal((await second({ code: codeOf(w, secret) })).status, 403)
    assert.equal((await second({ recovery_code: recoveryCodes[0] })).status, 200)
  })
})

// Goal: a passkey is a second factor, and signs in alone if its device has verified the user; only for this site, challenge and account.
test('two factors: passkeys', async (t) => {
  const w = await world(t)
  const options = async (challenge_token?: string) =>
    (await postByName(w, '/auth/sign-in/passkey-options', challenge_token === undefined ? {} : { challenge_token })).body

  await t.test('as the second factor', async () => {
    const who = await w.person()
    const { authenticator, recovery_codes } = await addPasskey(w, who, { password: who.password })
    assert.equal(recovery_codes?.length, 10)
    const { body } = await signIn(w, who)
    assert.deepEqual(body.factors, ['passkey', 'recovery_code'])
    const asked = await options(body.challenge_token)
    assert.equal(asked.options.allowCredentials[0].id, authenticator.id)
    const second = (credential: object) =>
      postByName(w, '/auth/sign-in/second-factor', { challenge_token: body.challenge_token, credential })
    assert.equal((await second(authenticator.get(asked.options, { from: 'https://evil.example' }))).status, 403, 'another site')
    assert.equal((await second(authenticator.get({ ...asked.options, challenge: 'AAAA' }))).status, 403, 'another challenge')
    assert.equal((await second({})).status, 403)
    assert.equal((await second({ id: authenticator.id, response: { clientDataJSON: 7 } })).status, 403)
    const stranger = await w.person()
    const strange = await addPasskey(w, stranger, { password: stranger.password })
    assert.equal((await second(strange.authenticator.get(asked.options))).status, 403, 'another account')
    const credential = authenticator.get(asked.options, { isUserVerified: false })
    assert.equal((await second(credential)).status, 200, 'touching it is enough after the password')
    assert.equal((await second(credential)).status, 401, 'once')
  })

  await t.test('instead of the password, if its user was verified', async () => {
    const who = await w.person()
    const { authenticator } = await addPasskey(w, who, { password: who.password })
    const enter = (token: string, credential: object) => postByName(w, '/auth/sign-in/passkey', { challenge_token: token, credential })
    const unverified = await options()
    assert.equal(unverified.options.userVerification, 'required')
    assert.equal(unverified.options.allowCredentials, undefined, 'nobody learns who has which passkey')
    const touched = authenticator.get(unverified.options, { isUserVerified: false })
    assert.equal((await enter(unverified.challenge_token, touched)).status, 401)
    assert.equal((await enter(unverified.challenge_token, authenticator.get(unverified.options))).status, 401, 'the challenge is used up')
    const asked = await options()
    const credential = authenticator.get(asked.options)
    const { status, body } = await enter(asked.challenge_token, credential)
    assert.equal(status, 200)
    assert.equal(body.user.id, who.id)
    assert.equal((await enter(asked.challenge_token, credential)).status, 401, 'a replay')
    const forged = softwareAuthenticator(w.baseUrl.replace('127.0.0.1', 'localhost'))
    const again = await options()
    assert.equal((await enter(again.challenge_token, { ...forged.get(again.options), id: authenticator.id })).status, 401, 'a forgery')
    const late = await options()
    w.clock.advance({ minutes: 5 })
    assert.equal((await enter(late.challenge_token, authenticator.get(late.options))).status, 401)
  })

  await t.test('a challenge for one purpose is none for another', async () => {
    const who = await w.person()
    const { authenticator } = await addPasskey(w, who, { password: who.password })
    const { body } = await postByName(w, '/auth/two-factors/proof-options', {}, who)
    const credential = authenticator.get(body.options)
    const input = { challenge_token: body.challenge_token, credential }
    assert.equal((await postByName(w, '/auth/sign-in/passkey', input)).status, 401)
    assert.equal((await postByName(w, '/auth/sign-in/second-factor', input)).status, 401)
  })

  await t.test('a second one takes the first as proof, and a stolen token cannot add its own', async () => {
    const who = await w.person()
    const { authenticator, passkey } = await addPasskey(w, who, { password: who.password }, 'First')
    const refused = await postByName(w, '/auth/two-factors/passkeys/start', { password: who.password }, who)
    assert.equal(refused.body.code, 'fresh-factor-required')
    const prove = async () => {
      const { body } = await postByName(w, '/auth/two-factors/proof-options', {}, who)
      return { challenge_token: body.challenge_token, credential: authenticator.get(body.options) }
    }
    const proof = await prove()
    const second = await addPasskey(w, who, proof, 'Second')
    assert.equal(second.recovery_codes, null)
    assert.equal((await postByName(w, '/auth/two-factors/passkeys/start', proof, who)).body.code, 'wrong-second-factor', 'a replay')
    const { passkeys } = (await get(w, who, '/auth/two-factors')).body
    assert.deepEqual(
      passkeys.map(({ name }: { name: string }) => name),
      ['First', 'Second'],
    )
    assert.notEqual(passkeys[0].last_used_at, null)
    const other = await w.person()
    const remove = (of: Person, body: object) => postByName(w, '/auth/two-factors/passkeys/remove', body, of)
    assert.equal((await remove(other, { passkey_id: passkey.id })).status, 422)
    assert.equal((await remove(who, { passkey_id: second.passkey.id, ...(await prove()) })).status, 204)
    assert.equal((await remove(who, { passkey_id: second.passkey.id, ...(await prove()) })).status, 404)
    assert.equal((await remove(who, { passkey_id: passkey.id, ...(await prove()) })).status, 204)
    assert.equal((await signIn(w, who)).status, 200)
  })

  await t.test('a service without a host name says that passkeys need one', async () => {
    const who = await w.person()
    const { status, body } = await post(w, who, '/auth/two-factors/passkeys/start', { password: who.password })
    assert.equal(status, 400)
    assert.match(body.detail, /require a host name/)
  })
})
