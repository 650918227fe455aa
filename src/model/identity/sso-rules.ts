/** How members of an organization must sign in, and which of a user's organizations a session can act for. */
import { sql } from 'kysely'
import { HOUR_MS } from '#core/time.ts'
import type { InvitedRole, OrganizationRole } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = ['is_required as isRequired', 'domain_role as domainRole'] as const

export type Rules = Row<'sso_rules', typeof COLUMNS>

const NONE: Rules = { isRequired: false, domainRole: null }

export async function find(db: Db, organizationId: string): Promise<Rules> {
  return (await db.selectFrom('sso_rules').select(COLUMNS).where('org_id', '=', organizationId).executeTakeFirst()) ?? NONE
}

export async function put(tx: Tx, organizationId: string, { isRequired, domainRole }: Rules, now: Date): Promise<void> {
  const values = { is_required: isRequired, domain_role: domainRole, updated_at: now }
  await tx
    .insertInto('sso_rules')
    .values({ org_id: organizationId, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .execute()
}

export async function clear(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('sso_rules').where('org_id', '=', organizationId).execute()
}

/** How a session began at a provider; null: with a password. */
export interface Proof {
  /** The organization whose connection was used; null: the installation's provider. */
  readonly organizationId: string | null
  readonly signedInAt: Date
}

interface Mine {
  readonly id: string
  readonly role: OrganizationRole
}

/**
 * Divides a user's organizations into those that a session can act for and those that ask for another sign-in. A session of an
 * organization's own provider acts for that organization alone, because its owner decides whom the provider vouches for; and only
 * for some hours, so that whoever has left it is asked again. Owners can always use their password: a broken provider locks nobody out.
 */
export async function divide<M extends Mine>(
  db: Db,
  mine: readonly M[],
  proof: Proof | null,
  now: Date,
): Promise<{ open: M[]; closed: M[] }> {
  if (mine.length === 0) return { open: [], closed: [] }
  const ids = mine.map(({ id }) => id)
  const { rows } = await sql<{ id: string; isRequired: boolean; sessionHours: number | null }>`
    select o.id, coalesce(r.is_required, false) as "isRequired", c.session_hours as "sessionHours"
    from organization o left join sso_rules r on r.org_id = o.id left join sso_connection c on c.org_id = o.id
    where o.id = any(${ids}::uuid[])
  `.execute(db)
  const termsOf = new Map(rows.map((row) => [row.id, row]))
  const isOpen = ({ id, role }: M): boolean => {
    const { isRequired = false, sessionHours = null } = termsOf.get(id) ?? {}
    if (proof?.organizationId != null)
      return proof.organizationId === id && sessionHours !== null && now.getTime() - proof.signedInAt.getTime() < sessionHours * HOUR_MS
    if (!isRequired || role === 'owner') return true
    return proof !== null && sessionHours === null // The installation's provider, and the organization has none of its own.
  }
  // Others stay out of sight of a session that belongs to one organization.
  const seen = proof?.organizationId == null ? mine : mine.filter(({ id }) => id === proof.organizationId)
  return { open: seen.filter(isOpen), closed: seen.filter((one) => !isOpen(one)) }
}

/** Until the transaction ends, no rule of these organizations changes: a change would not see the session that begins here. */
export async function hold(tx: Tx, mine: readonly Mine[]): Promise<void> {
  await sql`select 1 from organization where id = any(${mine.map(({ id }) => id)}::uuid[]) order by id for share`.execute(tx)
}

/** Ends the sessions that a rule that now applies would not have let begin. */
export async function endOthers(tx: Tx, organizationId: string, hasConnection: boolean, now: Date): Promise<void> {
  await sql`
    update user_session s set ended_at = ${now} where s.org_id = ${organizationId} and s.ended_at is null
      and not exists (select from sso_session p where p.session_id = s.id
        and p.org_id is not distinct from ${hasConnection ? organizationId : null}::uuid)
      and not exists (select from organization_member m where m.org_id = s.org_id and m.user_id = s.user_id and m.role = 'owner')
  `.execute(tx)
}

/** Organizations that people of a verified domain join when the installation's provider vouches for their address. */
export async function joinedByDomain(db: Db, domain: string): Promise<{ organizationId: string; role: InvitedRole }[]> {
  const { rows } = await sql<{ organizationId: string; role: InvitedRole }>`
    select d.org_id as "organizationId", r.domain_role as role
    from sso_domain d join sso_rules r on r.org_id = d.org_id
    where d.domain = ${domain} and d.verified_at is not null and r.domain_role is not null order by d.org_id
  `.execute(db)
  return rows
}
