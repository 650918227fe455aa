import assert from 'node:assert/strict'
import { test } from 'node:test'
import { balance, grant, scenes, square } from '../orders/support.ts'
import { world } from '../support/world.ts'

// Goal: two keys together cannot buy what one key cannot: a signed-in user must request or approve it.
test('row 46: two keys cannot approve each other', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const member = await w.member(org, 'editor')
  const [scene] = await scenes(w)
  const input = { projectId: org.projectId, captures: [{ id: scene!.id, geometry: square(), host: 'sandbox-hr' }] }
  const [requesting, approving] = [await w.key(member.token, ['write']), await w.key(org.owner.token, ['write'])]
  const before = await balance(w, org)
  assert.equal((await w.call(requesting.key, 'orders.archive.place', input)).status, 403, 'a key alone cannot buy it')

  const request = (token: string) =>
    w.call(token, 'billing.approvals.request', { operation: 'orders.archive.place', input, credits: 100_000 })
  const approve = (token: string, id: string) => w.call(token, 'billing.approvals.approve', { approval_id: id })
  const asked = await request(requesting.key)
  await t.test('both by key: 403, and nothing is bought', async () => {
    const { status, body } = await approve(approving.key, asked.body.id)
    assert.deepEqual([status, body.code], [403, 'user-authorization-required'])
    const sum = await w.ok(requesting.key, 'billing.approvals.request', { credits: 100_000 })
    assert.equal((await approve(approving.key, sum.id)).status, 403, 'an approval without a described call too')
    assert.deepEqual(await balance(w, org), before)
    assert.equal((await w.ok(org.owner.token, 'orders.list')).totalElements, 0)
  })
  await t.test('requested by key, approved by a user: placed', async () => {
    assert.equal((await approve(org.owner.token, asked.body.id)).status, 200)
    assert.equal((await w.ok(org.owner.token, 'orders.list')).totalElements, 1)
  })
})
