/** Traces that continue in another process: see migration 0050. Read and written only while traces are recorded. */
import { sql } from 'kysely'
import { currentSpan, isTracing } from '#core/tracing.ts'
import type { Db, Tx } from '#db/tables.ts'

/** Longer than the retries of a webhook; what is queued for longer begins a trace of its own. */
const KEPT_DAYS = 7

/** Queued work with these IDs continues the current trace. */
export async function write(tx: Tx, ids: readonly string[]): Promise<void> {
  const span = currentSpan()
  if (!span || ids.length === 0) return
  await sql`
    insert into trace_link (id, traceparent) select id, ${span.traceparent} from unnest(${ids}::uuid[]) as queued (id)
    on conflict (id) do nothing
  `.execute(tx)
}

/** The trace that this work continues; null if there is none. */
export async function find(db: Db, id: string): Promise<string | null> {
  if (!isTracing()) return null
  const row = await db.selectFrom('trace_link').select('traceparent').where('id', '=', id).executeTakeFirst()
  return row?.traceparent ?? null
}

export async function sweep(db: Db): Promise<void> {
  await sql`delete from trace_link where created_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(db)
}
