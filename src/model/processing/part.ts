/**
 * Parts of large jobs, and of conversions of large uploads, whose file is the job here. The run divides a computation into parts; any
 * worker claims one, reports that it is alive, and stores its files. A part whose worker is silent is claimed again. The rows exist
 * until the job or the conversion ends.
 */
import { createHash } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { newId } from '#core/ids.ts'
import type { Db, Tx } from '#db/tables.ts'

/** A part without a heartbeat for this long can be claimed by another worker. */
const SILENT_MS = 20_000
/** Failures of a worker or the store, not of the job. */
export const MAX_PART_ATTEMPTS = 4

export interface Rows {
  readonly from: number
  readonly to: number
}

export interface StepKey {
  readonly organizationId: string
  readonly jobId: string
  readonly step: number
}

export interface Part extends StepKey {
  readonly phase: 0 | 1
  readonly number: number
  readonly rows: Rows
  readonly runId: string
  readonly attempts: number
}

/**
 * Stores a computation and its parts, unless an earlier attempt of the job has: then parts that failed are tried again. Parts of another
 * computation are replaced. `identity` is what makes it the same, if the request can be written in several ways.
 */
export async function open(
  tx: Tx,
  { organizationId, jobId, step }: StepKey,
  { request, identity = request }: { request: object; identity?: object },
  parts: readonly { phase: 0 | 1; rows: readonly Rows[] }[],
  now: Date,
): Promise<void> {
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex')
  const key = { org_id: organizationId, job_id: jobId, step }
  const known = await tx
    .selectFrom('job_step')
    .select('digest')
    .where('org_id', '=', organizationId)
    .where('job_id', '=', jobId)
    .where('step', '=', step)
    .executeTakeFirst()
  if (known?.digest === digest) {
    await tx
      .updateTable('job_part')
      .set({ state: 'waiting', attempts: 0, error: null })
      .where('org_id', '=', organizationId)
      .where('job_id', '=', jobId)
      .where('step', '=', step)
      .where('state', '=', 'failed')
      .execute()
    return
  }
  for (const table of ['job_part', 'job_step'] as const)
    await tx.deleteFrom(table).where('org_id', '=', organizationId).where('job_id', '=', jobId).where('step', '=', step).execute()
  await tx
    .insertInto('job_step')
    .values({ ...key, request: JSON.stringify(request), digest, created_at: now })
    .execute()
  const rows = parts.flatMap(({ phase, rows: ranges }) =>
    ranges.map(({ from, to }, number) => ({ ...key, phase, number, from_row: from, to_row: to })),
  )
  await tx.insertInto('job_part').values(rows).execute()
}

/** What to compute; null if the job has ended. Of a list of computations, only those of the part. */
export async function requestOf<T>(db: Db, { organizationId, jobId, step, rows: { from, to } }: Part): Promise<T | null> {
  const { rows } = await sql<{ request: T }>`
    select case when request -> 'requests' is null then request
      else request || jsonb_build_object('requests', jsonb_path_query_array(request -> 'requests', '$[$from to $last]',
        jsonb_build_object('from', ${from}::int, 'last', ${to - 1}::int))) end as request
    from job_step where org_id = ${organizationId} and job_id = ${jobId} and step = ${step}
  `.execute(db)
  return rows[0]?.request ?? null
}

/**
 * Claims the next part: among the organizations with parts to do, of the one with the fewest at work; among those, of the one whose
 * last part started longest ago; of that, the first of its oldest job. An overview waits for the rows under it and for those above.
 */
export async function claim(db: Db, now: Date, jobId: string | null = null): Promise<Part | null> {
  const silent = silentSince(now)
  const { rows } = await sql<ClaimedRow>`
    with next as (
      select p.org_id, p.job_id, p.step, p.phase, p.number from job_part p
      cross join lateral (
        select count(*) filter (where r.state = 'running' and r.heartbeat_at > ${silent}) as running, max(r.started_at) as started_at
        from job_part r where r.org_id = p.org_id
      ) busy
      where ${isClaimable(silent)} and (${jobId}::uuid is null or p.job_id = ${jobId}::uuid)
      order by busy.running, busy.started_at nulls first, p.job_id, p.step, p.phase, p.number
      limit 1 for update of p skip locked
    )
    update job_part p set state = 'running', run_id = ${newId()}, attempts = p.attempts + 1, started_at = ${now}, heartbeat_at = ${now}
    from next where (p.org_id, p.job_id, p.step, p.phase, p.number) = (next.org_id, next.job_id, next.step, next.phase, next.number)
    returning p.org_id as "organizationId", p.job_id as "jobId", p.step, p.phase, p.number, p.from_row as "from", p.to_row as "to",
      p.run_id as "runId", p.attempts
  `.execute(db)
  const [row] = rows
  if (!row) return null
  const { from, to, ...part } = row
  return { ...part, rows: { from, to } }
}

