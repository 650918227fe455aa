import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { periodBefore } from '#core/period.ts'
import { up } from '#db/migrations/0027_accruals.ts'
import { campaign, testSeed } from '../support/campaign.ts'
import { seeded, type Random } from '../support/random.ts'
import { world, type Org, type World } from '../support/world.ts'
import { moneyViolations } from './invariants.ts'
import { buy, end } from './shop.ts'

const SEQUENCES = campaign({ short: 3, long: 40, ci: 12 })
const STEPS = 60
const MAX_CREDITS = 50_000

interface Purchase {
  id: string
  isJob: boolean
  price: number
  hasEnded: boolean
  /** What was delivered, without what was given back. */
  owed: number
}

/** An organization on account and a plain model of what it bought. */
interface Account {
  w: World
  org: Org
  random: Random
  purchases: Purchase[]
}

const open = ({ purchases }: Account) => purchases.filter(({ hasEnded }) => !hasEnded)

async function place({ w, org, random, purchases }: Account): Promise<void> {
  const [isJob, price] = [random.next() < 0.3, random.integer(0, MAX_CREDITS)]
  const { id } = await w.ok(org.owner.token, 'orders.test_buy', { credits: price, isJob }, { 'idempotency-key': newId() })
  purchases.push({ id, isJob, price, hasEnded: false, owed: 0 })
}

const finish = async ({ w, org }: Account, { id, isJob }: Purchase, how: string, credits?: number): Promise<boolean> =>
  (await w.ok(org.owner.token, 'orders.test_end', { id, isJob, how, ...(credits === undefined ? {} : { credits }) })).done

async function reprice(account: Account): Promise<void> {
  const orders = open(account).filter(({ isJob }) => !isJob)
  if (orders.length === 0) return
  const order = account.random.pick(orders)
  order.price = account.random.integer(0, MAX_CREDITS)
  await finish(account, order, 'reprice', order.price)
}

async function deliver(account: Account): Promise<void> {
  const { random } = account
  if (open(account).length === 0) return
  const purchase = random.pick(open(account))
  const owed = random.pick([purchase.price, 0, random.integer(0, purchase.price)])
  assert.equal(await finish(account, purchase, 'capture', owed), true)
  Object.assign(purchase, { hasEnded: true, owed })
}

/** Delivered and cancelled in the same moment: one of the two is what happened. */
async function race(account: Account): Promise<void> {
  if (open(account).length === 0) return
  const purchase = account.random.pick(open(account))
  const ends = await Promise.all(['capture', 'release', 'capture'].map((how) => finish(account, purchase, how)))
  assert.equal(ends.filter(Boolean).length, 1)
  Object.assign(purchase, { hasEnded: true, owed: ends[1] ? 0 : purchase.price })
}

async function refund(account: Account): Promise<void> {
  const kept = account.purchases.filter(({ owed }) => owed > 0)
  if (kept.length === 0) return
  const purchase = account.random.pick(kept)
  const credits = account.random.integer(1, purchase.owed)
  assert.equal(await finish(account, purchase, 'refund', credits), true)
  purchase.owed -= credits
}

/** The month ends; it is closed by several at once, or forgotten. */
async function endMonth({ w, org, random }: Account): Promise<void> {
  w.clock.advance({ days: 31 })
  Object.assign(org.owner, await w.signIn(org.owner, org.id))
  if (random.next() < 0.2) return
  const staff = await w.serviceToken()
  const { name } = periodBefore(w.clock.now())
  const closing = () => w.ok(staff, 'billing.run_monthly_for_org', { organization_id: org.id, period: name })
  await Promise.all(Array.from({ length: random.integer(1, 3) }, closing))
}

