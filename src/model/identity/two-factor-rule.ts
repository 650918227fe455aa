import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'

export interface Rule {
  is_required: boolean
  members: number
  members_without: number
}

/** Whether a user has a second factor, as a condition on the row `u` of an account. */
export const HAS_TWO_FACTORS = sql<boolean>`(
  exists (select from totp_factor f where f.user_id = u.id and f.secret is not null)
  or exists (select from passkey p where p.user_id = u.id))`

export async function get(db: Db, organizationId: string): Promise<Rule> {
  const { rows } = await sql<Rule>`
    select o.requires_two_factors as is_required, count(u.id)::int as members,
      (count(u.id) filter (where not ${HAS_TWO_FACTORS}))::int as members_without
    from organization o left join organization_member m on m.org_id = o.id left join app_user u on u.id = m.user_id
    where o.id = ${organizationId} group by o.id
  `.execute(db)
  return rows[0]!
}

export async function set(tx: Tx, organizationId: string, isRequired: boolean, now: Date): Promise<void> {
  await tx.updateTable('organization').set({ requires_two_factors: isRequired, updated_at: now }).where('id', '=', organizationId).execute()
}
