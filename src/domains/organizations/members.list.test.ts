import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: owners and admins see members with roles and spend limits, in order of joining; project guests are not members.
test('organizations.members.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  w.clock.advance({ seconds: 1 })
  const admin = await w.member(org)
  await w.db.updateTable('organization_member').set({ role: 'admin' }).where('user_id', '=', admin.id).execute()
  w.clock.advance({ seconds: 1 })
  const member = await w.member(org)
  const guest = await w.guest(org.projectId)
  await w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
    organizationId: org.id,
    userId: member.id,
    perOrderLimitCredits: 10,
    spendLimitCredits: 20,
  })

  for (const who of [org.owner, admin]) {
    const { members, count } = await w.ok(who.token, 'organizations.members.list', { organizationId: org.id })
    assert.deepEqual(
      members.map(({ user_id, role, per_order_limit_credits, spend_limit_credits }: Record<string, unknown>) => [
        user_id,
        role,
        per_order_limit_credits,
        spend_limit_credits,
      ]),
      [
        [org.owner.id, 'owner', null, null],
        [admin.id, 'admin', null, null],
        [member.id, 'member', 10, 20],
      ],
    )
    assert.equal(count, 3)
  }
  await t.test('the organization ID is case-insensitive', async () =>
    assert.equal((await w.call(org.owner.token, 'organizations.members.list', { organizationId: org.id.toUpperCase() })).status, 200),
  )
  await t.test('members, strangers and other IDs get the same response', async () => {
    for (const [who, organizationId] of [
      [member, org.id],
      [guest, org.id],
      [org.owner, newId()],
      [org.owner, 'x'],
      [org.owner, ''],
    ] as const)
      assert.equal((await w.call(who.token, 'organizations.members.list', { organizationId })).status, 403)
    assert.equal((await w.call(org.owner.token, 'organizations.members.list', {})).status, 422)
  })
})
