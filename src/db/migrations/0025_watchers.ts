import { sql, type Kysely } from 'kysely'

/** Who created a webhook stays known when someone else's reading rights count for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table event_subscription add column creator_id uuid references app_user (id);
    update event_subscription set creator_id = coalesce(created_by, user_id);
  `.execute(db)
}
