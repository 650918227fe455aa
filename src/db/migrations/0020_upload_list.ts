import { sql, type Kysely } from 'kysely'

/** Sessions of a project in the order in which they are listed, ended ones too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index upload_session_list on upload_session (project_id, created_at desc, id desc)`.execute(db)
}
