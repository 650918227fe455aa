/** Questions to alert rules about items: asked with the event, answered later by a worker, each until it has an answer. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'

export interface Question {
  ruleId: string
  organizationId: string
  itemId: string
  /** Counts what happened to the item meanwhile: an answer to an older version settles nothing. */
  version: number
  tries: number
}

/** Longer than any answer takes; how long a question outlives a worker that was killed. */
const LEASE_SECONDS = 60
/** Waited after each failure; then the question is given up. */
const BACKOFF_SECONDS = [10, 60, 300, 1_800, 7_200, 18_000, 36_000] as const

/** What waits for pixels of these items is asked again. */
export async function wake(tx: Tx, organizationId: string, itemIds: readonly string[], now: Date): Promise<void> {
  await sql`
    update alert_evaluation set due_at = ${now}, version = version + 1
    where org_id = ${organizationId} and item_id = any(${itemIds}::text[]) and due_at is null
  `.execute(tx)
}

const isFree = sql`(lease_until is null or lease_until < clock_timestamp())`

/** Organizations with a question that is due and that nobody answers. The index is read once an organization, not once a question. */
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

/** Leases are real time, measured by the database that all processes share; what is due follows the platform's clock. */
export async function claim(db: Db, organizationId: string, now: Date): Promise<Question | null> {
  const { rows } = await sql<Question>`
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

/** False: the item changed meanwhile, so the question stands and this answer must not count. */
export async function settle(tx: Tx, { ruleId, itemId, version }: Question): Promise<boolean> {
  const done = await tx
    .deleteFrom('alert_evaluation')
    .where('rule_id', '=', ruleId)
    .where('item_id', '=', itemId)
    .where('version', '=', version)
    .executeTakeFirst()
  return done.numDeletedRows === 1n
}

/** Asked again as it stands now, when its answer was overtaken. */
export async function free(db: Db, { ruleId, itemId }: Question): Promise<void> {
  await db.updateTable('alert_evaluation').set({ lease_until: null }).where('rule_id', '=', ruleId).where('item_id', '=', itemId).execute()
}

/** There are no pixels to read yet: it sleeps until the item is updated. */
export async function waitForPixels(db: Db, { ruleId, itemId, version }: Question): Promise<void> {
  const slept = await db
    .updateTable('alert_evaluation')
    .set({ due_at: null, lease_until: null })
    .where('rule_id', '=', ruleId)
    .where('item_id', '=', itemId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (slept.numUpdatedRows === 0n) await free(db, { ruleId, itemId, version } as Question)
}

/** It failed: tried again later, a few times, and its rule says why. */
export async function fail(tx: Tx, question: Question, error: string, now: Date): Promise<void> {
  const wait = BACKOFF_SECONDS[question.tries]
  if (wait === undefined) await settle(tx, question)
  else
    await tx
      .updateTable('alert_evaluation')
      .set({ tries: question.tries + 1, due_at: new Date(now.getTime() + wait * 1_000), lease_until: null })
      .where('rule_id', '=', question.ruleId)
      .where('item_id', '=', question.itemId)
      .where('version', '=', question.version)
      .execute()
  await tx.updateTable('alert_rule').set({ last_error: error, last_error_at: now }).where('id', '=', question.ruleId).execute()
}

/** Questions about items whose pixels never came. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('alert_evaluation').where('due_at', 'is', null).where('created_at', '<', before).execute()
}
