/** Quotations: a firm price for a tasking group, which the customer accepts or rejects. */
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { QUOTATION_STATES, QuotationDecision } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Change } from '#effects.ts'
import type { Group } from './order-group.ts'
import { DECISION_MS, type DecisionFilter } from './study.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'order_id as orderId',
  'group_id as groupId',
  'state',
  'decision',
  'credits',
  'vendor_id as vendorId',
  'created_at as createdAt',
  'decision_at as decisionAt',
  'expires_at as expiresAt',
  sql<boolean>`exists (select 1 from imagery_order o where o.id = quotation.order_id and o.status <> 'pending')`.as('isClosed'),
] as const

export type Quotation = Row<'quotation', typeof COLUMNS>

/** The state shown to the customer. Only an issued quotation can be decided. */
export function stateOf({ state, decision, expiresAt, isClosed }: Quotation, now: Date): (typeof QUOTATION_STATES)[number] {
  if (decision !== 'NOT_DECIDED') return 'decided'
  if (state === 'refused' || isClosed || expiresAt <= now) return 'expired'
  return state === 'waiting' ? 'requested' : 'issued'
}

const quotations = (db: Db) => db.selectFrom('quotation').select(COLUMNS)

export async function find(db: Db, id: string): Promise<Quotation | null> {
  return isUuid(id) ? ((await quotations(db).where('id', '=', id).executeTakeFirst()) ?? null) : null
}

export async function ofGroup(db: Db, groupId: string): Promise<Quotation | null> {
  return (await quotations(db).where('group_id', '=', groupId).executeTakeFirst()) ?? null
}

/** Newest first. */
export async function list(
  db: Db,
  organizationId: string,
  filter: DecisionFilter,
  { page, size }: { page: number; size: number },
  now: Date,
): Promise<{ quotations: Quotation[]; total: number }> {
  const matching = quotations(db)
    .where('org_id', '=', organizationId)
    .$if(filter.hiddenProjects.length > 0, (query) => query.where('project_id', 'not in', [...filter.hiddenProjects]))
    .$if(filter.id !== null, (query) => query.where('id', '=', filter.id!))
    .$if(filter.projectId !== null, (query) => query.where('project_id', '=', filter.projectId!))
    .$if(filter.orderId !== null, (query) => query.where('order_id', '=', filter.orderId!))
    .$if(filter.decisions !== null, (query) => query.where('decision', 'in', [...(filter.decisions as QuotationDecision[])]))
    .$if(filter.isReady, (query) => query.where('decision', '=', 'NOT_DECIDED').where('state', '=', 'issued').where('expires_at', '>', now))
  const { total } = await db
    .selectFrom(matching.as('w'))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return {
    quotations: await matching
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(size)
      .offset(page * size)
      .execute(),
    total,
  }
}

/** The quotation of a group, created on the first request. */
export async function request({ tx, clock, events }: Change, projectId: string, group: Group): Promise<Quotation> {
  const now = clock.now()
  const quotation = await tx
    .insertInto('quotation')
    .values({
      id: newId(),
      org_id: group.organizationId,
      project_id: projectId,
      order_id: group.orderId,
      group_id: group.id,
      created_at: now,
      expires_at: new Date(now.getTime() + DECISION_MS),
    })
    .onConflict((conflict) => conflict.column('group_id').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!quotation) return (await ofGroup(tx, group.id))!
  events.emit('quotation.requested', quotation.id, summary(quotation))
  return quotation
}

export async function setVendorId(db: Db, id: string, vendorId: string): Promise<void> {
  await db.updateTable('quotation').set({ vendor_id: vendorId }).where('id', '=', id).execute()
}

/** Null credits mean that the vendor refused. Returns null if it was already answered. */
export async function issue(tx: Tx, id: string, credits: number | null, now: Date): Promise<Quotation | null> {
  const row = await tx
    .updateTable('quotation')
    .set({ state: credits === null ? 'refused' : 'issued', credits, expires_at: new Date(now.getTime() + DECISION_MS) })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Returns null if it was already decided or has expired. */
export async function decide(tx: Tx, id: string, decision: 'ACCEPTED' | 'REJECTED', now: Date): Promise<Quotation | null> {
  const row = await tx
    .updateTable('quotation')
    .set({ decision, decision_at: now })
    .where('id', '=', id)
    .where('state', '=', 'issued')
    .where('decision', '=', 'NOT_DECIDED')
    .where('expires_at', '>', now)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** The data of its events. */
export const summary = ({ id, orderId, projectId, decision, credits, createdAt, expiresAt }: Quotation): Record<string, unknown> => ({
  id,
  order_id: orderId,
  project_id: projectId,
  decision,
  credits,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
})
