import { sql, type Kysely } from 'kysely'

/** Who created a webhook or a share link is known when it was created by a key, or when someone else's rights count for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table event_subscription add column creator_id uuid references app_user (id);
    update event_subscription set creator_id = coalesce(created_by, user_id);
    alter table share_link add column creator_id uuid references app_user (id);
    update share_link set creator_id = created_by;
  `.execute(db)
}
