import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world, type Person, type World } from './support/world.ts'

const bearer = (who: { token: string }) => ({ authorization: `Bearer ${who.token}` })
const get = (w: World, who: { token: string }, path: string) => w.request('GET', path, { headers: bearer(who) })
const post = (w: World, who: { token: string }, path: string, body: object = {}) => w.post(path, body, bearer(who))
const signInStatus = async (w: World, { email }: Person, password: string) => (await w.post('/auth/sign-in', { email, password })).status

// Goal: users change their password and manage their sessions; a stolen token alone changes nothing permanently.
test('password and sessions', async (t) => {
  const w = await world(t)

  await t.test('changing the password requires the current one, ends all other sessions and keeps this one and the keys', async () => {
    const { owner } = await w.organization()
    const other = await w.signIn(owner)
    const { key } = await w.key(owner.token)
    const change = (body: object) => post(w, owner, '/auth/password', body)
    assert.equal((await change({ password: 'not the password', new_password: 'another long one' })).status, 403)
    assert.equal((await change({ password: owner.password, new_password: 'short' })).body.errors[0].field, 'new_password')
    assert.equal((await change({ new_password: 'another long one' })).status, 422)
    assert.equal((await change({ password: owner.password, new_password: 'another long one' })).status, 204)
    assert.equal(await signInStatus(w, owner, owner.password), 401)
    assert.equal(await signInStatus(w, owner, 'another long one'), 200)
    assert.equal((await get(w, other, '/auth/me')).status, 401)
    assert.equal((await w.post('/auth/refresh', { refresh_token: other.refreshToken })).status, 401)
    assert.equal((await get(w, owner, '/auth/me')).status, 200)
    assert.equal((await w.call(key, 'projects.list')).status, 200)
    assert.equal(
      (await w.post('/auth/password', { password: 'x', new_password: 'another long one' }, { authorization: `Bearer ${key}` })).status,
      403,
    )
  })

  await t.test('guessing the current password with a stolen token is limited like sign-in', async () => {
    const victim = await w.person()
    const guess = () => post(w, victim, '/auth/password', { password: 'not the password', new_password: 'another long one' })
    for (let i = 0; i < 10; i++) assert.equal((await guess()).status, 403)
    assert.equal((await guess()).status, 429)
  })

  await t.test('sessions are listed, newest first, with the current one marked, and can all be ended at once', async () => {
    const first = await w.person()
    w.clock.advance({ minutes: 1 })
    const second = await w.signIn(first)
    const { sessions } = (await get(w, second, '/auth/sessions')).body
    assert.deepEqual(
      sessions.map((session: Record<string, unknown>) => [session['is_current'], session['created_at'], session['last_used_at']]),
      [
        [true, w.clock.now().toISOString(), w.clock.now().toISOString()],
        [false, ...Array.from({ length: 2 }, () => new Date(w.clock.now().getTime() - 60_000).toISOString())],
      ],
    )
    assert.ok(!JSON.stringify(sessions).includes(second.refreshToken))
    assert.equal((await post(w, second, '/auth/sign-out-everywhere', { password: 'not the password' })).status, 403)
    assert.equal((await post(w, second, '/auth/sign-out-everywhere')).status, 204)
    for (const session of [first, second]) {
      assert.equal((await get(w, session, '/auth/sessions')).status, 401)
      assert.equal((await w.post('/auth/refresh', { refresh_token: session.refreshToken })).status, 401)
    }
    assert.equal(await signInStatus(w, first, first.password), 200)
  })
})

