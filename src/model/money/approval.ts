/** Permission, asked for and given, to spend above one's caps: for any one purchase up to a sum, or for one purchase that is described. */
import { sql, type Selectable } from 'kysely'
import { newId, isUuid } from '#core/ids.ts'
import type { Db, Tables, Tx } from '#db/tables.ts'

export type Approval = Selectable<Tables['approval']>
/** As people see it: what is pending or approved ends with its time. */
export type ApprovalStatus = Approval['status'] | 'expired'

export interface NewApproval {
  organizationId: string
  requestedBy: string
  credits: number | null
  operation: string | null
  input: object | null
  reason: string | null
  expiresAt: Date
}

export async function insert(tx: Tx, approval: NewApproval, now: Date): Promise<Approval> {
  return await tx
    .insertInto('approval')
    .values({
      id: newId(),
      org_id: approval.organizationId,
      requested_by: approval.requestedBy,
      credits: approval.credits,
      operation: approval.operation,
      input: approval.input ? JSON.stringify(approval.input) : null,
      reason: approval.reason,
      created_at: now,
      expires_at: approval.expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function statusOf({ status, expires_at }: Approval, now: Date): ApprovalStatus {
  return (status === 'pending' || status === 'approved') && expires_at <= now ? 'expired' : status
}

export async function find(db: Db, organizationId: string, id: string): Promise<Approval | null> {
  if (!isUuid(id)) return null
  return (await db.selectFrom('approval').selectAll().where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Newest first; those of one person only, or of all. */
export async function list(db: Db, organizationId: string, filter: { requestedBy: string | null; limit: number }): Promise<Approval[]> {
  return await db
    .selectFrom('approval')
    .selectAll()
    .where('org_id', '=', organizationId)
    .$if(filter.requestedBy !== null, (query) => query.where('requested_by', '=', filter.requestedBy!))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .execute()
}

/** Null: it was decided meanwhile, or its time is over. */
export async function decide(
  tx: Tx,
  id: string,
  decision: { status: 'approved' | 'rejected'; by: string | null; reason: string | null },
  now: Date,
): Promise<Approval | null> {
  return (
    (await tx
      .updateTable('approval')
      .set({ status: decision.status, decided_by: decision.by, decision_reason: decision.reason, decided_at: now })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .where('expires_at', '>', now)
      .returningAll()
      .executeTakeFirst()) ?? null
  )
}

/** Uses up an approval that covers a purchase; null when the person has none. */
export async function use(tx: Tx, organizationId: string, userId: string, credits: number, now: Date): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    update approval set status = 'used', used_at = ${now} where id = (
      select id from approval where org_id = ${organizationId} and requested_by = ${userId} and status = 'approved' and expires_at > ${now} and credits >= ${credits}
      order by credits, created_at limit 1 for update
    ) returning id`.execute(tx)
  return rows[0]?.id ?? null
}

/** A described purchase runs while it is approved; afterwards nothing is left of the permission. */
export async function close(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('approval').set({ status: 'used', used_at: now }).where('id', '=', id).where('status', '=', 'approved').execute()
}