/** What the books say must be what the model says, purchase by purchase, and no invoice has anything twice or too early. */
async function compare({ w, org, purchases }: Account): Promise<{ invoiced: number; owed: number }> {
  const { rows } = await sql<{ id: string; credits: number; billed: number; waiting: string[] }>`
    select r.reference_id as id, sum(e.credits)::bigint as credits,
      coalesce(sum(e.credits) filter (where e.invoice_id is not null), 0)::bigint as billed,
      coalesce(array_agg(e.kind) filter (where e.invoice_id is null), '{}') as waiting
    from accrual_entry e join reservation r on r.id = e.reservation_id where e.org_id = ${org.id} group by r.reference_id`.execute(w.db)
  const books = new Map(rows.map((row) => [row.id, row]))
  for (const { id, price, hasEnded, owed } of purchases) {
    assert.equal(books.get(id)!.credits, hasEnded ? owed : price)
    if (!hasEnded) assert.equal(books.get(id)!.billed, 0, 'what is provisional is on no invoice')
  }
  const invoices = await w.db.selectFrom('invoice').select(['lines', 'subtotal_cents as cents']).where('org_id', '=', org.id).execute()
  const lines = new Map<string, number>()
  for (const { reference_id, amount_aud } of invoices.flatMap(({ lines: list }) => list))
    lines.set(reference_id!, (lines.get(reference_id!) ?? 0) + Math.round(amount_aud * 100))
  for (const { id, billed } of books.values()) assert.equal(lines.get(id) ?? 0, billed)
  return {
    invoiced: invoices.reduce((sum, { cents }) => sum + cents, 0),
    owed: purchases.filter(({ hasEnded }) => hasEnded).reduce((sum, purchase) => sum + purchase.owed, 0),
  }
}

// Goal: whatever is placed, repriced, delivered, cancelled, refunded and closed, in whatever order, accruals of what has ended are
// what was delivered, invoices come to the same sum, and nothing is billed twice.
test('accruals agree with a plain model of them', async (t) => {
  const seed = testSeed
  t.diagnostic(`TEST_SEED=${seed}`)
  const w = await world(t, { operations: [buy, end], startAt: '2030-01-15T00:00:00.000Z' })
  for (let nth = 0; nth < SEQUENCES; nth++) {
    const org = await w.organization()
    await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
    const account: Account = { w, org, random: seeded(seed + nth), purchases: [] }
    const { random } = account
    for (let step = 0; step < STEPS; step++) {
      await random.pick([place, place, place, reprice, deliver, deliver, race, refund, endMonth])(account)
      if (step % 10 === 0) await compare(account)
    }
    while (open(account).length > 0) await deliver(account)
    account.purchases.push(await bigDelivery(account)) // Every refund that waits has room beside it.
    await endMonth({ ...account, random: { ...random, next: () => 1 } })
    const { invoiced, owed } = await compare(account)
    assert.equal(invoiced, owed)
  }
  assert.deepEqual(await moneyViolations(w.db), [])
})

async function bigDelivery(account: Account): Promise<Purchase> {
  const credits = STEPS * MAX_CREDITS
  const { id } = await account.w.ok(account.org.owner.token, 'orders.test_buy', { credits }, { 'idempotency-key': newId() })
  const purchase = { id, isJob: false, price: credits, hasEnded: true, owed: credits }
  await finish(account, purchase, 'capture')
  return purchase
}

