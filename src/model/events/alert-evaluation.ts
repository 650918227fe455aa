/** Evaluations of alert rules against items: queued with the event, and run by a worker until they have a result. */
import { sql } from 'kysely'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db, Tx } from '#db/tables.ts'

export interface Evaluation {
  ruleId: string
  organizationId: string
  itemId: string
  /** Counts changes of the item: a result for an older version is discarded. */
  version: number
  tries: number
}

/** Longer than any evaluation takes; an evaluation outlives a killed worker by this time. */
const LEASE_SECONDS = 60
/** Backoff after each failure; after the last one the evaluation is abandoned. */
const BACKOFF_SECONDS = [10, 60, 300, 1_800, 7_200, 18_000, 36_000] as const

/** Resumes evaluations that wait for the pixels of these items. */
export async function wake(tx: Tx, organizationId: string, itemIds: readonly string[], now: Date): Promise<void> {
  await sql`
    update alert_evaluation set due_at = ${now}, version = version + 1
    where org_id = ${organizationId} and item_id = any(${itemIds}::text[]) and due_at is null
  `.execute(tx)
}

const isFree = sql`(lease_until is null or lease_until < clock_timestamp())`

/** Organizations with a due evaluation that nobody has leased. Reads the index once per organization, not once per evaluation. */
export async function organizationsWaiting(db: Db, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive asked as (
      (select org_id from alert_evaluation where due_at is not null order by org_id limit 1)
      union all
      select (select a.org_id from alert_evaluation a where a.due_at is not null and a.org_id > asked.org_id order by a.org_id limit 1)
      from asked where asked.org_id is not null
    )
    select asked.org_id as id from asked where exists (
      select from alert_evaluation where org_id = asked.org_id and due_at <= ${now} and ${isFree}
    )
  `.execute(db)
  return rows.map(({ id }) => id)
}

/** Leases use real time, measured by the database that all processes share; due times use the platform's clock. */
export async function claim(db: Db, organizationId: string, now: Date): Promise<Evaluation | null> {
  const { rows } = await sql<Evaluation>`
    update alert_evaluation a set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from (
      select rule_id, item_id from alert_evaluation
      where org_id = ${organizationId} and due_at <= ${now} and ${isFree}
      order by due_at limit 1 for update skip locked
    ) due
    where a.rule_id = due.rule_id and a.item_id = due.item_id
    returning a.rule_id as "ruleId", a.org_id as "organizationId", a.item_id as "itemId", a.version, a.tries
  `.execute(db)
  return rows[0] ?? null
}

/** Returns false if the item changed meanwhile: the evaluation stays queued, and this result must not count. */
export async function settle(tx: Tx, { ruleId, itemId, version }: Evaluation): Promise<boolean> {
  const result = await tx
    .deleteFrom('alert_evaluation')
    .where('rule_id', '=', ruleId)
    .where('item_id', '=', itemId)
    .where('version', '=', version)
    .executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** Releases an evaluation whose item changed, so that it runs again. */
export async function release(db: Db, { ruleId, itemId }: Evaluation): Promise<void> {
  await db.updateTable('alert_evaluation').set({ lease_until: null }).where('rule_id', '=', ruleId).where('item_id', '=', itemId).execute()
}

/** There are no pixels yet: the evaluation waits until the item is updated. */
export async function waitForPixels(db: Db, { ruleId, itemId, version }: Evaluation): Promise<void> {
  const slept = await db
    .updateTable('alert_evaluation')
    .set({ due_at: null, lease_until: null })
    .where('rule_id', '=', ruleId)
    .where('item_id', '=', itemId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (slept.numUpdatedRows === 0n) await release(db, { ruleId, itemId, version } as Evaluation)
}

/** Retries later with backoff, a limited number of times; the rule shows the error. */
export async function fail(tx: Tx, evaluation: Evaluation, error: string, now: Date): Promise<void> {
  const wait = BACKOFF_SECONDS[evaluation.tries]
  if (wait === undefined) await settle(tx, evaluation)
  else
    await tx
      .updateTable('alert_evaluation')
      .set({ tries: evaluation.tries + 1, due_at: new Date(now.getTime() + wait * 1_000), lease_until: null })
      .where('rule_id', '=', evaluation.ruleId)
      .where('item_id', '=', evaluation.itemId)
      .where('version', '=', evaluation.version)
      .execute()
  await tx.updateTable('alert_rule').set({ last_error: error, last_error_at: now }).where('id', '=', evaluation.ruleId).execute()
}

/** Deletes evaluations of items whose pixels never arrived. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await deleteInBatches(db, {
    table: 'alert_evaluation',
    key: ['rule_id', 'item_id'],
    where: sql<boolean>`due_at is null and created_at < ${before}`,
  })
}
