import { isUuid, newId } from '#core/ids.ts'
import { notFound } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = [
  'id',
  'rule_id as ruleId',
  'project_id as projectId',
  'item_id as itemId',
  'computed_value as computedValue',
  'triggered_at as triggeredAt',
  'acknowledged_at as acknowledgedAt',
] as const

export type AlertEvent = Row<'alert_event', typeof COLUMNS>

export async function insert(
  tx: Tx,
  organizationId: string,
  event: { ruleId: string; projectId: string; itemId: string; computedValue: number },
  now: Date,
): Promise<AlertEvent> {
  return await tx
    .insertInto('alert_event')
    .values({
      id: newId(),
      org_id: organizationId,
      rule_id: event.ruleId,
      project_id: event.projectId,
      item_id: event.itemId,
      computed_value: event.computedValue,
      triggered_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

interface Filter {
  ruleId: string | null
  acknowledged: boolean | null
  /** Projects the caller cannot read. */
  hiddenProjects: readonly string[]
  limit: number
  offset: number
}

export async function list(db: Db, organizationId: string, filter: Filter): Promise<AlertEvent[]> {
  return await db
    .selectFrom('alert_event')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .$if(filter.ruleId !== null, (query) => query.where('rule_id', '=', filter.ruleId!))
    .$if(filter.acknowledged !== null, (query) => query.where('acknowledged_at', filter.acknowledged ? 'is not' : 'is', null))
    .$if(filter.hiddenProjects.length > 0, (query) => query.where('project_id', 'not in', [...filter.hiddenProjects]))
    .orderBy('triggered_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute()
}

export async function requireOf(db: Db, organizationId: string, id: string, hiddenProjects: readonly string[]): Promise<AlertEvent> {
  const row = isUuid(id)
    ? await db.selectFrom('alert_event').select(COLUMNS).where('id', '=', id).where('org_id', '=', organizationId).executeTakeFirst()
    : undefined
  if (!row || hiddenProjects.includes(row.projectId)) throw notFound('alert event')
  return row
}

/** Returns an event that is already acknowledged unchanged. */
export async function acknowledge(tx: Tx, event: AlertEvent, by: string | null, now: Date): Promise<AlertEvent> {
  const row = await tx
    .updateTable('alert_event')
    .set({ acknowledged_at: now, acknowledged_by: by })
    .where('id', '=', event.id)
    .where('acknowledged_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? event
}
