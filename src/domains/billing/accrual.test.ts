import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { buy, end } from '../../../test/money/shop.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const place = async (w: World, org: Org, credits: number) =>
  (await w.ok(org.owner.token, 'orders.test_buy', { credits }, { 'idempotency-key': newId() })).id as string
const finish = async (w: World, org: Org, id: string, how: string, credits?: number) =>
  (await w.ok(org.owner.token, 'orders.test_end', { id, how, ...(credits === undefined ? {} : { credits }) })).done as boolean
const report = async (w: World, org: Org, period?: string) =>
  await w.ok(await w.serviceToken(), 'billing.enterprise.accrual', { organization_id: org.id, ...(period ? { period } : {}) })
const close = async (w: World, org: Org, period: string) =>
  await w.ok(await w.serviceToken(), 'billing.run_monthly_for_org', { organization_id: org.id, period })
const entriesOf = async (w: World, id: string) => {
  const { rows } = await sql<{ kind: string; credits: number }>`
    select e.kind, e.credits from accrual_entry e join reservation r on r.id = e.reservation_id
    where r.reference_id = ${id} order by e.seq`.execute(w.db)
  return rows.map(({ kind, credits }) => [kind, credits])
}
const onAccount = async (w: World): Promise<Org> => {
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
  return org
}
const pass = async (w: World, org: Org, days: number) => {
  w.clock.advance({ days })
  Object.assign(org.owner, await w.signIn(org.owner, org.id)) // Sessions do not last so long.
}
const amounts = ({ lines }: { lines: { reference_id: string; amount_aud: number }[] }) =>
  lines.map(({ reference_id, amount_aud }) => [reference_id, amount_aud])

// Goal: a purchase on account accrues when it is placed, is provisional until it ends, and is then on exactly one invoice, for
// what was delivered.
test('accruals', async (t) => {
  const w = await world(t, { operations: [buy, end], startAt: '2030-01-15T00:00:00.000Z' })

  await t.test('provisional when placed, adjusted when repriced, corrected after a partial delivery', async () => {
    const org = await onAccount(w)
    const id = await place(w, org, 10_000)
    const open = await report(w, org)
    assert.deepEqual([open.accrued_aud, open.provisional_aud, open.uninvoiced_aud], [0, 100, 0])
    const [entry] = open.entries
    assert.deepEqual(
      [entry.reference_id, entry.provisional, entry.provisional_credits, entry.credits, entry.accrued_at, entry.settled_at],
      [id, true, 10_000, 10_000, w.clock.now().toISOString(), null],
    )
    await finish(w, org, id, 'reprice', 12_000)
    const status = () => w.ok(org.owner.token, 'billing.status.get', { organization_id: org.id })
    const before = await status()
    assert.deepEqual([before.uninvoiced_aud, before.provisional_aud], [0, 120])
    w.clock.advance({ minutes: 5 })
    assert.equal(await finish(w, org, id, 'capture', 9_000), true)
    const ended = await report(w, org)
    assert.deepEqual([ended.accrued_aud, ended.provisional_aud, ended.uninvoiced_aud], [90, 0, 90])
    assert.deepEqual(
      [ended.entries[0].provisional, ended.entries[0].provisional_credits, ended.entries[0].credits, ended.entries[0].settled_at],
      [false, 12_000, 9_000, w.clock.now().toISOString()],
    )
    const after = await status()
    assert.deepEqual([after.uninvoiced_aud, after.provisional_aud], [90, 0])
    assert.deepEqual(await entriesOf(w, id), [
      ['provisional', 10_000],
      ['provisional', 2_000],
      ['final', -3_000],
    ])
  })

  await t.test('a cancelled order is reversed, and concurrent endings count once', async () => {
    const org = await onAccount(w)
    const [cancelled, raced] = [await place(w, org, 4_000), await place(w, org, 5_000)]
    assert.equal(await finish(w, org, cancelled, 'release'), true)
    const ends = await Promise.all(Array.from({ length: 12 }, (_, nth) => finish(w, org, raced, nth % 2 ? 'capture' : 'release')))
    assert.equal(ends.filter(Boolean).length, 1)
    assert.deepEqual(await entriesOf(w, cancelled), [
      ['provisional', 4_000],
      ['final', -4_000],
    ])
    assert.equal((await entriesOf(w, raced)).length, 2)
    assert.equal((await report(w, org)).provisional_aud, 0)
  })

  await t.test('spend limits include provisional amounts', async () => {
    const org = await onAccount(w)
    const member = await w.member(org, 'editor')
    await w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
      organizationId: org.id,
      userId: member.id,
      perOrderLimitCredits: null,
      spendLimitCredits: 10_000,
    })
    const order = (credits: number) => w.call(member.token, 'orders.test_buy', { credits }, { 'idempotency-key': newId() })
    const first = await order(8_000)
    assert.equal(first.status, 200)
    assert.equal((await order(3_000)).status, 403)
    await finish(w, org, first.body.id, 'capture', 6_000)
    assert.equal((await order(3_000)).status, 200, 'the correction frees some of the limit')
    assert.equal((await report(w, org)).provisional_aud, 30)
  })

  await t.test('an organization with uninvoiced accruals cannot be deleted', async () => {
    const org = await onAccount(w)
    await finish(w, org, await place(w, org, 700), 'capture')
    await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'standard' })
    const { password, token } = org.owner
    const { status, body } = await w.post(
      '/auth/delete-organization',
      { password, organization_id: org.id, forfeit_credits: true },
      { authorization: `Bearer ${token}` },
    )
    assert.deepEqual([status, body.title], [400, 'Bad Request'], JSON.stringify(body))
    assert.match(body.detail, /A\$7 .*not invoiced yet/)
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})

