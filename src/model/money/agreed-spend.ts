/** Which member agreed to which part of a purchase; spending limits count it. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'

/** A purchase that one member agrees to as a whole. */
export const WHOLE = ''

export interface Agreed {
  /** The ID of a tasking order's group, or `WHOLE`. */
  part: string
  credits: number
}

/** A part agreed again, as when a quotation follows a study, counts for whoever agreed last. */
export async function put(
  tx: Tx,
  { id, organizationId, userId }: { id: string; organizationId: string; userId: string | null },
  { part, credits }: Agreed,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('agreed_spend')
    .values({ reservation_id: id, part, org_id: organizationId, user_id: userId, credits, agreed_at: now })
    .onConflict((conflict) => conflict.columns(['reservation_id', 'part']).doUpdateSet({ user_id: userId, credits, agreed_at: now }))
    .execute()
}

/** Records what was captured of each part. A part that is missing from `parts` was not delivered. */
export async function capture(tx: Tx, reservationId: string, captured: number, parts: ReadonlyMap<string, number> | null): Promise<void> {
  const named = [...(parts ?? [[WHOLE, captured] as const])]
  await sql`
    update agreed_spend a set captured_credits = least(taken.credits, a.credits)
    from unnest(${named.map(([part]) => part)}::text[], ${named.map(([, credits]) => credits)}::bigint[]) as taken (part, credits)
    where a.reservation_id = ${reservationId} and a.part = taken.part`.execute(tx)
}

/** A member's spending since a time, without the part being agreed again; `inOrder` counts one purchase, regardless of time. */
export async function spentBy(
  db: Db,
  { organizationId, userId }: { organizationId: string; userId: string },
  { since, reservationId, part }: { since: Date; reservationId: string | null; part: string | null },
): Promise<{ rolling: number; inOrder: number }> {
  const { rows } = await sql<{ rolling: number; inOrder: number }>`
    with spent as (
      select a.reservation_id, a.agreed_at,
        case when r.state in ('releasing', 'released') then 0
          when r.state in ('capturing', 'captured') then a.captured_credits else a.credits end as credits
      from agreed_spend a join reservation r on r.id = a.reservation_id
      where a.org_id = ${organizationId} and a.user_id = ${userId}
        and (a.agreed_at > ${since} or a.reservation_id = ${reservationId}::uuid)
        and not (a.reservation_id is not distinct from ${reservationId}::uuid and a.part is not distinct from ${part}::text)
    )
    select coalesce(sum(credits) filter (where agreed_at > ${since}), 0)::bigint as rolling,
      coalesce(sum(credits) filter (where reservation_id = ${reservationId}::uuid), 0)::bigint as "inOrder"
    from spent`.execute(db)
  return rows[0]!
}
