// Goal: people sign in at the provider of their organization or of the installation, become members with the role that their claims
// give, and lose it when they leave; whoever must use single sign-on cannot avoid it, and owners are never locked out.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { world } from '../support/world.ts'
import { CLIENT, startNameServer, startProvider, visitor } from '../support/provider.ts'
import { coastal, connect, verifyDomain } from './support.ts'

test("an organization's provider", async (t) => {
  const c = await coastal(t)
  const { w, org, provider } = c
  const get = (token: string) => w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })

  await t.test('a colleague signs in for the first time, and is a member', async () => {
    c.knows('ana')
    const grant = await c.enter('ana')
    assert.equal(grant.user.email, 'ana@coastal.example')
    assert.equal(grant.user.name, 'ana of Coastal')
    assert.equal(grant.organization_id, org.id)
    assert.equal(await c.roleOf('ana@coastal.example'), 'member')
    const { body } = await get(grant.access_token)
    assert.deepEqual(
      body.organizations.map(({ id }: { id: string }) => id),
      [org.id],
    )
  })

  await t.test('the second time it is the same account, whatever address the provider names now', async () => {
    const before = (await c.enter('ana')).user.id
    c.knows('ana', { email: 'ana.pereira@coastal.example' })
    assert.equal((await c.enter('ana')).user.id, before)
  })

  await t.test("the organization's rule of two factors is the provider's business", async () => {
    const rule = (isRequired: boolean) =>
      w.db.updateTable('organization').set({ requires_two_factors: isRequired }).where('id', '=', org.id).execute()
    await rule(true)
    const { access_token } = await c.enter('ana')
    assert.equal((await w.call(access_token, 'projects.list')).status, 200)
    assert.equal((await w.call(org.owner.token, 'projects.list')).body.code, 'two-factors-required', 'for whoever has a password only')
    await rule(false)
  })

  await t.test('the way back leads to the page that was asked for', async () => {
    const { url } = await c.signIn('ana', `organization=${org.id}&next=${encodeURIComponent('/orders?status=open')}`)
    assert.equal(url.searchParams.get('next'), '/orders?status=open')
  })

  await t.test('the secret is encrypted and never returned', async () => {
    const answer = JSON.stringify(await w.ok(org.owner.token, 'organizations.sso.get', {}))
    assert.ok(!answer.includes(CLIENT.secret))
    const { secret } = await w.db.selectFrom('sso_connection').select('secret').executeTakeFirstOrThrow()
    assert.ok(secret && !secret.includes(CLIENT.secret))
  })

  await t.test('a provider that has replaced its key is believed at once', async () => {
    const { redirect_uri, sign_out_uri } = await w.ok(org.owner.token, 'organizations.sso.get', {})
    await provider.register([redirect_uri, `${w.baseUrl}/auth/sso/callback`], [sign_out_uri], 'second')
    await c.enter('ana')
  })

  await t.test('a user who changes their mind at the provider is told so', async () => {
    provider.state.isCancelling = true
    const { url } = await c.signIn('ana')
    provider.state.isCancelling = false
    assert.equal(url.searchParams.get('problem'), 'cancelled')
  })

  await t.test('signing out ends the session here and says where to end it there', async () => {
    const entered = await c.signIn('ana')
    const cookie = `groundtrack_refresh=${entered.browser.jars.get(w.baseUrl)!.get('groundtrack_refresh')}`
    const { body } = await w.post('/auth/sso/sign-out', {}, { cookie, origin: w.baseUrl })
    assert.ok(body.provider_url.startsWith(`${provider.issuer}/session/end?`))
    const there = await entered.browser.get(body.provider_url)
    assert.equal(there.status, 200)
    assert.equal((await w.post('/auth/refresh', {}, { cookie, origin: w.baseUrl })).status, 401)
  })

  await t.test('claims give roles in the organization and in projects, and take them away', async () => {
    await connect(w, org, provider.issuer, {
      role_claim: 'groups',
      default_role: null,
      role_rules: [
        { value: 'bosses', role: 'admin' },
        { value: 'reef', role: 'member', project_id: org.projectId, project_role: 'editor' },
        { value: 'guests', role: 'member', project_id: org.projectId, project_role: 'viewer' },
      ],
    })
    const projectRole = async () => {
      const { members } = await w.ok(org.owner.token, 'projects.get', { project_id: org.projectId })
      return members.find((member: { email: string }) => member.email === 'ben@coastal.example')?.role ?? null
    }
    c.knows('ben', { groups: ['reef', 'guests'] })
    const first = await c.enter('ben')
    assert.deepEqual([await c.roleOf('ben@coastal.example'), await projectRole()], ['member', 'editor'])
    c.knows('ben', { groups: ['bosses', 'guests'] })
    await c.enter('ben')
    assert.deepEqual([await c.roleOf('ben@coastal.example'), await projectRole()], ['admin', 'viewer'])
    c.knows('ben', { groups: 'bosses' })
    await c.enter('ben')
    assert.deepEqual([await c.roleOf('ben@coastal.example'), await projectRole()], ['admin', null])
    const key = (await w.ok((await c.enter('ben')).access_token, 'api_keys.create', { name: 'ben', permissions: ['read'] })).key
    c.knows('ben', { groups: ['somebody else'] })
    assert.equal((await c.signIn('ben')).url.searchParams.get('problem'), 'no-access')
    assert.equal(await c.roleOf('ben@coastal.example'), null)
    assert.equal((await get(first.access_token)).status, 401, 'earlier sessions end')
    assert.equal((await w.call(key, 'projects.list')).status, 401, 'and so do keys')
    c.knows('ben', { groups: ['bosses'] })
    await c.enter('ben')
    assert.equal(await c.roleOf('ben@coastal.example'), 'admin', 'whoever comes back has access again')
    await connect(w, org, provider.issuer)
  })

  await t.test('after some hours people are asked again', async () => {
    const entered = await c.signIn('ana')
    const cookie = `groundtrack_refresh=${entered.browser.jars.get(w.baseUrl)!.get('groundtrack_refresh')}`
    w.clock.advance({ hours: 25 })
    const { status, body } = await w.post('/auth/refresh', {}, { cookie, origin: w.baseUrl })
    assert.deepEqual([status, body.code, body.sign_in_url], [403, 'sso-required', `/auth/sso/start?organization=${org.id}`])
    w.clock.advance({ hours: -25 })
  })

  await t.test('single sign-on finds the organization by the domain of an address', async () => {
    const found = (await w.post('/auth/sso/find', { email: 'Somebody@Coastal.Example' })).body
    assert.deepEqual(found, {
      choices: [{ organization_id: org.id, name: 'Coastal Survey', url: `/auth/sso/start?organization=${org.id}` }],
    })
    const { status, body } = await w.post('/auth/sso/find', { email: 'x@elsewhere.example' })
    assert.deepEqual([status, body.code], [404, 'sso-unknown-domain'])
    assert.deepEqual((await w.request('GET', '/auth/sso')).body, { installation: null })
  })

  await t.test('where it is required, passwords open nothing of the organization, except to owners', async () => {
    const member = await w.member(org)
    const other = await w.organization()
    const both = await w.join(await w.join(await w.person(), other), org)
    await w.ok(org.owner.token, 'organizations.sso.set_rules', { required: true })
    assert.equal((await get(member.token)).status, 401, 'sessions that began with a password end at once')
    const refused = await w.post('/auth/sign-in', { email: member.email, password: member.password })
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.sign_in_url],
      [403, 'sso-required', `/auth/sso/start?organization=${org.id}`],
    )
    assert.equal((await w.post('/auth/sign-in', { email: member.email, password: 'wrong one entirely' })).status, 401)
    const elsewhere = await w.post('/auth/sign-in', { email: both.email, password: both.password })
    assert.deepEqual([elsewhere.status, elsewhere.body.organization_id], [200, other.id])
    const refresh = { refresh_token: elsewhere.body.refresh_token, organization_id: org.id }
    assert.equal((await w.post('/auth/refresh', refresh)).body.code, 'sso-required')
    const owner = await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password, organization_id: org.id })
    assert.deepEqual([owner.status, owner.body.organization_id], [200, org.id])
    await c.enter('ana')
    await w.ok(org.owner.token, 'organizations.sso.set_rules', { required: false })
    assert.equal((await w.post('/auth/sign-in', { email: member.email, password: member.password })).status, 200)
  })

  await t.test('it cannot be required before it works', async () => {
    const fresh = await w.organization()
    const rule = () => w.call(fresh.owner.token, 'organizations.sso.set_rules', { required: true })
    assert.match((await rule()).body.detail, /Connect a provider/)
    await connect(w, fresh, provider.issuer)
    assert.match((await rule()).body.detail, /Verify a domain/)
    const failed = await connect(w, fresh, 'https://nobody.test')
    assert.deepEqual([failed.status, failed.detail], ['failed', 'The provider cannot be called: The host name does not resolve'])
    assert.match((await rule()).body.detail, /not found at the last check/)
  })

  await t.test('a program signs in through the browser, and only the one that asked', async () => {
    const arrived = Promise.withResolvers<URL>()
    const server = createServer((request, response) => {
      arrived.resolve(new URL(request.url!, 'http://127.0.0.1'))
      response.end()
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    t.after(() => void server.close())
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const { port } = server.address() as AddressInfo
    await visitor().follow(`${w.baseUrl}/auth/sso/start?organization=${org.id}&port=${port}&challenge=${challenge}`)
    const code = (await arrived.promise).searchParams.get('code')!
    const exchange = (given: string) => w.post('/auth/sso/token', { code, verifier: given })
    assert.equal((await exchange(randomBytes(32).toString('base64url'))).status, 401)
    const grant = (await exchange(verifier)).body
    assert.equal((await get(grant.access_token)).status, 200)
    assert.equal((await exchange(verifier)).status, 401, 'a code works once')
    assert.equal((await get(grant.access_token)).status, 401, 'and a second use ends the session')
  })

  await t.test('disconnecting ends its sessions, keeps members and lifts the rule', async () => {
    const grant = await c.enter('ana')
    await w.ok(org.owner.token, 'organizations.sso.set_rules', { required: true })
    await w.ok(org.owner.token, 'organizations.sso.delete', {})
    assert.equal((await get(grant.access_token)).status, 401)
    assert.equal(await c.roleOf('ana@coastal.example'), 'member')
    assert.equal((await w.ok(org.owner.token, 'organizations.sso.get', {})).rules.required, false)
    assert.equal((await c.signIn('ana')).url.searchParams.get('problem'), 'not-configured')
  })
})

