// Goal: nobody comes in by single sign-on as somebody else: not with a forged, stale or stolen response, not by a provider that speaks
// for people it does not know, and the service calls no address that a provider could use it for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startLiar, startProvider, visitor } from '../support/provider.ts'
import { coastal, connect, verifyDomain } from '../sso/support.ts'

test('attacks on single sign-on', async (t) => {
  const liar = await startLiar(t)
  const c = await coastal(t, { egressAllow: [liar.host], systemAdminEmails: ['root@coastal.example'] })
  const { w, org, names } = c
  const isHome = ({ pathname }: URL) => pathname.startsWith('/app/')
  /** An organization whose owner runs the provider that lies. */
  const bad = await w.organization('Bad actor')
  await connect(w, bad, liar.issuer)
  await verifyDomain(w, bad, names, 'bad.example')

  /** Begins at the liar, and returns with the code it would give. */
  const lie = async (claims: object, more: { response?: Record<string, string>; nonce?: string } = {}) => {
    const browser = visitor()
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start?organization=${bad.id}`, ({ origin }) => origin === liar.issuer)
    const [state, nonce] = [url.searchParams.get('state')!, url.searchParams.get('nonce')!]
    liar.lies.claims = { sub: 'mallory', email: 'mallory@bad.example', email_verified: true, nonce: more.nonce ?? nonce, ...claims }
    const back = new URL(url.searchParams.get('redirect_uri')!)
    back.search = new URLSearchParams({ code: 'x', state, ...more.response }).toString()
    const end = await browser.follow(back.href, isHome)
    return { browser, back, problem: end.url.searchParams.get('problem'), url: end.url }
  }

  await t.test('an honest response of the same provider is accepted', async () => {
    assert.equal((await lie({})).problem, null)
  })

  const now = Math.floor(Date.now() / 1_000)
  for (const [name, claims, more] of [
    ['another nonce', {}, { nonce: 'another' }],
    ['no nonce', { nonce: undefined }, {}],
    ['another issuer', { iss: 'https://login.example' }, {}],
    ["the issuer of another organization's provider", { iss: c.provider.issuer }, {}],
    ['another audience', { aud: 'somebody-else' }, {}],
    ['several audiences and another party', { aud: ['groundtrack', 'x'], azp: 'x' }, {}],
    ['a token that has expired', { exp: now - 600, iat: now - 900 }, {}],
    ['a token from the future', { nbf: now + 900 }, {}],
    ['no subject', { sub: undefined }, {}],
    ['a subject that is no text', { sub: { $ne: null } }, {}],
    ['a response that names another issuer', {}, { response: { iss: c.provider.issuer } }],
  ] as [string, object, object][])
    await t.test(`refused: ${name}`, async () => {
      assert.equal((await lie(claims, more)).problem, 'provider')
    })

  for (const lie_ of ['isSignedByAnother', 'isUnsigned'] as const)
    await t.test(`refused: a token that ${lie_}`, async () => {
      liar.lies[lie_] = true
      assert.equal((await lie({})).problem, 'provider')
      liar.lies[lie_] = false
    })

  await t.test('refused: a state that this browser did not begin with, and one that was changed', async () => {
    assert.equal((await lie({}, { response: { state: 'x'.repeat(43) } })).problem, 'expired')
    const victim = visitor()
    const { back } = await lie({}, { nonce: 'another' })
    assert.equal((await victim.follow(back.href, isHome)).url.searchParams.get('problem'), 'expired')
  })

  await t.test('refused: the same response a second time', async () => {
    const { browser, back } = await lie({})
    assert.equal((await browser.follow(back.href, isHome)).url.searchParams.get('problem'), 'expired')
  })

  await t.test('refused: an attempt that is older than ten minutes', async () => {
    const browser = visitor()
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start?organization=${bad.id}`, ({ origin }) => origin === liar.issuer)
    w.clock.advance({ minutes: 11 })
    const back = new URL(url.searchParams.get('redirect_uri')!)
    back.search = new URLSearchParams({ code: 'x', state: url.searchParams.get('state')! }).toString()
    assert.equal((await browser.follow(back.href, isHome)).url.searchParams.get('problem'), 'expired')
    w.clock.advance({ minutes: -11 })
  })

  await t.test('mix-up: a response to one provider is not taken to another', async () => {
    const browser = visitor()
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start?organization=${org.id}`, ({ origin }) => origin === c.provider.issuer)
    const before = liar.requests.length
    const back = `${w.baseUrl}/auth/sso/callback/${bad.id}?code=x&state=${url.searchParams.get('state')!}`
    assert.equal((await browser.follow(back, isHome)).url.searchParams.get('problem'), 'expired')
    assert.equal(liar.requests.length, before, 'the liar receives no code of the other provider')
  })

  await t.test('a replayed code of the certified provider is refused there', async () => {
    c.knows('ana')
    c.provider.state.signsIn = 'ana'
    const browser = visitor()
    const isCallback = ({ pathname }: URL) => pathname.startsWith('/auth/sso/callback')
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start?organization=${org.id}`, isCallback)
    const kept = new Map(browser.jars.get(w.baseUrl))
    assert.equal((await browser.follow(url.href, isHome)).url.searchParams.get('problem'), null)
    browser.jars.set(w.baseUrl, kept)
    assert.equal((await browser.follow(url.href, isHome)).url.searchParams.get('problem'), 'provider')
  })

  await t.test('a provider speaks for no address of a domain that its organization has not verified', async () => {
    const victim = await w.person('victim@coastal.example')
    assert.equal((await lie({ sub: 'v', email: 'victim@coastal.example' })).problem, 'foreign-domain')
    for (const email of ['victim@coastal.example@bad.example', '"victim@coastal.example"@bad.example', 'Victim <victim@bad.example>'])
      assert.equal((await lie({ sub: 'v', email })).problem, 'unverified-email')
    const { body } = await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${victim.token}` } })
    assert.deepEqual(body.organizations, [])
    assert.equal((await lie({ sub: 'w', email: 'w@bad.example', email_verified: false })).problem, 'unverified-email')
    assert.equal((await lie({ sub: 'w', email: 'w@bad.example', email_verified: 'true' })).problem, 'unverified-email')
    assert.equal((await lie({ sub: 'w', email: ['w@bad.example'] })).problem, 'unverified-email')
    assert.equal((await lie({ sub: 'w', email: 'w@sub.bad.example' })).problem, 'foreign-domain')
    // A name that only looks the same is another domain.
    assert.equal((await lie({ sub: 'w', email: 'w@bаd.example' })).problem, 'foreign-domain')
  })

  await t.test('a domain is not verified by whoever does not own it, nor by the record of another organization', async () => {
    const added = await w.ok(bad.owner.token, 'organizations.domains.add', { domain: 'coastal.example' })
    assert.equal((await w.ok(bad.owner.token, 'organizations.domains.verify', { domain: 'coastal.example' })).is_verified, false)
    assert.notEqual(names.records.get(added.record_name)!.at(-1), added.record_text)
    assert.equal((await lie({ sub: 'z', email: 'z@coastal.example' })).problem, 'foreign-domain')
    for (const domain of ['com', 'localhost', '127.0.0.1', 'a b.example', '-x.example', 'x..example', '*.example'])
      assert.equal((await w.call(bad.owner.token, 'organizations.domains.add', { domain })).status, 422, domain)
  })

  await t.test('a provider opens nothing but its own organization', async () => {
    const both = await w.organization('Elsewhere')
    await w.db.updateTable('app_user').set({ email: 'both@bad.example' }).where('id', '=', both.owner.id).execute()
    const { browser, problem } = await lie({ sub: 'both', email: 'both@bad.example' })
    assert.equal(problem, null)
    const cookie = `groundtrack_refresh=${browser.jars.get(w.baseUrl)!.get('groundtrack_refresh')}`
    const refused = await w.post('/auth/refresh', { organization_id: both.id }, { cookie, origin: w.baseUrl })
    assert.deepEqual([refused.status, refused.body.code], [403, 'sso-required'])
    const { body } = await w.post('/auth/refresh', {}, { cookie, origin: w.baseUrl })
    assert.equal(body.organization_id, bad.id)
    const me = await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${body.access_token}` } })
    assert.deepEqual(
      me.body.organizations.map(({ id }: { id: string }) => id),
      [bad.id],
    )
  })

  await t.test('no operator is made or entered by the provider of an organization', async () => {
    c.knows('root')
    assert.equal((await c.signIn('root')).url.searchParams.get('problem'), 'operator-account')
    const root = await w.person('root@coastal.example')
    assert.equal((await c.signIn('root')).url.searchParams.get('problem'), 'operator-account')
    assert.equal((await w.post('/auth/sign-in', { email: root.email, password: root.password })).status, 200)
  })

  await t.test('whoever signed up early with an address that is not theirs is out once its owner arrives', async () => {
    const squatter = await w.person('dora@coastal.example')
    c.knows('dora')
    const grant = await c.enter('dora')
    assert.equal(grant.user.id, squatter.id)
    assert.equal((await w.post('/auth/sign-in', { email: squatter.email, password: squatter.password })).status, 401)
    assert.equal((await w.post('/auth/refresh', { refresh_token: squatter.refreshToken })).status, 401)
  })

  await t.test('claims of any shape give no role that no rule gives, and never that of an owner', async () => {
    const rules = { role_claim: 'roles.list', default_role: null, role_rules: [{ value: 'boss', role: 'admin' }] }
    await connect(w, bad, liar.issuer, rules)
    const shapes = [null, 5, { boss: true }, { list: { 0: 'boss' } }, { list: [['boss']] }, { __proto__: { list: 'boss' } }, ['boss']]
    for (const roles of shapes) assert.equal((await lie({ sub: 's', email: 's@bad.example', roles })).problem, 'no-access')
    const long = 'x'.repeat(300)
    const odd = { sub: 's', email: 's@bad.example', name: `<script>${long}`, roles: { list: [long, 'boss'] } }
    assert.equal((await lie(odd)).problem, null)
    const wrong = await w.call(bad.owner.token, 'organizations.sso.put', {
      issuer: liar.issuer,
      client_id: 'groundtrack',
      name: 'x',
      role_rules: [{ value: 'boss', role: 'owner' }],
    })
    assert.equal(wrong.status, 422)
    await connect(w, bad, liar.issuer)
  })

  await t.test('the subject of userinfo must be that of the token, whose claims it never replaces', async () => {
    liar.lies.info = { sub: 'somebody else', email: 'x@bad.example' }
    await w.ok(bad.owner.token, 'organizations.sso.check', {})
    assert.equal((await lie({})).problem, 'provider')
    liar.lies.info = { sub: 'mallory', email: 'victim@coastal.example', email_verified: true }
    assert.equal((await lie({})).problem, null)
    liar.lies.info = null
    await w.ok(bad.owner.token, 'organizations.sso.check', {})
  })

  await t.test('the way back leads to no other site', async () => {
    for (const next of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/x\r\nSet-Cookie: a=b',
      '/ä',
    ]) {
      const { url } = await c.signIn('ana', `organization=${org.id}&next=${encodeURIComponent(next)}`)
      assert.deepEqual([url.origin, url.pathname, url.searchParams.get('next')], [w.baseUrl, '/app/sso', null], next)
    }
    for (const port of ['0', '70000', '80@evil.example', '80/x']) {
      const query = `organization=${org.id}&port=${encodeURIComponent(port)}&challenge=${'a'.repeat(43)}`
      assert.equal((await c.signIn('ana', query)).url.origin, w.baseUrl, port)
    }
  })

  await t.test('an issuer is no way into the private network', async () => {
    for (const issuer of [
      'http://169.254.169.254/latest',
      'https://127.0.0.1:1',
      'https://10.0.0.1',
      'https://[::1]',
      'http://provider.test',
    ]) {
      const { status, body } = await w.call(bad.owner.token, 'organizations.sso.put', {
        issuer,
        client_id: 'x',
        client_secret: null,
        name: 'x',
      })
      assert.deepEqual([status, body.code], [400, 'bad-request'], issuer)
    }
    const internal = await startProvider(t)
    liar.lies.description = { token_endpoint: `${internal.issuer}/token` }
    await w.ok(bad.owner.token, 'organizations.sso.check', {})
    assert.equal((await lie({})).problem, 'provider', 'nor is an endpoint that its description names')
    liar.lies.description = { issuer: 'https://login.example' }
    assert.equal((await w.ok(bad.owner.token, 'organizations.sso.check', {})).status, 'failed')
    liar.lies.description = {}
    await w.ok(bad.owner.token, 'organizations.sso.check', {})
  })

  await t.test('a stored secret goes to no other issuer', async () => {
    const change = (more: object) =>
      w.call(org.owner.token, 'organizations.sso.put', { issuer: c.provider.issuer, client_id: 'groundtrack', name: 'x', ...more })
    assert.equal((await change({ issuer: liar.issuer })).status, 422)
    assert.equal((await change({ client_id: 'another' })).status, 422)
    assert.equal((await change({})).status, 200)
    await c.enter('ana')
  })

  await t.test('admins cannot choose whom to trust', async () => {
    const admin = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: admin.id, role: 'admin' })
    const answer = await w.call(admin.token, 'organizations.sso.put', {
      issuer: liar.issuer,
      client_id: 'x',
      client_secret: null,
      name: 'x',
    })
    assert.equal(answer.status, 403)
  })
})
