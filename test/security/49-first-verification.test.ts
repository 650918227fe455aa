import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import confirmAddress from '#domains/notifications/confirm-address.task.ts'
import inviteByMail from '#domains/notifications/invite.task.ts'
import resetPassword from '#domains/notifications/reset-password.task.ts'
import { mailServer } from '../support/mail-server.ts'
import { receiver } from '../support/receiver.ts'
import { addApp } from '../support/second-factors.ts'
import { world } from '../support/world.ts'

const LINK = (target_id: string) => ({
  target_type: 'collection',
  target_id,
  password: 'trap trap trap',
  expires_at: '2030-06-01T00:00:00Z',
})

/** What someone who signed up with a stranger's address leaves behind for later. */
async function planted(t: TestContext) {
  const server = await mailServer(t)
  const endpoint = await receiver(t)
  const w = await world(t, { smtpUrl: server.url, egressAllow: [endpoint.host] })
  const person = await w.person('stranger@example.com')
  const { id } = await w.ok(person.token, 'organizations.create', { name: 'Trap' })
  const attacker = await w.signIn(person, id)
  const { id: project_id } = await w.ok(attacker.token, 'projects.create', { name: 'Trap' })
  const { id: collection_id } = await w.ok(attacker.token, 'collections.create', { project_id, name: 'Trap' })
  const key = await w.key(attacker.token, ['read', 'write', 'process'])
  const byKey = await w.key(key.key, ['read', 'write'])
  const invitation = (await w.ok(attacker.token, 'organizations.members.invite', { email: 'accomplice@example.com', role: 'admin' }))
    .invitation
  const links: string[] = []
  for (const credential of [attacker.token, key.key])
    links.push((await w.ok(credential, 'share.link.create', LINK(collection_id))).token as string)
  const hooks: string[] = []
  for (const credential of [attacker.token, key.key])
    hooks.push(
      (await w.ok(credential, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url: endpoint.url })).id as string,
    )
  const tokenOf = (subject: string) => {
    const mail = server.mails.findLast(({ to, headers }) => to[0] === person.email && headers.get('subject') === subject)!
    return /#token=([\w-]+)/.exec(mail.text)![1]!
  }
  const isValid = async () => ({
    session: (await w.call(attacker.token, 'projects.list')).status,
    refresh: (await w.post('/auth/refresh', { refresh_token: person.refreshToken })).status,
    key: (await w.call(key.key, 'projects.list')).status,
    byKey: (await w.call(byKey.key, 'projects.list')).status,
    invitation: (await w.accept((await w.person()).token, invitation.url)).status,
    links: await Promise.all(
      links.map(async (token) => (await w.call(null, 'share.link.validate', { token, password: 'trap trap trap' })).status),
    ),
  })
  const NOTHING = { session: 401, refresh: 401, key: 401, byKey: 401, invitation: 404, links: [401, 401] }
  return { w, server, endpoint, person, organizationId: id, project_id, hooks, tokenOf, isValid, NOTHING }
}

// Goal: the first proof that someone reads an address's mail ends everything that was created in its name before, so that whoever
// signed up with a stranger's address keeps no access after the stranger has taken the account over.
test('row 49: first password reset by email', async (t) => {
  const { w, endpoint, person, organizationId, project_id, hooks, tokenOf, isValid, NOTHING } = await planted(t)
  await w.post('/auth/forgot', { email: person.email })
  await w.drain(resetPassword)
  const password = 'the true owner of it'
  assert.equal((await w.post('/auth/reset', { token: tokenOf('Reset your password'), password })).status, 204)
  assert.deepEqual(await isValid(), NOTHING)

  await t.test('planted webhooks send nothing', async () => {
    const owner = await w.signIn({ ...person, password }, organizationId)
    await w.ok(owner.token, 'collections.create', { project_id, name: 'Private plans' })
    await w.deliver()
    assert.deepEqual(endpoint.received, [])
    const listed = await w.ok(owner.token, 'event_subscriptions.list', { active: false })
    assert.deepEqual(listed.event_subscriptions.map(({ id }: { id: string }) => id).toSorted(), hooks.toSorted())
  })

  await t.test('a later reset ends sessions, and keeps the owner’s resources', async () => {
    const owner = await w.signIn({ ...person, password }, organizationId)
    const { key } = await w.key(owner.token)
    const { invitation } = await w.ok(owner.token, 'organizations.members.invite', { email: 'friend@example.com' })
    await w.post('/auth/forgot', { email: person.email })
    await w.drain(resetPassword)
    assert.equal((await w.post('/auth/reset', { token: tokenOf('Reset your password'), password: 'changed once more' })).status, 204)
    assert.equal((await w.call(owner.token, 'projects.list')).status, 401)
    assert.equal((await w.call(key, 'projects.list')).status, 200)
    assert.equal((await w.accept((await w.person()).token, invitation.url)).status, 200)
  })
})

test('row 49: second factors', async (t) => {
  const server = await mailServer(t)
  const w = await world(t, { smtpUrl: server.url })
  const person = await w.person('stranger@example.com')
  await addApp(w, person)
  await w.post('/auth/forgot', { email: person.email })
  await w.drain(resetPassword)
  const token = /#token=([\w-]+)/.exec(server.mails.findLast(({ to }) => to[0] === person.email)!.text)![1]!
  const password = 'the true owner of it'
  assert.equal((await w.post('/auth/reset', { token, password })).status, 204)
  const owner = await w.signIn({ ...person, password })
  assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${owner.token}` } })).body.has_two_factors, false)
})

test('row 49: confirmed address', async (t) => {
  const { w, person, tokenOf, isValid, NOTHING } = await planted(t)
  await w.drain(confirmAddress)
  await w.post('/auth/forgot', { email: person.email })
  await w.drain(resetPassword)
  assert.equal((await w.post('/auth/confirm', { token: tokenOf('Confirm your email address') })).status, 204)
  assert.deepEqual(await isValid(), NOTHING)
})

test('row 49: invitation accepted with its emailed link', async (t) => {
  const { w, server, person, isValid, NOTHING } = await planted(t)
  const org = await w.organization()
  await w.ok(org.owner.token, 'organizations.members.invite', { email: person.email })
  await w.drain(inviteByMail)
  const link = /https?:\S+\/invite\/inv_[\w-]+/.exec(server.mails.findLast(({ to }) => to[0] === person.email)!.text)![0]
  const accepting = await w.signIn(person)
  assert.equal((await w.accept(accepting.token, link)).status, 200)
  assert.equal((await w.call(accepting.token, 'projects.list')).status, 200, 'whoever accepted has both the session and the mail')
  assert.deepEqual(await isValid(), NOTHING)
})
