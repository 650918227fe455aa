import assert from 'node:assert/strict'
import { test } from 'node:test'
import { features, grant, square, step, until, work } from '../orders/support.ts'
import { orderViolations } from '../orders/invariants.ts'
import { world, type Person } from '../support/world.ts'

const PARAMS = { acquisitionStart: '2030-01-02T00:00:00Z', acquisitionEnd: '2030-01-20T00:00:00Z' }
const group = (dataProduct: string, west = 2.3, degrees = 0.005) => ({
  dataProduct,
  featureCollection: features(square(west, 48.2, degrees)),
  params: PARAMS,
})

// Goal: whoever accepts a price has it in their own 30-day total and under their own limits, whoever placed the order.
test('row 47: each acceptance counts towards the member who accepts', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  await grant(w, org, 1_000_000)
  const [first, second] = [await w.member(org, 'editor'), await w.member(org, 'editor')]
  const spent = async ({ token }: Person) => {
    const { body } = await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })
    return body.organizations.find(({ id }: { id: string }) => id === org.id).spent_30d_credits as number
  }
  const cap = (who: Person, perOrderLimitCredits: number | null, spendLimitCredits: number | null) =>
    w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
      organizationId: org.id,
      userId: who.id,
      perOrderLimitCredits,
      spendLimitCredits,
    })
  const place = async (groups: object[], who = first) => await w.ok(who.token, 'orders.tasking.place', { projectId: org.projectId, groups })
  const quotations = async (orderId: string) =>
    (await w.ok(org.owner.token, 'orders.tasking.quotations.list', { orderId })).content as { id: string; creditsPrice: number }[]
  const accept = (who: { token: string }, quotation: { id: string }) =>
    w.call(who.token, 'orders.tasking.quotation_decide', { quotation_id: quotation.id, decision: 'ACCEPTED' })
  const ready = async (groups: object[]) => {
    const { id } = await place(groups)
    for (let round = 0; round < 5; round++) await step(w, [id])
    const [cheap, dear] = (await quotations(id)).toSorted((a, b) => a.creditsPrice - b.creditsPrice)
    return { id: id as string, cheap: cheap!, dear: dear! }
  }
  const TWO = [group('sandbox-vhr-quoted'), group('sandbox-vhr-quoted', 2.32, 0.01)]

  await t.test('the expensive part of another member’s order is in the accepting member’s total', async () => {
    const { id, cheap, dear } = await ready(TWO)
    assert.ok(dear.creditsPrice > cheap.creditsPrice)
    assert.equal((await accept(first, cheap)).status, 200)
    assert.deepEqual([await spent(first), await spent(second)], [cheap.creditsPrice, 0])
    assert.equal((await accept(second, dear)).status, 200)
    assert.deepEqual([await spent(first), await spent(second)], [cheap.creditsPrice, dear.creditsPrice])
    await w.ok(org.owner.token, 'orders.cancel', { id })
    assert.deepEqual([await spent(first), await spent(second)], [0, 0], 'a cancelled order counts for nobody')
  })

  await t.test('both limits are those of the member who accepts, for what that member accepted', async () => {
    const { id, cheap, dear } = await ready(TWO)
    await cap(second, null, dear.creditsPrice - 1)
    assert.equal((await accept(second, dear)).status, 403)
    await cap(second, dear.creditsPrice - 1, null)
    assert.equal((await accept(second, dear)).status, 403)
    await cap(second, dear.creditsPrice, dear.creditsPrice)
    assert.equal((await accept(first, cheap)).status, 200)
    assert.equal((await accept(second, dear)).status, 200, 'the part of another member does not use up the limit')
    await w.ok(org.owner.token, 'orders.cancel', { id })
    const again = await ready(TWO)
    await cap(second, dear.creditsPrice, null)
    assert.equal((await accept(second, again.dear)).status, 200)
    assert.equal((await accept(second, again.cheap)).status, 403, 'the limit per order holds for all parts that one member accepts')
    await w.ok(org.owner.token, 'orders.cancel', { id: again.id })
    await cap(second, null, null)
  })

  await t.test('an accepted option and the quotation that follows it count once, for the member who accepted last', async () => {
    const { id } = await place([group('sandbox-vhr-tasking')])
    await work(w, [id], until('feasibility_ready'))
    const [study] = (await w.ok(first.token, 'orders.tasking.feasibility_studies.list', { orderId: id })).content
    const [option] = study.options
    await w.ok(second.token, 'orders.tasking.feasibility_decide', { study_id: study.id, acceptedOptionId: option.id })
    assert.deepEqual([await spent(first), await spent(second)], [0, option.credits])
    await work(w, [id])
    const done = await w.ok(first.token, 'orders.get', { id })
    assert.deepEqual([done.status, done.capturedCredits], ['fulfilled', option.credits])
    assert.deepEqual([await spent(first), await spent(second)], [0, option.credits], 'also when it was delivered')
  })

  await t.test('through a key, the acceptance is the key owner’s', async () => {
    const before = await spent(second)
    const { id, cheap } = await ready(TWO)
    assert.equal((await accept({ token: (await w.key(second.token, ['write'])).key }, cheap)).status, 200)
    assert.equal(await spent(second), before + cheap.creditsPrice)
    await w.ok(org.owner.token, 'orders.cancel', { id })
  })
  assert.deepEqual(await orderViolations(w.db), [])
})
