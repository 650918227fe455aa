/** Writes to the busiest tables, one after the other for each, and how long they waited; for `bench/migrations.ts`. */
import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Writers {
  /** Forgets the waits so far; writes that are under way count for what follows. */
  reset(): void
  /** With those that are under way. */
  waits(): { longestMs: number; table: string; count: number }
  stop(): Promise<void>
}

/** So that they do not use up the machine. */
const PAUSE_MS = 5

const ONE_ORGANIZATION = '(select id from organization order by id limit 1)'
const ONE_PROJECT = '(select id from project order by id limit 1)'
const INSERT_EVENT = `insert into event (id, org_id, type, entity_type, entity_id, data, invocation_id, occurred_at)
  values (gen_random_uuid(), ${ONE_ORGANIZATION}, 'item.created', 'item', 'x', '{}', gen_random_uuid(), now()) returning seq, occurred_at`

/** As the service writes, and in a way that each schema accepts. */
const WRITES: Readonly<Record<string, string>> = {
  item: `with created as (insert into item (id, stac_id, org_id, project_id, type, name, created_at, updated_at)
    select g, g, ${ONE_ORGANIZATION}, ${ONE_PROJECT}, 'user_raster', 'x', now(), now() from (select gen_random_uuid()::text as g) ids
    returning *)
    insert into asset (id, org_id, item_seq, key, href, created_at, updated_at)
    select gen_random_uuid(), org_id, seq, 'data', 'https://images.example.com/x.tif', created_at, updated_at from created`,
  'item (update)': "update item set name = name || '' where seq = (select 1 + (random() * 1000)::bigint)",
  event: INSERT_EVENT,
  audit: `insert into audit (invocation_id, org_id, principal_kind, principal_id, operation, status, duration_ms, at)
    values (gen_random_uuid(), ${ONE_ORGANIZATION}, 'user', 'x', 'items.list', 200, 1, now())`,
  usage_day: `insert into usage_day (org_id, day, meter, amount) values (${ONE_ORGANIZATION}, current_date, 'api_calls', 1)
    on conflict (org_id, day, meter) do update set amount = usage_day.amount + excluded.amount`,
  egress_log: `insert into egress_log (id, org_id, kind, bytes, principal_kind, invocation_id, at)
    values (gen_random_uuid(), ${ONE_ORGANIZATION}, 'asset', 1, 'user', gen_random_uuid(), now())`,
  webhook_delivery: `with written as (${INSERT_EVENT})
    insert into webhook_delivery (subscription_id, event_seq, endpoint_key, since, due_at, created_at)
    select s.id, seq, s.endpoint_key, occurred_at, occurred_at, occurred_at from written, (select * from event_subscription limit 1) s`,
  'webhook_delivery (update)': `update webhook_delivery set state = 'delivered', ended_at = now()
    where id = (select id from webhook_delivery where state = 'pending' limit 1 for update skip locked)`,
  order_group: 'update order_group set updated_at = now() where id = (select id from order_group limit 1 offset (random() * 10)::int)',
  project: `update project set item_count = item_count + 1 where id = ${ONE_PROJECT}`,
}

interface Writer {
  table: string
  longestMs: number
  count: number
  /** When the present write began; null between two. */
  beganMs: number | null
}

export async function startWriters(url: string): Promise<Writers> {
  const writers = Object.keys(WRITES).map((table): Writer => ({ table, longestMs: 0, count: 0, beganMs: null }))
  let isStopped = false
  let failure: unknown = null
  const write = async (writer: Writer): Promise<void> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      while (!isStopped) {
        writer.beganMs = performance.now()
        await client.query(WRITES[writer.table]!)
        writer.longestMs = Math.max(writer.longestMs, performance.now() - writer.beganMs)
        writer.beganMs = null
        writer.count++
        await sleep(PAUSE_MS)
      }
    } finally {
      await client.end()
    }
  }
  const writing = writers.map((writer) =>
    write(writer).catch((error: unknown) => {
      failure ??= new Error(`a write to ${writer.table} failed`, { cause: error })
    }),
  )
  return {
    reset() {
      for (const writer of writers) Object.assign(writer, { longestMs: 0, count: 0 })
    },
    waits() {
      if (failure) throw failure
      const now = performance.now()
      const soFar = writers.map((each) => ({
        ...each,
        longestMs: Math.max(each.longestMs, each.beganMs === null ? 0 : now - each.beganMs),
      }))
      const [longest] = soFar.toSorted((a, b) => b.longestMs - a.longestMs)
      return { longestMs: longest!.longestMs, table: longest!.table, count: soFar.reduce((sum, { count }) => sum + count, 0) }
    },
    async stop() {
      isStopped = true
      await Promise.all(writing)
      if (failure) throw failure
    },
  }
}