type ClaimedRow = Omit<Part, 'rows'> & Rows

const silentSince = (now: Date): Date => new Date(now.getTime() - SILENT_MS)

const isClaimable = (silent: Date): RawBuilder<boolean> => sql<boolean>`
  (p.state = 'waiting' or (p.state = 'running' and p.heartbeat_at <= ${silent}))
  and (p.phase = 0 or not exists (
    select from job_part q where (q.org_id, q.job_id, q.step, q.phase) = (p.org_id, p.job_id, p.step, 0)
      and q.number between p.number - 1 and p.number and q.state <> 'done'
  ))`

/** Whether parts wait for others that are at work. */
export async function isAnyWaiting(db: Db): Promise<boolean> {
  const row = await db.selectFrom('job_part').select('number').where('state', '=', 'waiting').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Jobs with parts that nobody works on. */
export async function abandoned(tx: Tx, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct p.job_id as id from job_part p where ${isClaimable(silentSince(now))}
  `.execute(tx)
  return rows.map(({ id }) => id)
}

const ofRun = (part: Part): RawBuilder<boolean> => sql<boolean>`
  org_id = ${part.organizationId} and job_id = ${part.jobId} and step = ${part.step} and phase = ${part.phase}
  and number = ${part.number} and run_id = ${part.runId} and state = 'running'`

/** Returns false if another worker has the part, or its job has ended. */
export async function heartbeat(db: Db, part: Part, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db.updateTable('job_part').set({ heartbeat_at: now }).where(ofRun(part)).executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns false if another worker has the part, or its job has ended; what was computed is then discarded. */
export async function finish(db: Db, part: Part, result: object): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job_part')
    .set({ state: 'done', result: JSON.stringify(result), heartbeat_at: null })
    .where(ofRun(part))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Another worker can claim the part at once. */
export async function release(db: Db, part: Part): Promise<void> {
  await db.updateTable('job_part').set({ state: 'waiting', heartbeat_at: null }).where(ofRun(part)).execute()
}

/** The job cannot be completed. */
export async function fail(db: Db, part: Part, error: string): Promise<void> {
  await db.updateTable('job_part').set({ state: 'failed', error, heartbeat_at: null }).where(ofRun(part)).execute()
}

interface Progress {
  readonly done: number
  readonly total: number
  /** Why the job cannot be completed. */
  readonly error: string | null
  /** Whether that is no fault of the data: all attempts of a part failed. */
  readonly isInternal: boolean
}

export async function progress(db: Db, { organizationId, jobId, step }: StepKey): Promise<Progress> {
  const { rows } = await sql<Progress>`
    select count(*) filter (where state = 'done')::int as done, count(*)::int as total, min(error) as error,
      coalesce(bool_and(attempts >= ${MAX_PART_ATTEMPTS}) filter (where state = 'failed'), false) as "isInternal"
    from job_part where org_id = ${organizationId} and job_id = ${jobId} and step = ${step}
  `.execute(db)
  return rows[0]!
}

/** The rows of one part. */
export async function rowsOf(db: Db, { organizationId, jobId, step }: StepKey, phase: 0 | 1, number: number): Promise<Rows | null> {
  const row = await db
    .selectFrom('job_part')
    .select(['from_row as from', 'to_row as to'])
    .where('org_id', '=', organizationId)
    .where('job_id', '=', jobId)
    .where('step', '=', step)
    .where('phase', '=', phase)
    .where('number', '=', number)
    .executeTakeFirst()
  return row ?? null
}

/** Results of parts, in their order. */
export async function results<T>(
  db: Db,
  { organizationId, jobId, step }: StepKey,
  phase: 0 | 1,
  numbers?: readonly number[],
): Promise<T[]> {
  const found = await db
    .selectFrom('job_part')
    .select('result')
    .where('org_id', '=', organizationId)
    .where('job_id', '=', jobId)
    .where('step', '=', step)
    .where('phase', '=', phase)
    .where('state', '=', 'done')
    .$if(numbers !== undefined, (query) => query.where('number', 'in', [...numbers!]))
    .orderBy('number')
    .execute()
  return found.map(({ result }) => result as T)
}

/** Removes all parts of a job that has ended; returns whether there were any. Workers stop at their next heartbeat. */
export async function remove(tx: Tx, { organizationId, id }: { organizationId: string; id: string }): Promise<boolean> {
  await tx.deleteFrom('job_part').where('org_id', '=', organizationId).where('job_id', '=', id).execute()
  const removed = await tx.deleteFrom('job_step').where('org_id', '=', organizationId).where('job_id', '=', id).executeTakeFirst()
  return removed.numDeletedRows > 0n
}
