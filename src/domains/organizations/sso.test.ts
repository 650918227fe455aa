import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNameServer, startProvider } from '../../../test/support/provider.ts'
import { world } from '../../../test/support/world.ts'

// Goal: an owner connects a provider and proves domains; each change is stored as it was checked, and nothing is required that does not
// work. Sign-ins themselves are tested in test/sso and test/security/66-single-sign-on.test.ts.
test('settings of single sign-on', async (t) => {
  const provider = await startProvider(t)
  const names = await startNameServer(t)
  const w = await world(t, { egressAllow: [provider.host], sso: { nameServers: [names.address] } })
  const org = await w.organization()
  const { token } = org.owner
  const connection = { issuer: provider.issuer, client_id: 'x', client_secret: 'a long secret', name: 'Coastal' }

  await t.test('without a provider there is none, and the addresses to register are known', async () => {
    const sso = await w.ok(token, 'organizations.sso.get')
    assert.deepEqual([sso.connection, sso.rules], [null, { required: false, domain_role: null }])
    assert.equal(sso.redirect_uri, `${w.baseUrl}/auth/sso/callback/${org.id}`)
    assert.equal((await w.call(token, 'organizations.sso.check')).status, 404)
    assert.equal((await w.call(token, 'organizations.sso.delete')).status, 404)
  })

  await t.test('a provider that does not answer is stored as such, and found when it does', async () => {
    const { status, has_secret, session_hours } = await w.ok(token, 'organizations.sso.put', connection)
    assert.deepEqual([status, has_secret, session_hours], ['failed', true, 24])
    await provider.register([`${w.baseUrl}/auth/sso/callback/${org.id}`])
    const checked = await w.ok(token, 'organizations.sso.check')
    assert.deepEqual([checked.status, checked.detail], ['verified', null])
  })

  await t.test('rules name values, roles and projects of the organization', async () => {
    const rule = { value: 'reef', role: 'member', project_id: org.projectId, project_role: 'editor' }
    const put = (rules: object[]) => w.call(token, 'organizations.sso.put', { ...connection, role_claim: 'groups', role_rules: rules })
    assert.deepEqual((await put([rule])).body.role_rules, [rule])
    assert.equal((await put([{ value: 'reef', role: 'member', project_id: org.projectId }])).status, 422)
    const other = await w.organization()
    assert.equal((await put([{ ...rule, project_id: other.projectId }])).status, 404)
  })

  await t.test('a domain is verified by its record, and no longer when the record is gone', async () => {
    const added = await w.ok(token, 'organizations.domains.add', { domain: 'Münster.example.' })
    assert.equal(added.domain, 'xn--mnster-3ya.example')
    const verify = () => w.ok(token, 'organizations.domains.verify', { domain: 'münster.example' })
    assert.equal((await verify()).is_verified, false)
    names.records.set(added.record_name, [added.record_text])
    assert.equal((await verify()).is_verified, true)
    assert.equal((await w.ok(token, 'organizations.domains.add', { domain: 'münster.example' })).record_text, added.record_text)
    await w.ok(token, 'organizations.sso.set_rules', { required: true, domain_role: 'member' })
    names.records.delete(added.record_name)
    assert.equal((await verify()).is_verified, false)
    assert.equal((await w.ok(token, 'organizations.domains.list')).domains.length, 1)
    await w.ok(token, 'organizations.domains.remove', { domain: added.domain })
    assert.deepEqual((await w.ok(token, 'organizations.domains.list')).domains, [])
  })

  await t.test('an organization has a limited number of domains', async () => {
    for (let n = 0; n < 20; n++) await w.ok(token, 'organizations.domains.add', { domain: `d${n}.example` })
    assert.equal((await w.call(token, 'organizations.domains.add', { domain: 'd20.example' })).status, 400)
    assert.equal((await w.call(token, 'organizations.domains.add', { domain: 'd0.example' })).status, 200)
  })

  await t.test('disconnecting keeps what was said of domains', async () => {
    await w.ok(token, 'organizations.sso.delete')
    const { connection: none, rules } = await w.ok(token, 'organizations.sso.get')
    assert.deepEqual([none, rules], [null, { required: false, domain_role: 'member' }])
  })
})
