import { sql, type Kysely } from 'kysely'

/** Upload sessions of a project in list order, including ended ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index upload_session_list on upload_session (project_id, created_at desc, id desc)`.execute(db)
}
