import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'
import expireInvitations from '#domains/organizations/expire-invitations.task.ts'

// Goal: people join a project by id at once and by email when they come; an invitation joins its person to the organization,
// once, in time, and not after it was taken back.
test('projects.add_member', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { projectId: project_id } = org
  const add = (input: object, token = org.owner.token) => w.call(token, 'projects.add_member', { project_id, ...input })
  const roleOf = async (who: { token: string }) => (await w.call(who.token, 'projects.get', { project_id })).body.role
  const organizationOf = async (who: { token: string }) => (await w.call(who.token, 'organizations.get')).body.id ?? null
  const password = 'correct horse battery'

  await t.test('a guest who is project admin adds people, but does not invite them into the organization', async () => {
    const elsewhere = await w.organization()
    await add({ user_id: elsewhere.owner.id, role: 'admin' })
    const asGuest = (input: object) => w.call(elsewhere.owner.token, 'projects.add_member', { project_id: org.projectId, ...input })
    assert.equal((await asGuest({ email: 'friend@example.com' })).status, 403)
    assert.equal((await w.db.selectFrom('invitation').selectAll().where('email', '=', 'friend@example.com').execute()).length, 0)
    assert.equal((await asGuest({ user_id: (await w.person()).id })).status, 200)
  })

  await t.test('by id: a guest from elsewhere, as editor unless said otherwise; again changes the role', async () => {
    const guest = await w.person()
    const { body } = await add({ user_id: guest.id })
    assert.deepEqual([body.user_id, body.role, body.status, body.expires_at], [guest.id, 'editor', 'active', null])
    await add({ user_id: guest.id, role: 'viewer' })
    assert.equal(await roleOf(guest), 'viewer')
    assert.equal(await organizationOf(guest), null, 'a guest joins no organization')
  })

  await t.test('by an address that the organization knows: at once', async () => {
    const member = await w.member(org, 'viewer')
    assert.equal((await add({ email: member.email.toUpperCase(), role: 'admin' })).body.status, 'active')
    assert.equal(await roleOf(member), 'admin')
  })

  await t.test('by another address: an invitation, accepted at sign-up', async () => {
    const { body } = await add({ email: 'New.Person@Example.com', role: 'viewer' })
    assert.deepEqual(
      [body.user_id, body.email, body.status, body.expires_at],
      [null, 'new.person@example.com', 'invited', new Date(w.clock.now().getTime() + 14 * 86_400_000).toISOString()],
    )
    const person = await w.person('new.person@example.com')
    assert.equal(await organizationOf(person), org.id)
    assert.equal(await roleOf(person), 'viewer')
  })

  await t.test('accepted at the next sign-in of somebody who has an account', async () => {
    const other = await w.organization()
    await add({ email: other.owner.email })
    assert.equal((await w.call(other.owner.token, 'projects.get', { project_id })).status, 404, 'not before')
    const again = await w.signIn(other.owner, org.id)
    assert.deepEqual([await organizationOf(again), await roleOf(again)], [org.id, 'editor'])
    assert.equal(await organizationOf(await w.signIn(other.owner, other.id)), other.id)
    const role = await w.db
      .selectFrom('organization_member')
      .select('role')
      .where('org_id', '=', org.id)
      .where('user_id', '=', other.owner.id)
      .executeTakeFirstOrThrow()
    assert.equal(role.role, 'member', 'never more')
  })

  await t.test('renewed by inviting again: the newer role and time count', async () => {
    await add({ email: 'slow@example.com', role: 'admin' })
    w.clock.advance({ days: 10 })
    const { token } = await w.signIn(org.owner)
    await add({ email: 'slow@example.com', role: 'viewer' }, token)
    w.clock.advance({ days: 10 })
    const slow = await w.person('slow@example.com')
    assert.equal(await roleOf(slow), 'viewer')
    assert.equal((await w.db.selectFrom('invitation').select('id').where('email', '=', 'slow@example.com').execute()).length, 1)
  })

  await t.test('expired after fourteen days, with or without the hourly job; then it can be made anew', async () => {
    for (const [email, withJob] of [
      ['late1@example.com', false],
      ['late2@example.com', true],
    ] as const) {
      const { token } = await w.signIn(org.owner)
      await add({ email }, token)
      w.clock.advance({ days: 14 })
      if (withJob) await w.runTask(expireInvitations)
      const late = await w.person(email)
      assert.equal(await organizationOf(late), null, email)
      const fresh = await w.signIn(org.owner)
      assert.equal((await add({ email }, fresh.token)).body.status, 'invited')
      const back = (await w.post('/auth/sign-in', { email, password })).body
      assert.equal(back.organization_id, org.id)
    }
  })

  await t.test('withdrawn: the person stays outside', async () => {
    const { token } = await w.signIn(org.owner)
    await add({ email: 'unwanted@example.com' }, token)
    await w.ok(token, 'projects.remove_member', { project_id, email: 'Unwanted@example.com' })
    assert.equal(await organizationOf(await w.person('unwanted@example.com')), null)
  })

  await t.test('refusals', async () => {
    const { token } = await w.signIn(org.owner)
    for (const input of [
      {},
      { user_id: org.owner.id, email: 'x@example.com' },
      { user_id: 'x' },
      { email: 'not an address' },
      { email: 'x@example.com', role: 'owner' },
    ])
      assert.equal((await add(input, token)).status, 422, JSON.stringify(input))
    assert.equal((await add({ user_id: newId() }, token)).status, 404)
    const editor = await w.person()
    await add({ user_id: editor.id, role: 'editor' }, token)
    assert.equal((await add({ email: 'friend@example.com' }, editor.token)).status, 403)
  })

  await t.test('a project that the platform opened has no admin of its own, and still takes members', async () => {
    const { id } = await w.ok(await w.serviceToken(org.id), 'projects.create', { name: 'Opened by the platform' })
    const guest = await w.person()
    assert.equal(
      (await w.call((await w.signIn(org.owner)).token, 'projects.add_member', { project_id: id, user_id: guest.id, role: 'editor' }))
        .status,
      200,
    )
  })
})
