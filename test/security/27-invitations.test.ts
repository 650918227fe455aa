import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../support/world.ts'

// Goal: an address is no proof of anything. Whoever signs up as somebody who is invited, or was there before the invitation,
// joins nothing; a stranger's invitation never makes anybody act for them; and no id can be turned into a name and an address.
test('row 27: membership by a token alone', async (t) => {
  const w = await world(t)
  const org = await w.organization('Victim')
  const me = async (token: string) => (await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })).body
  const invite = async (email: string) =>
    (await w.ok(org.owner.token, 'projects.add_member', { project_id: org.projectId, email, role: 'admin' })).invitation

  await t.test('invited first, then someone signs up with the address', async () => {
    const { url } = await invite('ceo@victim.example')
    const impostor = await w.person('ceo@victim.example')
    const again = await w.signIn(impostor)
    for (const token of [impostor.token, again.token]) {
      assert.deepEqual((await me(token)).organizations, [])
      assert.equal((await w.call(token, 'projects.get', { project_id: org.projectId })).status, 404)
    }
    assert.equal((await w.accept(again.token, 'inv_guessed')).status, 404)
    const real = await w.person('real-ceo@victim.example')
    assert.equal((await w.accept(real.token, url)).status, 200, 'the link is what counts')
  })

  await t.test('signed up first, then invited', async () => {
    const squatter = await w.person('cfo@victim.example')
    await invite('cfo@victim.example')
    const refreshed = (await w.post('/auth/refresh', { refresh_token: squatter.refreshToken })).body
    for (const token of [squatter.token, refreshed.access_token, (await w.signIn(squatter)).token])
      assert.deepEqual((await me(token)).organizations, [])
  })

  await t.test("a stranger's invitation changes nothing for whom it names, until they accept, and then only when they say so", async () => {
    const stranger = await w.organization('Stranger')
    const { invitation } = await w.ok(stranger.owner.token, 'organizations.members.invite', { email: org.owner.email, role: 'admin' })
    const owner = await w.signIn(org.owner)
    assert.equal((await w.ok(owner.token, 'organizations.get')).id, org.id)
    assert.equal((await me(owner.token)).organizations.length, 1)
    assert.equal((await w.accept(owner.token, invitation.url)).status, 200)
    assert.equal((await w.ok(owner.token, 'organizations.get')).id, org.id, 'a session acts for whom it acted')
    assert.equal((await w.ok((await w.signIn(org.owner)).token, 'organizations.get')).id, org.id, 'and so does the next one')
    assert.equal((await w.call(stranger.owner.token, 'projects.get', { project_id: org.projectId })).status, 404)
  })

  await t.test('a user ID reveals nothing and gives no membership without consent', async () => {
    const outsider = await w.person('private-person@example.com')
    const answer = await w.call(org.owner.token, 'projects.add_member', { project_id: org.projectId, user_id: outsider.id })
    assert.equal(answer.status, 404)
    assert.ok(!answer.bytes.toString().includes('private-person'))
    const { members } = await w.ok(org.owner.token, 'projects.get', { project_id: org.projectId })
    assert.ok(!JSON.stringify(members).includes(outsider.id))
    assert.equal((await w.call(outsider.token, 'projects.get', { project_id: org.projectId })).status, 404)
  })

  await t.test('removed members lose access at once', async () => {
    const member = await w.member(org)
    assert.equal((await w.call(member.token, 'projects.list')).status, 200)
    await w.ok(org.owner.token, 'organizations.members.remove', { user_id: member.id })
    assert.equal((await w.call(member.token, 'projects.list')).status, 401)
  })
})
