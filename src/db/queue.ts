import { sql, type RawBuilder } from 'kysely'
import { fromKysely, PgBoss, type Db as BossDatabase, type JobResult } from 'pg-boss'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { withLock } from './lock.ts'
import type { Db, Tx } from './tables.ts'

/** `id` is that of the queued task. */
type TaskHandler = (data: unknown, signal: AbortSignal, id: string) => Promise<void>

/** The queue of background tasks on PostgreSQL (pg-boss). Tasks are sent in the caller's transaction and run by any worker process. */
export interface Queue {
  /** Creates the queue if necessary; safe to call from many processes. */
  declare(name: string, options: QueueOptions): Promise<void>
  /** Delayed by this many seconds, immediate by default. Returns the ID of the task. */
  send(tx: Tx, name: string, data: object, options?: { afterSeconds?: number }): Promise<string | null>
  work(name: string, handler: TaskHandler, options?: { concurrency?: number }): Promise<void>
  /** Checks all queues of this process with one query, and wakes the workers of those with due tasks. */
  wake(): Promise<void>
  schedule(name: string, cron: string): Promise<void>
  /** Due tasks of every queue that has any. */
  backlog(): Promise<QueueBacklog[]>
  /** Runs everything in one queue, due or not, and returns the number of tasks. For tests and operators. */
  drain(name: string, handler: TaskHandler): Promise<number>
  stop(): Promise<void>
}

export interface QueueBacklog {
  readonly name: string
  /** Counted up to `MAX_COUNTED` tasks of all queues. */
  readonly tasks: number
  /** How long the first one has been due. */
  readonly oldestSeconds: number
}

interface QueueOptions {
  retryLimit: number
  timeoutSeconds: number
}

const SCHEMA = 'queue'
/** A fallback if nothing wakes the workers: polling one queue costs as much as checking all of them. */
const POLL_SECONDS = 60
const BATCH_SIZE = 10
const STOP_TIMEOUT_MS = 10_000
const MAX_COUNTED = 100_000
/** All queues are polled at the same moment; the limit keeps idle queues from using many connections. */
const POLLING = { maxRunning: 2, maxWaiting: 10_000, full: queueFull('polls of the queues') }

/** `worker` also polls, schedules and maintains the queues, which a process that only sends does not need. */
export async function openQueue(db: Db, options: { worker: boolean; onError: (error: Error) => void }): Promise<Queue> {
  const boss = new PgBoss({ db: bossDatabase(db), schema: SCHEMA, supervise: options.worker, schedule: options.worker, migrate: true })
  boss.on('error', options.onError)
  await withLock(db, 'queue', () => boss.start()) // Creates or migrates its schema: one process at a time.
  // Creating a queue that exists changes nothing, but takes a statement each, at every start.
  const existing = new Set((await boss.getQueues()).map(({ name }) => name))
  const workers = new Map<string, string[]>()
  let stopping: Promise<void> | null = null
  return {
    async declare(name, { retryLimit, timeoutSeconds }) {
      if (existing.has(name)) return
      await boss.createQueue(name, { retryLimit, retryBackoff: true, expireInSeconds: timeoutSeconds })
    },
    async send(tx, name, data, { afterSeconds } = {}) {
      return await boss.send(name, data, { db: fromKysely(tx), ...(afterSeconds ? { startAfter: afterSeconds } : {}) })
    },
    async work(name, handler, { concurrency } = {}) {
      const share = concurrency === undefined ? { batchSize: BATCH_SIZE, burstWhenBatchFull: true } : { batchSize: 1 }
      const ids: string[] = []
      for (let n = 0; n < (concurrency ?? 1); n++)
        ids.push(
          await boss.work(name, { pollingIntervalSeconds: POLL_SECONDS, ...share, perJobResults: true }, async (jobs) => {
            return await Promise.all(jobs.map((job) => settled(job, handler)))
          }),
        )
      workers.set(name, ids)
    },
    async wake() {
      for (const name of await due(db, [...workers.keys()])) for (const id of workers.get(name)!) boss.notifyWorker(id)
    },
    async schedule(name, cron) {
      await boss.schedule(name, cron, {}, { tz: 'UTC' })
    },
    backlog: () => backlogOf(db),
    async drain(name, handler) {
      let count = 0
      for (;;) {
        const jobs = await boss.fetch(name, { batchSize: BATCH_SIZE, ignoreStartAfter: true })
        if (jobs.length === 0) return count
        for (const job of jobs) {
          await handler(job.data, new AbortController().signal, job.id)
          await boss.complete(name, job.id)
          count++
        }
      }
    },
    stop: () => (stopping ??= boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS })),
  }
}

/** Whether a queue contains a waiting task with this value in a field of its data; a task being run no longer waits. */
export const queued = (name: string, field: string, value: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`exists (
  select from ${sql.table(`${SCHEMA}.job`)} j where j.name = ${name} and j.state < 'active' and j.data ->> ${field} = ${value}
)`

/** Whether a task of one of these queues has been due for so long that its workers must be busy. */
export async function isBehind(db: Db, names: readonly string[], seconds: number): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(`${SCHEMA}.job`)} j
    where j.name = any (${names}::text[]) and j.state < 'active' and not j.blocked
      and j.start_after <= now() - make_interval(secs => ${seconds})
    limit 1
  `.execute(db)
  return rows.length > 0
}

async function due(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select queue.name from unnest(${names}::text[]) as queue (name)
    where exists (
      select from ${sql.table(`${SCHEMA}.job`)} j
      where j.name = queue.name and j.state < 'active' and not j.blocked and j.start_after <= now()
    )
  `.execute(db)
  return rows.map(({ name }) => name)
}

async function backlogOf(db: Db): Promise<QueueBacklog[]> {
  const { rows } = await sql<QueueBacklog>`
    select name, count(*)::int as tasks, extract(epoch from now() - min(start_after))::float8 as "oldestSeconds"
    from (
      select name, start_after from ${sql.table(`${SCHEMA}.job`)} j
      where j.state < 'active' and not j.blocked and j.start_after <= now() limit ${MAX_COUNTED}
    ) as due group by name
  `.execute(db)
  return rows
}

/** pg-boss sends whole transactions as one text; if one fails, its connection must not return to the pool with it open. */
function bossDatabase(db: Db): BossDatabase {
  const limit = createLimiter(POLLING)
  return {
    executeSql: (text, values) =>
      limit(() =>
        db.connection().execute(async (connection) => {
          try {
            return await fromKysely(connection).executeSql(text, values)
          } catch (error) {
            await sql`rollback`.execute(connection)
            throw error
          }
        }),
      ),
  }
}

interface FetchedJob {
  id: string
  data: unknown
  signal: AbortSignal
}

/** A failed job does not affect the others of its batch. */
async function settled(job: FetchedJob, handler: TaskHandler): Promise<JobResult> {
  try {
    await handler(job.data, job.signal, job.id)
    return { id: job.id, status: 'completed' }
  } catch (error) {
    return { id: job.id, status: 'failed', output: { message: error instanceof Error ? error.message : String(error) } }
  }
}
