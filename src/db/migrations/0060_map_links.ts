import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Validates what 0059 added to share links, without blocking anyone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table share_link validate constraint share_link_target_type_check;
    alter table share_link validate constraint share_link_map_check;
  `.execute(db)
}
