import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'
import expireInvitations from '#domains/organizations/expire-invitations.task.ts'

// Goal: members of the organization join a project at once; anyone else gets a link and joins by using it: once, in time, and
// not after it was revoked.
test('projects.add_member', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { projectId: project_id } = org
  const add = (input: object, token = org.owner.token) => w.call(token, 'projects.add_member', { project_id, ...input })
  const roleOf = async (who: { token: string }) => (await w.call(who.token, 'projects.get', { project_id })).body.role
  const organizationsOf = async (who: { token: string }) =>
    (await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${who.token}` } })).body.organizations.map(
      ({ id }: { id: string }) => id,
    )

  await t.test('a guest who is project admin can add members, but not invite people to the organization', async () => {
    const guest = await w.guest(project_id, 'admin')
    const colleague = await w.member(org)
    assert.equal((await add({ email: 'friend@example.com' }, guest.token)).status, 403)
    assert.equal((await w.db.selectFrom('invitation').selectAll().where('email', '=', 'friend@example.com').execute()).length, 0)
    assert.equal((await add({ user_id: colleague.id, role: 'editor' }, guest.token)).status, 200)
    assert.equal(await roleOf(colleague), 'editor')
  })

  await t.test('by user ID: members only, as editor by default; a repeated call changes the role', async () => {
    const member = await w.member(org)
    const { body } = await add({ user_id: member.id })
    assert.deepEqual(
      [body.user_id, body.role, body.status, body.expires_at, body.invitation],
      [member.id, 'editor', 'active', null, undefined],
    )
    await add({ user_id: member.id, role: 'viewer' })
    assert.equal(await roleOf(member), 'viewer')
    const stranger = await w.person()
    const [theirs, nobody] = [await add({ user_id: stranger.id }), await add({ user_id: newId() })]
    assert.equal(theirs.status, 404)
    assert.deepEqual({ ...theirs.body, instance: '' }, { ...nobody.body, instance: '' }, 'an id says nothing about its person')
  })

  await t.test('by the address of a member: at once', async () => {
    const member = await w.member(org, 'viewer')
    assert.equal((await add({ email: member.email.toUpperCase(), role: 'admin' })).body.status, 'active')
    assert.equal(await roleOf(member), 'admin')
  })

  await t.test('by another address: an invitation, whose link is only in this response', async () => {
    const { body } = await add({ email: 'New.Person@Example.com', role: 'viewer' })
    const expires = new Date(w.clock.now().getTime() + 14 * 86_400_000).toISOString()
    assert.deepEqual([body.user_id, body.email, body.status, body.expires_at], [null, 'new.person@example.com', 'invited', expires])
    assert.deepEqual(
      [body.invitation.email, body.invitation.role, body.invitation.project_id, body.invitation.expires_at],
      ['new.person@example.com', 'viewer', project_id, expires],
    )
    const token = body.invitation.url.replace(`${w.baseUrl}/invite/`, '')
    assert.match(token, /^inv_[\w-]{43}$/)
    const rows = await w.db.selectFrom('invitation').selectAll().where('id', '=', body.invitation.id).execute()
    assert.ok(!JSON.stringify(rows).includes(token) && rows[0]!.token_hash?.length === 32, 'only its hash is stored')
    assert.ok(!w.logLines.some((line) => line.includes(token)))

    const person = await w.person('new.person@example.com')
    assert.deepEqual(await organizationsOf(person), [], 'signing up with the address joins nothing')
    const accepted = await w.accept(person.token, body.invitation.url)
    assert.deepEqual(accepted.body, { organization_id: org.id, project_id, role: 'viewer' })
    const acting = await w.signIn(person, org.id)
    assert.equal(await roleOf(acting), 'viewer')
    assert.equal((await w.accept(person.token, body.invitation.url)).status, 404, 'it works once')
  })

  await t.test('invited again: the newer role, expiry and link count', async () => {
    const first = (await add({ email: 'slow@example.com', role: 'admin' })).body.invitation
    w.clock.advance({ days: 10 })
    const { token } = await w.signIn(org.owner)
    const second = (await add({ email: 'slow@example.com', role: 'viewer' }, token)).body.invitation
    assert.equal(second.id, first.id)
    w.clock.advance({ days: 10 })
    const slow = await w.person('slow@example.com')
    assert.equal((await w.accept(slow.token, first.url)).status, 404, 'the older link is worth nothing')
    assert.equal((await w.accept(slow.token, second.url)).body.role, 'viewer')
  })

  await t.test('expired after fourteen days, with or without the hourly task; then the address can be invited again', async () => {
    for (const [email, withJob] of [
      ['late1@example.com', false],
      ['late2@example.com', true],
    ] as const) {
      const { token } = await w.signIn(org.owner)
      const { invitation } = (await add({ email }, token)).body
      w.clock.advance({ days: 14 })
      if (withJob) await w.runTask(expireInvitations)
      const late = await w.person(email)
      assert.equal((await w.accept(late.token, invitation.url)).status, 404, email)
      const again = (await add({ email }, (await w.signIn(org.owner)).token)).body.invitation
      assert.equal((await w.accept(late.token, again.url)).status, 200)
    }
  })

  await t.test('withdrawn: the person cannot join', async () => {
    const { token } = await w.signIn(org.owner)
    const { invitation } = (await add({ email: 'unwanted@example.com' }, token)).body
    await w.ok(token, 'projects.remove_member', { project_id, email: 'Unwanted@example.com' })
    const unwanted = await w.person('unwanted@example.com')
    assert.equal((await w.accept(unwanted.token, invitation.url)).status, 404)
    assert.deepEqual(await organizationsOf(unwanted), [])
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
    const editor = await w.join(await w.person(), { ...org, owner: { ...org.owner, token } }, 'editor')
    assert.equal((await add({ email: 'friend@example.com' }, editor.token)).status, 403)
  })

  await t.test('members can be added to a project that the platform created, which has no admin', async () => {
    const { id } = await w.ok(await w.serviceToken(org.id), 'projects.create', { name: 'Opened by the platform' })
    const { token } = await w.signIn(org.owner)
    assert.equal((await w.call(token, 'projects.add_member', { project_id: id, user_id: org.owner.id, role: 'editor' })).status, 200)
  })
})
