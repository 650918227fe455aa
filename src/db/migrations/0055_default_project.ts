import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** The project that the console suggests for new work of an organization. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table organization add column default_project_id uuid`.execute(db)
}
