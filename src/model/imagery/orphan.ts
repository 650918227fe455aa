/** Objects in the store that nothing refers to: removed after they were found twice. */
import { HOUR_MS } from '#core/time.ts'
import { sql, type NotNull } from 'kysely'
import type { Db } from '#db/tables.ts'

/**
 * An object is created before the row that refers to it, and that row may be in a transaction in progress: an object is an orphan only
 * if it had no owner twice, this many hours apart.
 */
const ORPHAN_HOURS = 12

/** Buckets to check, a page at a time, including those of deleted projects. */
export async function buckets(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('bucket_name as name')
    .$narrowType<{ name: NotNull }>()
    .where('bucket_name', '>', after)
    .orderBy('bucket_name')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}

/**
 * Records which of these keys have no owner, and returns those that have had none for long. Owners are assets of items that are not
 * deleted, and open upload sessions.
 */
export async function note(db: Db, bucket: string, keys: readonly string[], now: Date): Promise<string[]> {
  const { rows } = await sql<{ key: string; isDue: boolean }>`
    insert into orphan_object (bucket, key, seen_at, last_seen_at)
    select ${bucket}, k.key, ${now}, ${now} from unnest(${keys}::text[]) as k (key)
    where not exists (select from asset a join item i on i.seq = a.item_seq where a.bucket = ${bucket} and a.object_key = k.key
      and i.deleted_at is null)
      and not exists (select from upload_file f join upload_session u on u.id = f.upload_id where f.object_key = k.key
        and u.bucket = ${bucket} and u.closed_at is null)
      and k.key not in (select f.parts_key from upload_session u join upload_file f on f.upload_id = u.id
        where u.bucket = ${bucket} and u.closed_at is null and f.parts_key is not null)
    on conflict (bucket, key) do update set last_seen_at = excluded.last_seen_at
    returning key, seen_at <= ${new Date(now.getTime() - ORPHAN_HOURS * HOUR_MS)} as "isDue"
  `.execute(db)
  return rows.filter((row) => row.isDue).map((row) => row.key)
}

export async function forget(db: Db, bucket: string, key: string): Promise<void> {
  await db.deleteFrom('orphan_object').where('bucket', '=', bucket).where('key', '=', key).execute()
}

/** Objects not seen in this round have an owner now or were removed. */
export async function forgetOthers(db: Db, bucket: string, round: Date): Promise<void> {
  await db.deleteFrom('orphan_object').where('bucket', '=', bucket).where('last_seen_at', '<', round).execute()
}

/** A pass through all buckets; it takes one run of the sweep, or many. */
interface Round {
  readonly beganAt: Date
  /** Everything up to here has been compared with the database; a null key is the end of the bucket. */
  readonly bucket: string
  readonly key: string | null
}

/** The round that has not ended, or a new one. */
export async function currentRound(db: Db, now: Date): Promise<Round> {
  const columns = ['began_at as beganAt', 'bucket', 'key'] as const
  const open = await db.selectFrom('sweep_round').select(columns).where('ended_at', 'is', null).executeTakeFirst()
  if (open) return open
  const start = { began_at: now, ended_at: null, bucket: '', key: null }
  return await db
    .insertInto('sweep_round')
    .values(start)
    .onConflict((conflict) => conflict.column('is_only').doUpdateSet(start))
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function advance(db: Db, position: Pick<Round, 'bucket' | 'key'>): Promise<void> {
  await db.updateTable('sweep_round').set(position).where('ended_at', 'is', null).execute()
}

export async function endRound(db: Db, now: Date): Promise<void> {
  await db.updateTable('sweep_round').set({ ended_at: now }).where('ended_at', 'is', null).execute()
}