// Goal: whether a month ends or a commit is late between order and delivery, each delivery is invoiced once and in full.
test('invoices of accruals', async (t) => {
  const w = await world(t, { operations: [buy, end], startAt: '2030-01-15T00:00:00.000Z' })
  const org = await onAccount(w)

  await t.test('an order that spans two months is on the invoice of the month in which it ends', async () => {
    const id = await place(w, org, 10_000)
    await pass(w, org, 20)
    assert.deepEqual(amounts(await close(w, org, '2030-01')), [], 'January has only provisional amounts')
    await finish(w, org, id, 'capture', 7_500)
    const january = await report(w, org, '2030-01')
    assert.deepEqual([january.accrued_aud, january.provisional_aud, january.entries[0].provisional], [0, 100, true], 'as January ended')
    await pass(w, org, 30)
    assert.deepEqual(amounts(await close(w, org, '2030-02')), [[id, 75]])
    assert.deepEqual([(await report(w, org, '2030-02')).accrued_aud, (await report(w, org)).entries.length], [75, 0])
    assert.equal((await w.ok(org.owner.token, 'billing.status.get', { organization_id: org.id })).uninvoiced_aud, 0)
  })

  await t.test('what is settled while its month is closed is on the next invoice', async () => {
    const id = await place(w, org, 2_000)
    const at = w.clock.now()
    await pass(w, org, 30)
    assert.deepEqual(amounts(await close(w, org, '2030-03')), [])
    await pass(w, org, (at.getTime() - w.clock.now().getTime()) / 86_400_000)
    await finish(w, org, id, 'capture')
    await pass(w, org, 60)
    assert.deepEqual(amounts(await close(w, org, '2030-04')), [[id, 20]])
  })

  await t.test('two months closed concurrently invoice nothing twice', async () => {
    const id = await place(w, org, 3_000)
    await finish(w, org, id, 'capture')
    await pass(w, org, 70)
    const closed = await Promise.all([close(w, org, '2030-05'), close(w, org, '2030-06')])
    assert.deepEqual(closed.flatMap(amounts), [[id, 30]])
  })

  await t.test('a refund after the invoice is on the next one, up to its total', async () => {
    const [id, next] = [await place(w, org, 5_000), await place(w, org, 1_000)]
    await finish(w, org, id, 'capture')
    await pass(w, org, 31)
    assert.deepEqual(amounts(await close(w, org, '2030-07')), [[id, 50]])
    assert.equal(await finish(w, org, id, 'refund', 4_000), true)
    await pass(w, org, 31)
    assert.deepEqual(amounts(await close(w, org, '2030-08')), [], 'an invoice is never negative')
    await finish(w, org, next, 'capture')
    await finish(w, org, await place(w, org, 3_500), 'capture')
    await pass(w, org, 31)
    const { invoice, lines } = await close(w, org, '2030-09')
    assert.deepEqual([invoice.subtotal_aud, lines.length], [5, 3])
    assert.match(lines.find(({ amount_aud }: { amount_aud: number }) => amount_aud < 0).description, /^Refund for order /)
  })

  await t.test('the database rejects changed, removed and missing entries, and invoices of provisional amounts', async () => {
    const id = await place(w, org, 900)
    const refused = (statement: string, reason: RegExp) => assert.rejects(sql.raw(statement).execute(w.db), reason)
    await refused('update accrual_entry set credits = credits + 1', /append-only/)
    await refused('delete from accrual_entry', /append-only/)
    await refused(
      `update accrual_entry set invoice_id = (select id from invoice limit 1)
      where reservation_id = (select id from reservation where reference_id = '${id}')`,
      /is provisional/,
    )
    await refused(
      `update reservation set state = 'captured', captured_credits = credits, settled_at = now() where reference_id = '${id}'`,
      /do not add up/,
    )
    await refused(
      `insert into accrual_entry (org_id, reservation_id, kind, credits, invocation_id, created_at)
      select org_id, id, 'provisional', 5, invocation_id, now() from reservation where reference_id = '${id}'`,
      /do not add up/,
    )
    assert.deepEqual(await entriesOf(w, id), [['provisional', 900]])
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})
