import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world, type Answer } from '../support/world.ts'

const cookieOf = (answer: Answer) => answer.headers.getSetCookie()[0] ?? ''
const pairOf = (answer: Answer) => cookieOf(answer).split(';', 1)[0]!

// Goal: a browser can keep its refresh token where no script and no other site reaches it; two routes read it, from their own
// origin alone, and everything else ignores cookies.
test('row 37: the refresh cookie', async (t) => {
  const w = await world(t)
  const own = { origin: w.baseUrl, 'sec-fetch-site': 'same-origin' }
  const person = await w.person()
  const signIn = (more: object = {}, headers: Record<string, string> = {}) =>
    w.post('/auth/sign-in', { email: person.email, password: person.password, ...more }, headers)
  const refresh = (headers: Record<string, string>, body: object = {}) => w.post('/auth/refresh', body, headers)

  await t.test('is only set on request, and then the token is not in the response', async () => {
    const plain = await signIn()
    assert.equal(cookieOf(plain), '')
    assert.ok(plain.body.refresh_token)
    const asked = await signIn({ cookie: true })
    assert.match(cookieOf(asked), /^groundtrack_refresh=[\w-]{43}; Path=\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/)
    assert.ok(!('refresh_token' in asked.body) && asked.body.access_token)
    const signedUp = await w.post('/auth/sign-up', { email: 'c@example.com', password: 'long enough', name: 'C', cookie: true })
    assert.ok(cookieOf(signedUp) && !('refresh_token' in signedUp.body))
  })

  await t.test('is refreshed by pages of the service, with a new token each time', async () => {
    const first = pairOf(await signIn({ cookie: true }))
    const second = await refresh({ ...own, cookie: first })
    assert.equal(second.status, 200)
    assert.ok(!('refresh_token' in second.body))
    assert.notEqual(pairOf(second), first)
    assert.equal((await refresh({ ...own, cookie: pairOf(second) })).status, 200)
    w.clock.advance({ seconds: 30 })
    const spent = await refresh({ ...own, cookie: first })
    assert.equal(spent.status, 401)
    assert.match(cookieOf(spent), /Max-Age=0/, 'what is refused is forgotten')
  })

  await t.test('other sites cannot use it: no form, no fetch, no page without an origin', async () => {
    const cookie = pairOf(await signIn({ cookie: true }))
    const port = new URL(w.baseUrl).port
    const elsewhere: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: w.baseUrl, 'sec-fetch-site': 'same-site' },
      { origin: `${w.baseUrl}.evil.example` },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: `http://localhost:${port}`, host: `127.0.0.1:${port}` },
    ]
    for (const headers of elsewhere) {
      assert.equal((await refresh({ ...headers, cookie })).status, 403, JSON.stringify(headers))
      assert.equal((await w.post('/auth/sign-out', {}, { ...headers, cookie })).status, 403)
    }
    const form = await w.request('POST', '/auth/refresh', {
      headers: { cookie, origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'x=1',
    })
    assert.ok([403, 415].includes(form.status))
    assert.equal((await refresh({ ...own, cookie })).status, 200, 'none of that spent or ended it')
    assert.equal((await w.request('OPTIONS', '/auth/refresh', { headers: own })).headers.get('access-control-allow-credentials'), null)
  })

  await t.test('a sign-in replaces a planted cookie, and two cookies are both rejected', async () => {
    const attacker = await w.person()
    const planted = `groundtrack_refresh=${attacker.refreshToken}`
    const signedIn = await signIn({ cookie: true }, { ...own, cookie: planted })
    assert.equal(signedIn.body.user.id, person.id)
    assert.notEqual(pairOf(signedIn), planted)
    const both = await refresh({ ...own, cookie: `${planted}; ${pairOf(signedIn)}` })
    assert.equal(both.status, 401)
    assert.equal((await refresh({ ...own, cookie: pairOf(signedIn) })).status, 200, 'the real session goes on')
    assert.equal((await refresh({ ...own, cookie: 'groundtrack_refresh=' })).status, 401)
    const body = await refresh({ ...own, cookie: planted }, { refresh_token: (await w.signIn(person)).refreshToken })
    assert.equal(body.body.user.id, person.id, 'a token in the body wins')
  })

  await t.test('only a rejected token is forgotten: another failure leaves the cookie and the session', async () => {
    const cookie = pairOf(await signIn({ cookie: true }))
    const foreign = await w.organization()
    const failed = await refresh({ ...own, cookie }, { organization_id: foreign.id })
    assert.equal(failed.status, 403)
    assert.equal(cookieOf(failed), '')
    assert.equal((await refresh({ ...own, cookie })).status, 200)
  })

  await t.test('signing out ends the session and the cookie', async () => {
    const cookie = pairOf(await signIn({ cookie: true }))
    const out = await w.post('/auth/sign-out', {}, { ...own, cookie })
    assert.equal(out.status, 204)
    assert.match(cookieOf(out), /^groundtrack_refresh=; .*Max-Age=0/)
    assert.equal((await refresh({ ...own, cookie })).status, 401)
  })

  await t.test('every other route ignores it', async () => {
    const grant = await signIn({ cookie: true })
    const cookie = pairOf(grant)
    const withToken = ['groundtrack_refresh', 'access_token', 'token'].map((name) => `${name}=${grant.body.access_token}`).join('; ')
    for (const sent of [cookie, withToken])
      for (const [method, path] of [
        ['GET', '/auth/me'],
        ['GET', '/auth/sessions'],
        ['POST', '/auth/sign-out-everywhere'],
        ['POST', '/auth/invitations/accept'],
        ['POST', '/auth/delete-account'],
        ['POST', '/v1/op/projects.list'],
        ['GET', '/v1/event-types'],
      ] as const)
        assert.equal((await w.request(method, path, { headers: { ...own, cookie: sent } })).status, 401, path)
  })
})

test('row 37: over https, the cookie is secure', async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const person = await w.person()
  const secure = { 'x-forwarded-proto': 'https' }
  const signedIn = await w.post('/auth/sign-in', { email: person.email, password: person.password, cookie: true }, secure)
  assert.match(cookieOf(signedIn), /^__Secure-groundtrack_refresh=.*; Secure$/)
  const plain = { origin: w.baseUrl, cookie: pairOf(signedIn).replace('__Secure-', '') }
  assert.equal((await w.post('/auth/refresh', {}, { ...plain, ...secure })).status, 401, 'one that plain http could have planted')
  assert.equal((await w.post('/auth/refresh', {}, { ...plain, ...secure, cookie: pairOf(signedIn) })).status, 200)
})