// Goal: the provider of the settings lets in everybody it vouches for, and people of verified domains join their organization.
test("the installation's provider", async (t) => {
  const provider = await startProvider(t)
  const names = await startNameServer(t)
  const installation = {
    issuer: provider.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    scopes: 'openid email profile',
    name: 'Coastal login',
    domains: ['coastal.example', 'reef.example'],
    maySignUp: true,
  }
  const w = await world(t, {
    startAt: new Date().toISOString(),
    egressAllow: [provider.host],
    sso: { installation, nameServers: [names.address] },
  })
  await provider.register([`${w.baseUrl}/auth/sso/callback`])
  const signIn = async (sub: string, email: string, isVerified = true) => {
    provider.people.set(sub, { sub, email, email_verified: isVerified })
    provider.state.signsIn = sub
    const browser = visitor()
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start`, ({ pathname }) => pathname.startsWith('/app/'))
    const cookie = `groundtrack_refresh=${browser.jars.get(w.baseUrl)!.get('groundtrack_refresh')}`
    const grant = url.searchParams.has('problem') ? null : (await w.post('/auth/refresh', {}, { cookie, origin: w.baseUrl })).body
    return { problem: url.searchParams.get('problem'), grant }
  }

  await t.test('it is offered on the sign-in page', async () => {
    assert.deepEqual((await w.request('GET', '/auth/sso')).body, { installation: { name: 'Coastal login', url: '/auth/sso/start' } })
    assert.equal((await w.post('/auth/sso/find', { email: 'a@reef.example' })).body.choices[0].url, '/auth/sso/start')
  })

  await t.test('a new user gets an account, an existing one theirs, and a stranger nothing', async () => {
    assert.equal((await signIn('new', 'new@coastal.example')).grant.organization_id, null)
    const { owner, id } = await w.organization()
    await w.db.updateTable('app_user').set({ email: 'old@reef.example' }).where('id', '=', owner.id).execute()
    const { grant } = await signIn('old', 'OLD@reef.example')
    assert.deepEqual([grant.user.id, grant.organization_id], [owner.id, id])
    assert.equal((await signIn('x', 'x@elsewhere.example')).problem, 'foreign-domain')
    assert.equal((await signIn('y', 'y@coastal.example', false)).problem, 'unverified-email')
  })

  await t.test('people of a verified domain join the organization that lets them', async () => {
    const org = await w.organization()
    await verifyDomain(w, org, names, 'reef.example')
    assert.equal((await signIn('before', 'before@reef.example')).grant.organization_id, null)
    await w.ok(org.owner.token, 'organizations.sso.set_rules', { required: true, domain_role: 'member' })
    assert.equal((await signIn('cleo', 'cleo@reef.example')).grant.organization_id, org.id)
    assert.equal((await signIn('other', 'other@coastal.example')).grant.organization_id, null)
  })
})
