import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { world, type Org, type Person, type World } from '../../../test/support/world.ts'

const rolesIn = async (w: World, org: Org) =>
  new Map(
    (await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })).members.map(
      ({ user_id, role }: { user_id: string; role: string }) => [user_id, role],
    ),
  )

// Goal: owners and admins let people in by a link, see who is invited, and take invitations back.
test('organizations.members.invite and its invitations', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const invite = (input: object, token = org.owner.token) => w.call(token, 'organizations.members.invite', input)
  const open = async () => await w.ok(org.owner.token, 'organizations.invitations.list')

  await t.test('a member or an admin, by a link that works once', async () => {
    for (const role of ['member', 'admin'] as const) {
      const person = await w.person()
      const { invitation } = (await invite({ email: person.email, role })).body
      assert.deepEqual([invitation.email, invitation.role, invitation.project_id], [person.email, role, null])
      assert.equal((await rolesIn(w, org)).has(person.id), false, 'not before they accept')
      assert.deepEqual((await w.accept(person.token, invitation.url)).body, { organization_id: org.id, role })
      assert.equal((await rolesIn(w, org)).get(person.id), role)
      assert.equal((await w.accept(person.token, invitation.url)).status, 404)
      assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404)
    }
    const { body } = await invite({ email: 'plain@example.com' })
    assert.equal(body.invitation.role, 'member', 'unless said otherwise')
  })

  await t.test('twenty use one link at the same moment: one is in', async () => {
    const { invitation } = (await invite({ email: 'crowd@example.com' })).body
    const people: Person[] = []
    for (let i = 0; i < 20; i++) people.push(await w.person())
    const answers = await Promise.all(people.map((person) => w.accept(person.token, invitation.url)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, ...Array.from({ length: 19 }, () => 404)],
    )
    const roles = await rolesIn(w, org)
    assert.equal(people.filter(({ id }) => roles.has(id)).length, 1)
  })

  await t.test('open ones are listed without their links, and taken back', async () => {
    const { invitation } = (await invite({ email: 'listed@example.com', role: 'admin' })).body
    const { invitations, total } = await open()
    const found = invitations.find(({ id }: { id: string }) => id === invitation.id)
    assert.deepEqual(
      [found.email, found.role, found.organization_role, found.invited_by],
      ['listed@example.com', 'admin', 'admin', org.owner.id],
    )
    assert.ok(!JSON.stringify(invitations).includes('inv_'))
    assert.equal(total, invitations.length)
    const revoke = () => w.call(org.owner.token, 'organizations.invitations.revoke', { invitation_id: invitation.id })
    assert.deepEqual((await revoke()).body, { ok: true, id: invitation.id })
    assert.equal((await revoke()).status, 404)
    assert.equal((await w.accept((await w.person('listed@example.com')).token, invitation.url)).status, 404)
    assert.equal((await open()).total, total - 1)
  })

  await t.test('refusals', async () => {
    const member = await w.member(org)
    assert.equal((await invite({ email: 'x@example.com' }, member.token)).status, 403)
    assert.equal((await invite({ email: member.email })).status, 400, 'a member already')
    for (const input of [{}, { email: 'x' }, { email: 'x@example.com', role: 'owner' }]) assert.equal((await invite(input)).status, 422)
    for (const token of ['inv_nothing', 'x', 'inv_'.padEnd(400, 'x')]) assert.equal((await w.accept(member.token, token)).status, 404)
    const { key } = await w.key(org.owner.token, ['read', 'write'])
    const { invitation } = (await invite({ email: 'x@example.com' })).body
    assert.equal((await w.accept(key, invitation.url)).status, 403, 'a key is nobody who could join')
  })
})

