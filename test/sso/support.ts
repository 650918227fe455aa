/** An organization with a provider of its own and a verified domain. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Org, World } from '../support/world.ts'
import { world } from '../support/world.ts'
import { CLIENT, startNameServer, startProvider, visitor } from '../support/provider.ts'

export type Names = Awaited<ReturnType<typeof startNameServer>>

export async function verifyDomain(w: World, org: Org, names: Names, domain: string): Promise<void> {
  const added = await w.ok(org.owner.token, 'organizations.domains.add', { domain })
  names.records.set(added.record_name, ['v=spf1 -all', added.record_text])
  assert.equal((await w.ok(org.owner.token, 'organizations.domains.verify', { domain })).is_verified, true)
}

export async function connect(w: World, org: Org, issuer: string, more: object = {}) {
  return await w.ok(org.owner.token, 'organizations.sso.put', {
    issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    name: 'Coastal',
    ...more,
  })
}

/** A world, a certified provider that vouches for people of coastal.example, and the organization that trusts it. */
export async function coastal(t: TestContext, options: Parameters<typeof world>[1] = {}) {
  const provider = await startProvider(t)
  const names = await startNameServer(t)
  const w = await world(t, {
    startAt: new Date().toISOString(),
    ...options,
    egressAllow: [provider.host, ...(options.egressAllow ?? [])],
    sso: { nameServers: [names.address], ...options.sso },
  })
  const org = await w.organization('Coastal Survey')
  const { redirect_uri, sign_out_uri } = await w.ok(org.owner.token, 'organizations.sso.get', {})
  await provider.register([redirect_uri, `${w.baseUrl}/auth/sso/callback`], [sign_out_uri])
  await connect(w, org, provider.issuer)
  await verifyDomain(w, org, names, 'coastal.example')
  const knows = (sub: string, claims: object = {}) =>
    provider.people.set(sub, { sub, email: `${sub}@coastal.example`, email_verified: true, name: `${sub} of Coastal`, ...claims })
  /** Signs in with a new browser; where it ends up, and what it holds. */
  const signIn = async (sub: string, query = `organization=${org.id}`) => {
    provider.state.signsIn = sub
    const browser = visitor()
    const { url } = await browser.follow(`${w.baseUrl}/auth/sso/start?${query}`, ({ pathname }) => pathname.startsWith('/app/'))
    return { browser, url }
  }
  /** The session that the console has afterwards. */
  const session = async ({ browser, url }: Awaited<ReturnType<typeof signIn>>) => {
    assert.equal(url.pathname + (url.searchParams.get('problem') ?? ''), '/app/sso')
    const cookie = [...browser.jars.get(w.baseUrl)!].map(([name, value]) => `${name}=${value}`).join('; ')
    const { status, body } = await w.post('/auth/refresh', {}, { cookie, origin: w.baseUrl })
    assert.equal(status, 200)
    return body as { access_token: string; user: { id: string; email: string; name: string }; organization_id: string | null }
  }
  const enter = async (sub: string) => await session(await signIn(sub))
  const roleOf = async (email: string): Promise<string | null> => {
    const { members } = await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })
    return members.find((member: { email: string }) => member.email === email)?.role ?? null
  }
  return { w, org, provider, names, knows, signIn, session, enter, roleOf }
}
