/** What must hold of money after whatever happened. Each query returns what breaks its rule. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

const RULES: Record<string, string> = {
  'a wallet holds what its transfers say, and nothing negative': `
    select w.org_id::text as what from wallet w
    left join (select org_id,
        sum(case when target = 'available' then credits when source = 'available' then -credits else 0 end) as available,
        sum(case when target = 'reserved' then credits when source = 'reserved' then -credits else 0 end) as reserved
      from ledger_transfer group by org_id) t using (org_id)
    where w.available <> coalesce(t.available, 0) or w.reserved <> coalesce(t.reserved, 0) or w.available < 0 or w.reserved < 0`,
  'what is reserved is the sum of live reservations': `
    select w.org_id::text as what from wallet w left join (select org_id, sum(credits) as live from reservation
      where mode = 'credit' and state = 'live' group by org_id) r using (org_id)
    where w.reserved <> coalesce(r.live, 0)`,
  'a credit reservation is live, captured or released, as its transfers say': `
    select r.id::text as what from reservation r
    left join (select reservation_id,
        coalesce(sum(credits) filter (where type = 'reservation'), 0) as taken,
        coalesce(sum(credits) filter (where type = 'capture'), 0) as captured,
        coalesce(sum(credits) filter (where type = 'release'), 0) as released,
        coalesce(sum(credits) filter (where type = 'refund'), 0) as refunded
      from ledger_transfer where reservation_id is not null group by reservation_id) t on t.reservation_id = r.id
    where r.mode = 'credit' and r.credits > 0 and (t.captured <> r.captured_credits or t.refunded <> r.refunded_credits
      or t.taken - t.captured - t.released <> case when r.state = 'live' then r.credits else 0 end)`,
  'what members agreed to is what was reserved, and what was captured of it is what was captured': `
    select r.id::text as what from reservation r left join (
        select reservation_id, sum(credits) as credits, sum(captured_credits) as captured from agreed_spend group by reservation_id
      ) a on a.reservation_id = r.id
    where case when r.counts_for_caps then a.credits is distinct from r.credits
        or r.state in ('capturing', 'captured') and a.captured is distinct from r.captured_credits
      else a.credits is not null end`,
  'accruals of a spend on account come to its price while it is open, and to what was delivered and kept when it has ended': `
    select r.id::text as what from reservation r left join (
        select reservation_id, sum(credits) as credits, count(*) filter (where kind = 'final') as ends,
          count(*) filter (where invoice_id is not null) as billed
        from accrual_entry group by reservation_id
      ) e on e.reservation_id = r.id
    where r.mode = 'enterprise' and (
        coalesce(e.credits, 0) <> case r.state when 'live' then r.credits else r.captured_credits - r.refunded_credits end
        or coalesce(e.ends, 0) <> case r.state when 'live' then 0 else 1 end
        or r.state = 'live' and e.billed > 0)
      or r.mode <> 'enterprise' and e.reservation_id is not null`,
  'an invoice has the accruals that it bills, line by line': `
    select i.id::text as what from invoice i
    left join lateral (select coalesce(sum(credits), 0) as credits from accrual_entry where invoice_id = i.id) e on true
    left join lateral (select coalesce(sum(round((line->>'amount_aud')::numeric * 100)), 0) as credits
      from jsonb_array_elements(i.lines) line where line->>'kind' in ('order', 'job')) l on true
    where e.credits <> l.credits`,
  'a payment has at most one grant, and one that succeeded exactly one': `
    select a.id::text as what from payment_attempt a left join ledger_transfer t on t.payment_intent_id = a.payment_intent_id
      and t.type = 'topup'
    where a.kind <> 'hold' group by a.id having count(t.seq) <> case when a.status = 'succeeded' then 1 else 0 end`,
  'a grant of a payment has its attempt, and its sum': `
    select t.payment_intent_id as what from ledger_transfer t left join payment_attempt a using (payment_intent_id)
    where t.type = 'topup' and (a.credits is distinct from t.credits or a.aud_cents is distinct from t.credits)`,
  'each transfer was made by a call that the audit shows as done': `
    select t.id::text as what from ledger_transfer t left join audit a using (invocation_id) where a.status is distinct from 200`,
  'a purchase is told once': `
    select entity_id as what from event where type = 'topup.succeeded' group by entity_id having count(*) <> 1`,
}

export async function moneyViolations(db: Db): Promise<string[]> {
  const violations: string[] = []
  for (const [rule, text] of Object.entries(RULES))
    for (const { what } of (await sql<{ what: string }>`${sql.raw(text)}`.execute(db)).rows) violations.push(`${rule}: ${what}`)
  return violations
}

/** After reconciliation, what the sandbox processor says it charged or holds agrees with our books. */
export async function processorViolations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select o.id || ' ' || (o.body->>'status') || ' but ' || coalesce(a.kind || ' ' || a.status, 'unknown here') as what
    from sandbox_payments.object o left join payment_attempt a on a.payment_intent_id = o.id
      left join reservation r on r.id = a.reservation_id
    where o.kind = 'payment_intent' and (
      (o.body->>'status' = 'succeeded' and (a.id is null or a.status not in ('succeeded', 'captured')))
      or (o.body->>'status' = 'requires_capture' and (a.id is null or a.status <> 'held' or r.state <> 'live')))
    union all
    select a.id::text || ' succeeded but ' || (o.body->>'status') from payment_attempt a
      join sandbox_payments.object o on o.id = a.payment_intent_id where a.status = 'succeeded'
      and o.body->>'status' <> 'succeeded'`.execute(db)
  return rows.map(({ what }) => what)
}
