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

// Goal: owners and admins invite people by a link, see open invitations, and can revoke them.
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
    assert.equal(body.invitation.role, 'member', 'by default')
  })

  await t.test('twenty people use one link concurrently: one joins', async () => {
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

  await t.test('open invitations are listed without their links, and can be revoked', async () => {
    const { invitation } = (await invite({ email: 'listed@example.com', role: 'admin' })).body
    const { invitations, total } = await open()
    const listed = invitations.find(({ id }: { id: string }) => id === invitation.id)
    assert.deepEqual(
      [listed.email, listed.role, listed.organization_role, listed.invited_by],
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
    assert.equal((await w.accept(key, invitation.url)).status, 403, 'an API key cannot join')
  })
})

// Goal: only those who can manage members change roles, an organization keeps an owner, and a former member keeps no access.
test('organizations.members.set_role and organizations.members.remove', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const setRole = (user_id: string, role: string, token = org.owner.token) =>
    w.call(token, 'organizations.members.set_role', { user_id, role })
  const remove = (user_id: string, token = org.owner.token) => w.call(token, 'organizations.members.remove', { user_id })

  await t.test('admins manage admins and members; owners also manage owners', async () => {
    const [admin, member] = [await w.member(org), await w.member(org)]
    assert.equal((await setRole(member.id, 'admin', admin.token)).status, 403, 'members cannot change roles')
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

  await t.test('the last owner stays an owner', async () => {
    for (const { status, body } of [await setRole(org.owner.id, 'admin'), await remove(org.owner.id)]) {
      assert.equal(status, 400)
      assert.match(body.detail, /must have an owner/)
    }
  })

  await t.test('two owners who demote each other concurrently leave one', async () => {
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

  await t.test('a removed member loses keys, sessions, project roles and open invitations at once; created objects stay', async () => {
    const member = await w.member(org, 'admin')
    await setRole(member.id, 'admin')
    const { key } = await w.key(member.token, ['read', 'write'])
    const { key: grandchild } = await w.key(key)
    const { invitation } = await w.ok(member.token, 'organizations.members.invite', { email: 'backdoor@example.com', role: 'admin' })
    const { id: projectId } = await w.ok(member.token, 'projects.create', { name: 'Made by them' })
    const elsewhere = await w.ok(member.token, 'organizations.create', { name: 'Their own' })
    const athome = await w.signIn(member, elsewhere.id)
    assert.equal((await remove(member.id)).status, 200)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
    assert.equal((await w.call(grandchild, 'projects.list')).status, 401)
    assert.equal((await w.call(member.token, 'projects.list')).status, 401, 'the session that acted for it has ended')
    assert.equal((await w.post('/auth/refresh', { refresh_token: member.refreshToken })).status, 401)
    assert.equal((await w.call(athome.token, 'projects.get', { project_id: org.projectId })).status, 404)
    assert.equal((await w.ok(athome.token, 'organizations.get')).id, elsewhere.id, 'other sessions stay valid')
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404, 'their invitation no longer works')
    assert.equal((await w.ok(org.owner.token, 'projects.get', { project_id: projectId })).role, 'admin')
    const back = await w.join(athome, org)
    assert.equal((await w.call(key, 'projects.list')).status, 401, 'a key stays ended when its person comes back')
    assert.equal((await w.ok(back.token, 'organizations.get')).id, org.id)
  })

  await t.test('the invitations of an admin who becomes a member are revoked', async () => {
    const admin = await w.member(org)
    await setRole(admin.id, 'admin')
    const { invitation } = await w.ok(admin.token, 'organizations.members.invite', { email: 'later@example.com', role: 'admin' })
    await setRole(admin.id, 'member')
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 404)
  })

  await t.test('anyone can leave; members cannot remove others, and API keys cannot remove anyone', async () => {
    const [first, second] = [await w.member(org), await w.member(org)]
    assert.equal((await remove(second.id, first.token)).status, 403)
    const { key } = await w.key(first.token, ['read', 'write'])
    assert.equal((await remove(first.id, key)).status, 403, 'an API key cannot leave for its user')
    assert.equal((await remove(first.id, first.token)).status, 200)
    assert.equal((await w.call(key, 'projects.list')).status, 401)
  })
})
