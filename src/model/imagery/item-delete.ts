/** Deletes items: their rows stay for the history, their cells are removed, and their storage is released. */
import { sql } from 'kysely'
import type { LifecycleState } from '#core/vocabulary.ts'
import type { Tx } from '#db/tables.ts'
import { countedBytes } from './item-metadata.ts'
import { lock, type Item } from './item-read.ts'
import * as projects from '#model/identity/project.ts'

/** Soft-deletes one item: the row stays for the history, its cells are removed, its assets no longer count as storage. */
export async function softDelete(
  tx: Tx,
  seq: number,
  now: Date,
  options: { evenArchived?: true } = {},
): Promise<{ item: Item; previousState: LifecycleState }> {
  const before = await lock(tx, seq)
  const freed = (await softDeleteMany(tx, [seq], now)).get(before.projectId)!
  await projects.account(tx, before.projectId, { items: -freed.items, bytes: -freed.bytes }, now, options)
  return { item: { ...before, lifecycleState: 'deleted', deletedAt: now, updatedAt: now }, previousState: before.lifecycleState }
}

/** The same for rows that the caller has locked. The caller updates the projects' counters by the result. */
export async function softDeleteMany(tx: Tx, seqs: readonly number[], now: Date): Promise<Map<string, { items: number; bytes: number }>> {
  if (seqs.length === 0) return new Map()
  const { rows } = await sql<{ projectId: string; items: number; bytes: number }>`
    with gone as (
      update item set lifecycle_state = 'deleted', deleted_at = ${now}, updated_at = ${now}, due_at = null
        where seq = any(${seqs}::bigint[]) and deleted_at is null returning *
    ), cleared as (
      delete from item_cell c using gone i where c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime,
        '-infinity') and c.seq = i.seq
    ), stored as (
      select item_seq, sum(file_size_bytes) as bytes from asset where item_seq = any(${seqs}::bigint[])
        and object_key is not null group by item_seq
    )
    select g.project_id as "projectId", count(*) as items,
      (coalesce(sum(s.bytes), 0) + sum(${countedBytes('g')}))::bigint as bytes from gone g left join stored s
      on s.item_seq = g.seq group by g.project_id order by g.project_id
  `.execute(tx)
  return new Map(rows.map(({ projectId, items, bytes }) => [projectId, { items, bytes }]))
}

const MAX_DELETED_PER_STATEMENT = 10_000

/**
 * Soft-deletes all items of a project and emits their events, in batches inside the database, because a project can have millions. The
 * caller has locked the project's row, so nothing is added meanwhile.
 */
export async function softDeleteAll(tx: Tx, projectId: string, call: { invocationId: string; now: Date }): Promise<number> {
  let deleted = 0
  for (;;) {
    const { rows } = await sql<{ n: number }>`
      with due as (
        select seq, lifecycle_state as previous_state from item where project_id = ${projectId} and deleted_at is null
          order by seq limit ${MAX_DELETED_PER_STATEMENT} for update
      ), gone as (
        update item i set lifecycle_state = 'deleted', deleted_at = ${call.now}, updated_at = ${call.now}, due_at = null from due
          where i.seq = due.seq returning i.*, due.previous_state
      ), cleared as (
        delete from item_cell c using gone i where c.org_id = i.org_id and c.cell = any(i.cells) and c.datetime = coalesce(i.datetime,
          '-infinity') and c.seq = i.seq
      ), reported as (
        insert into event (id, org_id, type, entity_type, entity_id, data, invocation_id, occurred_at)
        select gen_random_uuid(), org_id, 'item.deleted', 'item', id, jsonb_build_object(
          'id', id, 'project_id', project_id, 'collection_id', collection_id, 'name', name, 'type', type,
          'datetime', ${instant('datetime')}, 'bbox', to_jsonb(bbox),
          'lifecycle_state', lifecycle_state, 'previous_lifecycle_state', previous_state,
          'created_at', ${instant('created_at')}, 'deleted_at', ${instant('deleted_at')}),
          ${call.invocationId}, ${call.now}
        from gone order by seq
      )
      select count(*) as n from gone
    `.execute(tx)
    deleted += rows[0]!.n
    if (rows[0]!.n < MAX_DELETED_PER_STATEMENT) return deleted
  }
}

/** In JavaScript's notation. */
const instant = (column: string) => sql`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
