import assert from 'node:assert/strict'
import { test } from 'node:test'
import accountNotice from '#domains/notifications/account-notice.task.ts'
import { mailsIn } from '../../../test/support/mails.ts'
import { addApp, codeOf } from '../../../test/support/second-factors.ts'
import { world, type Person, type World } from '../../../test/support/world.ts'

type Who = Pick<Person, 'token'>

const bearer = (who: Who) => ({ authorization: `Bearer ${who.token}` })
const get = (w: World, who: Who, path: string) => w.request('GET', path, { headers: bearer(who) })
const post = (w: World, who: Who, path: string, body: object = {}) => w.post(path, body, bearer(who))
const signIn = (w: World, { email, password }: Person) => w.post('/auth/sign-in', { email, password })

// Goal: an organization's rule leaves members without a second factor only their own account, everywhere and at once, and lifts as fast.
test('two factors: the rule of an organization', async (t) => {
  const w = await world(t)
  const rule = (token: string, is_required: boolean) => w.call(token, 'organizations.two_factors.set', { is_required })

  await t.test('only an owner with two factors can set it', async () => {
    const org = await w.organization()
    const admin = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: admin.id, role: 'admin' })
    assert.equal((await rule(admin.token, true)).status, 403)
    const refused = await rule(org.owner.token, true)
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /your own account first/)
    await addApp(w, org.owner)
    const set = { is_required: true, members: 2, members_without: 1 }
    assert.deepEqual((await rule(org.owner.token, true)).body, set)
    assert.deepEqual(await w.ok(org.owner.token, 'organizations.two_factors.get'), set)
  })

  await t.test('members without can only set it up; keys go on; with a factor everything is open again', async () => {
    const org = await w.organization('Strict')
    const member = await w.member(org, 'editor')
    const { key } = await w.key(member.token)
    const elsewhere = await w.organization()
    await addApp(w, org.owner)
    assert.equal((await rule(org.owner.token, true)).status, 200)
    const refused = await w.call(member.token, 'projects.list')
    assert.equal(refused.status, 403)
    assert.equal(refused.body.code, 'two-factors-required')
    for (const path of ['/v1/event-types', '/v1/events', '/auth/notifications'])
      assert.equal((await get(w, member, path)).body.code, 'two-factors-required', path)
    assert.equal((await w.call(key, 'projects.list')).status, 200, 'API keys are credentials of their own')
    const me = (await get(w, member, '/auth/me')).body
    assert.equal(me.has_two_factors, false)
    assert.equal(me.organizations[0].requires_two_factors, true)
    const { body: renewed } = await w.post('/auth/refresh', { refresh_token: member.refreshToken })
    assert.equal((await w.call(renewed.access_token, 'projects.list')).status, 403, 'renewing helps nobody')
    assert.equal((await w.call(elsewhere.owner.token, 'projects.list')).status, 200, 'others are not affected')
    assert.deepEqual((await get(w, member, '/auth/two-factors')).body.required_by, ['Strict'])
    const { secret } = await addApp(w, { ...member, token: renewed.access_token })
    assert.equal((await w.call(renewed.access_token, 'projects.list')).status, 200)
    const kept = await post(w, { token: renewed.access_token }, '/auth/two-factors/authenticator/remove', { code: codeOf(w, secret) })
    assert.equal(kept.status, 400)
    assert.match(kept.body.detail, /'Strict' requires two-factor sign-in/)
  })

  await t.test('an owner without a factor cannot delete the organization around the rule', async () => {
    const org = await w.organization()
    const second = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: second.id, role: 'owner' })
    await addApp(w, org.owner)
    await rule(org.owner.token, true)
    const input = { organization_id: org.id, password: second.password }
    assert.equal((await post(w, second, '/auth/delete-organization', input)).body.code, 'two-factors-required')
  })

  await t.test('lifting the rule opens everything at once', async () => {
    const org = await w.organization()
    const member = await w.member(org)
    await addApp(w, org.owner)
    await rule(org.owner.token, true)
    assert.equal((await w.call(member.token, 'projects.list')).status, 403)
    await rule(org.owner.token, false)
    assert.equal((await w.call(member.token, 'projects.list')).status, 200)
  })

  await t.test('admins reset the factors of members; not of owners, of themselves, or of accounts that others rely on', async () => {
    const org = await w.organization()
    const admin = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: admin.id, role: 'admin' })
    const member = await w.member(org)
    await addApp(w, member)
    await addApp(w, org.owner)
    const reset = (token: string, user_id: string) => w.call(token, 'organizations.members.reset_two_factors', { user_id })
    assert.equal((await reset(admin.token, org.owner.id)).status, 403)
    assert.equal((await reset(admin.token, admin.id)).status, 400)
    const { members } = await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })
    const has = Object.fromEntries(
      members.map((each: { user_id: string; has_two_factors: boolean }) => [each.user_id, each.has_two_factors]),
    )
    assert.deepEqual([has[member.id], has[admin.id]], [true, false])
    const { status, body } = await reset(admin.token, member.id)
    assert.equal(status, 200)
    assert.equal(body.has_two_factors, false)
    assert.equal((await get(w, member, '/auth/me')).status, 401, 'sessions have ended')
    assert.equal((await signIn(w, member)).status, 200)
    await w.drain(accountNotice)
    assert.ok(mailsIn(w.mailDir, member.email).some((mail) => mail.includes('Two-factor sign-in was reset')))
    const both = await w.organization()
    const shared = await w.join(await w.signIn(member), both)
    await addApp(w, shared)
    const refused = await reset(admin.token, member.id)
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /ask the operator/)
  })
})
