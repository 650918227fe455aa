import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: owners and admins keep the organization's details right; what is wrong changes nothing, and a project that ends is suggested
// no longer.
test('organizations.update', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const update = (token: string, input: object) => w.call(token, 'organizations.update', input)

  await t.test('only the given fields change, and null clears one', async () => {
    const input = { name: ' Reef Watch ', abn: '51 824 753 556', billing_email: 'a@reef.example', default_project_id: org.projectId }
    const { body } = await update(org.owner.token, input)
    assert.deepEqual(
      [body.name, body.abn, body.billing_email, body.default_project_id],
      ['Reef Watch', '51824753556', 'a@reef.example', org.projectId],
    )
    assert.equal((await update(org.owner.token, { abn: null })).body.abn, null)
    const now = await w.ok(org.owner.token, 'organizations.get')
    assert.deepEqual([now.name, now.abn, now.billing_email], ['Reef Watch', null, 'a@reef.example'])
  })

  await t.test('a wrong number, address or project is refused', async () => {
    const stranger = await w.organization()
    for (const input of [{ abn: '51 824 753 557' }, { billing_email: 'nobody' }, { name: '  ' }, { plan: 'pro' }])
      assert.equal((await update(org.owner.token, input)).status, 422, JSON.stringify(input))
    assert.equal((await update(org.owner.token, { default_project_id: stranger.projectId })).status, 404)
    assert.equal((await w.ok(org.owner.token, 'organizations.get')).default_project_id, org.projectId)
  })

  await t.test('members and keys cannot', async () => {
    const member = await w.member(org, 'admin')
    assert.equal((await update(member.token, { name: 'Mine' })).status, 403)
    const { key } = await w.key(org.owner.token, ['read', 'write'])
    assert.equal((await update(key, { name: 'Mine' })).status, 403)
  })

  await t.test('a deleted project is no longer the default', async () => {
    const { id } = await w.ok(org.owner.token, 'projects.create', { name: 'Short' })
    await update(org.owner.token, { default_project_id: id })
    await w.ok(org.owner.token, 'projects.delete', { project_id: id })
    assert.equal((await w.ok(org.owner.token, 'organizations.get')).default_project_id, null)
  })
})