// Goal: roles change by those who may, an organization keeps an owner, and whoever leaves takes no open door along.
test('organizations.members.set_role and organizations.members.remove', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const setRole = (user_id: string, role: string, token = org.owner.token) =>
    w.call(token, 'organizations.members.set_role', { user_id, role })
  const remove = (user_id: string, token = org.owner.token) => w.call(token, 'organizations.members.remove', { user_id })

  await t.test('admins manage admins and members, owners owners too', async () => {
    const [admin, member] = [await w.member(org), await w.member(org)]
    assert.equal((await setRole(member.id, 'admin', admin.token)).status, 403, 'a member changes nobody')
    assert.equal((await setRole(admin.id, 'admin')).body.role, 'admin')
    assert.equal((await setRole(member.id, 'admin', admin.token)).status, 200)
    assert.equal((await setRole(member.id, 'owner', admin.token)).status, 403)
    assert.equal((await setRole(org.owner.id, 'member', admin.token)).status, 403)
    assert.equal((await remove(org.owner.id, admin.token)).status, 403)
    assert.equal((await setRole(member.id, 'owner')).status, 200)
    assert.equal((await setRole(member.id, 'member')).status, 200)
    assert.equal((await setRole(newId(), 'member')).status, 404)
    assert.equal((await remove(newId())).status, 404)
  })

  await t.test('the last owner stays one', async () => {
    for (const { status, body } of [await setRole(org.owner.id, 'admin'), await remove(org.owner.id)]) {
      assert.equal(status, 400)
      assert.match(body.detail, /must have an owner/)
    }
  })

  await t.test('two owners who unmake each other at the same moment leave one', async () => {
    const other = await w.member(org)
    for (let round = 0; round < 5; round++) {
      await setRole(other.id, 'owner')
      const answers = await Promise.all([setRole(other.id, 'member'), setRole(org.owner.id, 'member', other.token)])
      const owners = await w.db
        .selectFrom('organization_member')
        .select('user_id')
        .where('org_id', '=', org.id)
        .where('role', '=', 'owner')
        .execute()
      assert.equal(owners.length, 1, answers.map(({ status }) => status).join())
      await w.db.updateTable('organization_member').set({ role: 'owner' }).where('user_id', '=', org.owner.id).execute()
    }
    await setRole(other.id, 'member')
  })

  await t.test('who is removed loses keys, sessions, project roles and promises at once; what they made stays', async () => {
    const member = await w.member(org, 'admin')
    await setRole(member.id, 'admin')
    const { key } = await w.key(member.token, ['read', 'write'])
    const { key: grandchild } = await w.key(key)
    const { invitation } = await w.ok(member.token, 'organizations.members.invite', { email: 'backdoor@example.com', role: 'admin' })
    const { id: made } = await w.ok(member.token, 'projects.create', { name: 'Made by them' })
    const elsewhere = await w.ok(member.token, 'organizations.create', { name: 'Their own' })
    const athome = await w.signIn(member, elsewhere.id)
    assert.equal((await remove(member.id)).status, 200)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    assert.equal((await w.call(grandchild, 'projects.list')).status, 401)
    assert.equal((await w.call(member.token, 'projects.list')).status, 401, 'the session that acted for it has ended')
    assert.equal((await w.post('/auth/refresh', { refresh_token: member.refreshToken })).status, 401)
    assert.equal((await w.call(athome.token, 'projects.get', { project_id: org.projectId })).status, 404)
    assert.equal((await w.ok(athome.token, 'organizations.get')).id, elsewhere.id, 'other sessions go on')
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404, 'no door is left open')
    assert.equal((await w.ok(org.owner.token, 'projects.get', { project_id: made })).role, 'admin')
    const back = await w.join(athome, org)
    assert.equal((await w.call(key, 'projects.list')).status, 401, 'a key stays ended when its person comes back')
    assert.equal((await w.ok(back.token, 'organizations.get')).id, org.id)
  })

  await t.test('an admin who becomes a member has promised nothing', async () => {
    const admin = await w.member(org)
    await setRole(admin.id, 'admin')
    const { invitation } = await w.ok(admin.token, 'organizations.members.invite', { email: 'later@example.com', role: 'admin' })
    await setRole(admin.id, 'member')
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404)
  })

  await t.test('anybody may leave; a member removes nobody else, and a key nobody at all below admin', async () => {
    const [one, two] = [await w.member(org), await w.member(org)]
    assert.equal((await remove(two.id, one.token)).status, 403)
    const { key } = await w.key(one.token, ['read', 'write'])
    assert.equal((await remove(one.id, key)).status, 403, 'leaving is for the person to say')
    assert.equal((await remove(one.id, one.token)).status, 200)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
  })
})
