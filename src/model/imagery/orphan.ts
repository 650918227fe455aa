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
