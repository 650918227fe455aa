/** Feasibility studies: a vendor's options, of which the customer can accept one. */
import { isUuid, newId } from '#core/ids.ts'
import { DAY_MS } from '#core/time.ts'
import type { StudyDecision } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { StudyOption } from '#db/tables/orders.ts'
import type { Change } from '#effects.ts'
import type { Order } from './order.ts'

/** Time to decide on a study or a quotation. */
export const DECISION_MS = 30 * DAY_MS

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'order_id as orderId',
  'group_id as groupId',
  'state',
  'decision',
  'options',
  'accepted_option_id as acceptedOptionId',
  'vendor_id as vendorId',
  'created_at as createdAt',
  'decision_at as decisionAt',
  'expires_at as expiresAt',
] as const

export type Study = Row<'feasibility_study', typeof COLUMNS>

const studies = (db: Db) => db.selectFrom('feasibility_study').select(COLUMNS)

export async function find(db: Db, id: string): Promise<Study | null> {
  return isUuid(id) ? ((await studies(db).where('id', '=', id).executeTakeFirst()) ?? null) : null
}

export async function ofGroup(db: Db, groupId: string): Promise<Study | null> {
  return (await studies(db).where('group_id', '=', groupId).executeTakeFirst()) ?? null
}

export interface DecisionFilter {
  id: string | null
  projectId: string | null
  orderId: string | null
  decisions: readonly string[] | null
  /** Only those the customer can decide on now. */
  isReady: boolean
  hiddenProjects: readonly string[]
}

/** Newest first. */
export async function list(
  db: Db,
  organizationId: string,
  filter: DecisionFilter,
  { page, size }: { page: number; size: number },
  now: Date,
): Promise<{ studies: Study[]; total: number }> {
  const matching = studies(db)
    .where('org_id', '=', organizationId)
    .$if(filter.hiddenProjects.length > 0, (query) => query.where('project_id', 'not in', [...filter.hiddenProjects]))
    .$if(filter.id !== null, (query) => query.where('id', '=', filter.id!))
    .$if(filter.projectId !== null, (query) => query.where('project_id', '=', filter.projectId!))
    .$if(filter.orderId !== null, (query) => query.where('order_id', '=', filter.orderId!))
    .$if(filter.decisions !== null, (query) => query.where('decision', 'in', [...(filter.decisions as StudyDecision[])]))
    .$if(filter.isReady, (query) =>
      query.where('decision', '=', 'NOT_DECIDED').where('state', '=', 'answered').where('expires_at', '>', now),
    )
  const { total } = await db
    .selectFrom(matching.as('w'))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return {
    studies: await matching
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(size)
      .offset(page * size)
      .execute(),
    total,
  }
}

/** Creates a study for each group of a new order that needs one. */
export async function insertFor({ tx, clock, events }: Change, { id, organizationId, projectId, groups }: Order): Promise<void> {
  const now = clock.now()
  for (const group of groups.filter(({ subStatus }) => subStatus === 'awaiting_feasibility')) {
    const study = await tx
      .insertInto('feasibility_study')
      .values({
        id: newId(),
        org_id: organizationId,
        project_id: projectId,
        order_id: id,
        group_id: group.id,
        created_at: now,
        expires_at: new Date(now.getTime() + DECISION_MS),
      })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
    events.emit('feasibility.requested', study.id, summary(study))
  }
}

export async function setVendorId(db: Db, id: string, vendorId: string): Promise<void> {
  await db.updateTable('feasibility_study').set({ vendor_id: vendorId }).where('id', '=', id).execute()
}

/** Returns null if it was already answered. */
export async function answer(tx: Tx, id: string, options: readonly StudyOption[] | null, now: Date): Promise<Study | null> {
  const row = await tx
    .updateTable('feasibility_study')
    .set({
      state: options ? 'answered' : 'infeasible',
      options: JSON.stringify(options ?? []),
      expires_at: new Date(now.getTime() + DECISION_MS),
    })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Null if it was already decided or has expired. */
export async function accept(tx: Tx, id: string, optionId: string, now: Date): Promise<Study | null> {
  const row = await tx
    .updateTable('feasibility_study')
    .set({ decision: 'ACCEPTED', accepted_option_id: optionId, decision_at: now })
    .where('id', '=', id)
    .where('state', '=', 'answered')
    .where('decision', '=', 'NOT_DECIDED')
    .where('expires_at', '>', now)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** The data of its events. */
export const summary = ({ id, orderId, projectId, decision, createdAt, expiresAt }: Study): Record<string, unknown> => ({
  id,
  order_id: orderId,
  project_id: projectId,
  decision,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
})