// Goal: deleting an account deletes its keys, sessions and memberships; its resources stay with the organization; the address is free.
test('deleting an account', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const end = (who: Person, password = who.password) => post(w, who, '/auth/delete-account', { password })

  await t.test('a member is deleted, and their resources stay', async () => {
    const member = await w.member(org, 'editor')
    const item = await w.ok(member.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'Theirs' })
    const { key } = await w.key(member.token)
    assert.equal((await end(member, 'not the password')).status, 403)
    assert.equal((await end(member)).status, 204)
    assert.equal((await get(w, member, '/auth/me')).status, 401)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    assert.equal(await signInStatus(w, member, member.password), 401)
    assert.equal((await w.call(org.owner.token, 'items.get', { item_id: item.id })).status, 200)
    const { members } = await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })
    assert.ok(!JSON.stringify(members).includes(member.id))
    const again = await w.person(member.email)
    assert.notEqual(again.id, member.id, 'the address is free, and a new person')
    assert.deepEqual((await get(w, again, '/auth/me')).body.organizations, [])
    const people = await w.db.selectFrom('app_user').selectAll().where('id', '=', member.id).execute()
    assert.ok(!JSON.stringify(people).includes(member.email), 'nothing names the one who went')
  })

  await t.test('the only owner of an organization must transfer or delete it first', async () => {
    const refused = await end(org.owner)
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /only owner of 'Test organization'/)
    assert.equal((await get(w, org.owner, '/auth/me')).status, 200, 'nothing has ended')
    const heir = await w.member(org)
    await w.ok(org.owner.token, 'organizations.members.set_role', { user_id: heir.id, role: 'owner' })
    assert.equal((await end(org.owner)).status, 204)
    assert.equal((await w.ok((await w.signIn(heir, org.id)).token, 'projects.get', { project_id: org.projectId })).role, 'admin')
  })

  await t.test('of two owners who delete their accounts concurrently, one stays', async () => {
    const pair = await w.organization()
    const second = await w.member(pair)
    await w.ok(pair.owner.token, 'organizations.members.set_role', { user_id: second.id, role: 'owner' })
    const statuses = (await Promise.all([end(pair.owner), end(second)])).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [204, 400])
  })
})

// Goal: an owner with their password deletes an organization completely, and never while it has debts.
test('deleting an organization', async (t) => {
  const w = await world(t)
  const end = (who: Person, organization_id: string, more: object = {}) =>
    post(w, who, '/auth/delete-organization', { organization_id, password: who.password, ...more })

  await t.test('with its projects, items, share links, keys, invitations and members; the ledger stays', async () => {
    const org = await w.organization('Doomed')
    const member = await w.member(org)
    const item = await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'x' })
    const share = await w.ok(org.owner.token, 'share.link.create', {
      target_type: 'item',
      target_id: item.id,
      password: 'for visitors',
      expires_at: new Date(w.clock.now().getTime() + 86_400_000).toISOString(),
    })
    await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    const { key } = await w.key(org.owner.token)
    const { invitation } = await w.ok(org.owner.token, 'organizations.members.invite', { email: 'late@example.com' })
    assert.equal((await end(member, org.id)).status, 403, 'an owner asks for it')
    assert.equal((await end((await w.organization()).owner, org.id)).status, 403)
    assert.equal((await end(org.owner, org.id, { password: 'not the password' })).status, 403)
    assert.equal((await w.call(key, 'projects.list')).status, 200, 'nothing has ended')
    assert.equal((await end(org.owner, org.id)).status, 204)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    assert.equal((await w.call(member.token, 'projects.list')).status, 401)
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404)
    const opened = await w.post('/v1/op/share.link.validate', { token: share.token, password: 'for visitors' })
    assert.equal(opened.status, 401)
    const events = await w.db.selectFrom('event').select('type').where('entity_id', '=', item.id).orderBy('seq').execute()
    assert.equal(events.at(-1)!.type, 'item.deleted')
    const cards = await w.db
      .selectFrom('payment_method')
      .selectAll()
      .where('org_id', '=', org.id)
      .where('detached_at', 'is', null)
      .execute()
    assert.deepEqual(cards, [])
    const { name, deleted_at } = await w.db.selectFrom('organization').selectAll().where('id', '=', org.id).executeTakeFirstOrThrow()
    assert.deepEqual([name, deleted_at], ['Deleted organization', w.clock.now()])
    const audited = await w.db.selectFrom('audit').select('operation').where('org_id', '=', org.id).execute()
    assert.ok(audited.some(({ operation }) => operation === 'auth.delete_organization'))
    const back = await w.signIn(org.owner)
    assert.deepEqual((await get(w, back, '/auth/me')).body.organizations, [])
    assert.equal((await post(w, back, '/auth/delete-account', { password: back.password })).status, 204, 'now the account can go too')
  })

  await t.test('not with remaining credits unless they are forfeited; not with an uninvoiced fee', async () => {
    const org = await w.organization()
    await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    await w.ok(org.owner.token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'k' })
    const refused = await end(org.owner, org.id)
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /10000 credits are left/)
    await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
    w.clock.advance({ minutes: 5 })
    const owing = await end(org.owner, org.id, { forfeit_credits: true })
    assert.equal(owing.status, 400)
    assert.match(owing.body.detail, /plan fee not invoiced yet/)
    const free = await w.organization()
    await w.ok(free.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
    await w.ok(free.owner.token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'k' })
    assert.equal((await end(free.owner, free.id, { forfeit_credits: true })).status, 204)
  })
})
