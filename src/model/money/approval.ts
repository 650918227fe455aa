/** Approvals of spending above a member's limits: for any one purchase up to an amount, or for a described purchase. */
import { newId, isUuid } from '#core/ids.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { ApprovalStatus } from '#db/tables/money.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'requested_by as requestedBy',
  'credits',
  'operation',
  'input',
  'reason',
  'price_credits as priceCredits',
  'status',
  'decided_by as decidedBy',
  'decision_reason as decisionReason',
  'created_at as createdAt',
  'decided_at as decidedAt',
  'expires_at as expiresAt',
  'used_at as usedAt',
] as const

export type Approval = Row<'approval', typeof COLUMNS>
type NewApproval = Pick<
  Approval,
  'organizationId' | 'requestedBy' | 'credits' | 'operation' | 'input' | 'reason' | 'priceCredits' | 'expiresAt'
>

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
      price_credits: approval.priceCredits,
      created_at: now,
      expires_at: approval.expiresAt,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The most an approval can spend: the amount it names, or the price the approver saw. Null for approvals from before prices existed. */
export const ceilingOf = ({ credits, priceCredits }: Pick<Approval, 'credits' | 'priceCredits'>): number | null => credits ?? priceCredits

/** The status shown to users: pending and approved ones expire. */
export function statusOf({ status, expiresAt }: Approval, now: Date): ApprovalStatus | 'expired' {
  return (status === 'pending' || status === 'approved') && expiresAt <= now ? 'expired' : status
}

const ofOrganization = (db: Db, organizationId: string) => db.selectFrom('approval').select(COLUMNS).where('org_id', '=', organizationId)

export async function find(db: Db, organizationId: string, id: string): Promise<Approval | null> {
  if (!isUuid(id)) return null
  return (await ofOrganization(db, organizationId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** Newest first; of one user, or of all. */
export async function list(db: Db, organizationId: string, filter: { requestedBy: string | null; limit: number }): Promise<Approval[]> {
  return await ofOrganization(db, organizationId)
    .$if(filter.requestedBy !== null, (query) => query.where('requested_by', '=', filter.requestedBy!))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .execute()
}

/** Returns null if it was decided meanwhile or has expired. */
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
      .returning(COLUMNS)
      .executeTakeFirst()) ?? null
  )
}

/** A user's approvals that cover a purchase of this many credits. */
const covering = (db: Db, organizationId: string, userId: string, credits: number, now: Date) =>
  db
    .selectFrom('approval')
    .select('id')
    .where('org_id', '=', organizationId)
    .where('requested_by', '=', userId)
    .where('status', '=', 'approved')
    .where('expires_at', '>', now)
    .where('credits', '>=', credits)

export async function covers(db: Db, organizationId: string, userId: string, credits: number, now: Date): Promise<boolean> {
  return (await covering(db, organizationId, userId, credits, now).limit(1).executeTakeFirst()) !== undefined
}

/** Uses the smallest approval that covers a purchase; null if the user has none. */
export async function use(tx: Tx, organizationId: string, userId: string, credits: number, now: Date): Promise<string | null> {
  const smallest = covering(tx, organizationId, userId, credits, now).orderBy('credits').orderBy('created_at').limit(1).forUpdate()
  const used = await tx
    .updateTable('approval')
    .set({ status: 'used', used_at: now })
    .where('id', '=', smallest)
    .returning('id')
    .executeTakeFirst()
  return used?.id ?? null
}

/** Ends an approval after its described purchase ran. */
export async function close(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('approval').set({ status: 'used', used_at: now }).where('id', '=', id).where('status', '=', 'approved').execute()
}