// Goal: an installation that accrued at the end of orders goes on as if it had always accrued at their beginning.
test('the migration writes the entries of what was bought before', async (t) => {
  const w = await world(t, { operations: [buy, end], startAt: '2030-03-05T00:00:00.000Z' })
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
  await sql`
    drop table accrual_entry;
    drop trigger reservation_accrued on reservation;
    drop function guard_accrual_entry;
    drop function require_accrued;
    drop index reservation_on_account;`.execute(w.db)
  const billed = await reservation(w, org, { credits: 5_000, captured: 4_000, settled: '2030-02-10' })
  const missed = await reservation(w, org, { credits: 3_000, captured: 3_000, settled: '2030-02-11' })
  const ended = await reservation(w, org, { credits: 2_000, captured: 2_000, settled: '2030-03-02' })
  const marked = await reservation(w, org, { credits: 900, captured: 900, settled: '2029-12-02', invoicedElsewhere: true })
  const released = await reservation(w, org, { credits: 1_000, captured: 0, settled: '2030-03-02' })
  const live = await reservation(w, org, { credits: 7_000, captured: 0, settled: null })
  await reservation(w, org, { credits: 8_000, captured: 8_000, settled: '2030-03-02', mode: 'credit' })
  await insertInvoice(w, org, billed)
  await up(w.db as never)
  const { rows } = await sql<{ id: string; kind: string; credits: number; billed: boolean }>`
    select r.reference_id as id, e.kind, e.credits, e.invoice_id is not null as billed
    from accrual_entry e join reservation r on r.id = e.reservation_id order by r.created_at, r.id, e.seq`.execute(w.db)
  const entriesOf = (id: string) => rows.filter((row) => row.id === id).map(({ kind, credits, billed: on }) => [kind, credits, on])
  assert.deepEqual([billed, missed, ended, released, live].map(entriesOf), [
    [
      ['provisional', 5_000, true],
      ['final', -1_000, true],
    ],
    [
      ['provisional', 3_000, false],
      ['final', 0, false],
    ],
    [
      ['provisional', 2_000, false],
      ['final', 0, false],
    ],
    [
      ['provisional', 1_000, false],
      ['final', -1_000, false],
    ],
    [['provisional', 7_000, false]],
  ])
  assert.equal(rows.length, 11)

  await w.ok(org.owner.token, 'orders.test_end', { id: live, how: 'capture', credits: 6_000 })
  w.clock.advance({ days: 30 })
  const closed = await w.ok(await w.serviceToken(), 'billing.run_monthly_for_org', { organization_id: org.id, period: '2030-03' })
  const lines = closed.lines.map((line: { reference_id: string; amount_aud: number }) => [line.reference_id, line.amount_aud])
  assert.deepEqual(
    new Map(lines),
    new Map([
      [missed, 30],
      [ended, 20],
      [live, 60],
    ]),
    'what an invoice has, or was invoiced elsewhere, is not billed again',
  )
  assert.ok(!lines.some(([id]: [string]) => id === marked))
})

interface OldReservation {
  credits: number
  captured: number
  settled: string | null
  mode?: 'enterprise' | 'credit'
  invoicedElsewhere?: boolean
}

async function reservation(w: World, org: Org, given: OldReservation): Promise<string> {
  const { credits, captured, settled, mode = 'enterprise', invoicedElsewhere = false } = given
  const referenceId = newId()
  const settledAt = settled === null ? null : new Date(`${settled}T12:00:00Z`)
  await w.db
    .insertInto('reservation')
    .values({
      id: newId(),
      org_id: org.id,
      user_id: org.owner.id,
      api_key_id: null,
      mode,
      reference_type: 'order',
      reference_id: referenceId,
      credits,
      captured_credits: captured,
      state: settledAt === null ? 'live' : captured > 0 ? 'captured' : 'released',
      counts_for_caps: false,
      lines: '[]',
      failure: null,
      deadline_at: null,
      approval_id: null,
      invocation_id: newId(),
      invoiced_reference: invoicedElsewhere ? 'INV-1' : null,
      invoiced_at: invoicedElsewhere ? settledAt : null,
      created_at: new Date('2029-12-01T00:00:00Z'),
      settled_at: settledAt,
    })
    .execute()
  return referenceId
}

async function insertInvoice(w: World, org: Org, referenceId: string): Promise<void> {
  const line = { kind: 'order', description: 'Order', reference_id: referenceId, quantity: 1, amount_aud: 40 }
  await w.db
    .insertInto('invoice')
    .values({
      id: newId(),
      org_id: org.id,
      number: 'GT-TEST',
      period: '2030-02',
      status: 'open',
      lines: JSON.stringify([line]),
      commitments: '[]',
      subtotal_cents: 4_000,
      gst_cents: 0,
      total_cents: 4_000,
      due_cents: 4_000,
      customer: JSON.stringify({ name: 'Test organization' }),
      processor_invoice_id: null,
      failure: null,
      reference: null,
      note: null,
      issued_at: new Date('2030-03-01T00:10:00Z'),
      due_at: new Date('2030-03-31T00:10:00Z'),
      paid_at: null,
    })
    .execute()
}
