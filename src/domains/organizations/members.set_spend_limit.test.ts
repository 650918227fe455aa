import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'

// Goal: each call sets both limits: a number sets, null and omission clear.
test('organizations.members.set_spend_limit', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org)
  const set = (limits: object, userId = member.id, token = org.owner.token) =>
    w.call(token, 'organizations.members.set_spend_limit', { organizationId: org.id, userId, ...limits })
  const stored = async () => {
    const row = await w.db
      .selectFrom('organization_member')
      .select(['per_order_limit_credits', 'spend_limit_credits'])
      .where('user_id', '=', member.id)
      .executeTakeFirstOrThrow()
    return [row.per_order_limit_credits, row.spend_limit_credits]
  }

  const { body } = await set({ perOrderLimitCredits: 100, spendLimitCredits: 1_000 })
  assert.deepEqual(body, {
    user_id: member.id,
    email: member.email,
    name: member.email.split('@')[0],
    role: 'member',
    per_order_limit_credits: 100,
    spend_limit_credits: 1_000,
    has_two_factors: false,
  })
  assert.deepEqual(await stored(), [100, 1_000])
  for (const [limits, expected] of [
    [{ spendLimitCredits: 5 }, [null, 5]],
    [{ perOrderLimitCredits: 0, spendLimitCredits: null }, [0, null]],
    [{}, [null, null]],
    [{ perOrderLimitCredits: Number.MAX_SAFE_INTEGER }, [Number.MAX_SAFE_INTEGER, null]],
    [{ perOrderLimitCredits: null, spendLimitCredits: null }, [null, null]],
  ] as const) {
    assert.equal((await set(limits)).status, 200)
    assert.deepEqual(await stored(), expected)
  }

  await t.test('refusals change nothing', async () => {
    await set({ perOrderLimitCredits: 7, spendLimitCredits: 8 })
    for (const bad of [-1, 1.5, '5', 2 ** 53, true])
      for (const field of ['perOrderLimitCredits', 'spendLimitCredits'])
        assert.equal((await set({ [field]: bad })).status, 422, `${field} ${bad}`)
    assert.equal((await set({}, newId())).status, 404)
    assert.equal((await set({}, 'nobody')).status, 404)
    assert.equal((await set({}, member.id, member.token)).status, 403)
    assert.deepEqual(await stored(), [7, 8])
  })
})
