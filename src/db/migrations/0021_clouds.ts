import { sql, type Kysely } from 'kysely'

/**
 * Cloud cover is the most frequent condition besides place and time. It is part of the indexes by time, so that a search for clear scenes
 * only reads the rows of its matches, not those of all cloudy scenes in between.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db) // Ten million items take a minute.
  for (const scope of ['org', 'project'] as const) {
    const [name, column] = [sql.id(`item_${scope}_time`), sql.id(`${scope}_id`)]
    await sql`drop index if exists ${name}`.execute(db)
    await sql`create index ${name} on item (${column}, datetime desc nulls last, seq, cloud_cover) where deleted_at is null`.execute(db)
  }
}
