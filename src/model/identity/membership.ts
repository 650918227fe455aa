/** Members of an organization: changing their roles, and ending a membership with everything that depends on it. */
import { sql } from 'kysely'
import type { Principal } from '#core/principal.ts'
import * as principals from '#core/principal.ts'
import { accessDenied, notFound, problem } from '#core/problem.ts'
import type { OrganizationRole } from '#core/vocabulary.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as offboarding from '#model/events/offboarding.ts'
import * as apiKeys from './api-key.ts'
import * as invitations from './invitation.ts'
import * as organizations from './organization.ts'
import * as sessions from './session.ts'
import * as ssoConnections from './sso-connection.ts'
import * as ssoDomains from './sso-domain.ts'
import * as ssoRules from './sso-rules.ts'

/** A stolen API key must not be able to change who belongs to an organization; the service itself can. */
export function requireSignedIn(principal: Principal): void {
  if (principal.kind !== 'service') principals.requireSignedIn(principal, 'change the members and invitations of an organization')
}

/** Only owners can appoint or remove owners; admins can make all other changes. */
export function requireMayChange(principal: Principal, from: OrganizationRole, to: OrganizationRole | null): void {
  organizations.requireAdmin(principal)
  if ((from === 'owner' || to === 'owner') && principal.organizationRole !== 'owner') throw accessDenied()
}

/** Serializes changes to the members of an organization. Take the lock before reading anything that decides about them. */
export async function lock(tx: Tx, organizationId: string): Promise<void> {
  await sql`select 1 from organization where id = ${organizationId} for no key update`.execute(tx)
}

export async function setRole(tx: Tx, organizationId: string, userId: string, role: OrganizationRole, now: Date): Promise<void> {
  const result = await tx
    .updateTable('organization_member')
    .set({ role })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) throw notFound('member')
  if (role === 'member') await invitations.withdrawAllBy(tx, organizationId, userId, now)
  await keepAnOwner(tx, organizationId)
}

/**
 * Ends a membership and what depends on it: project roles, keys, sessions for the organization, open invitations. Webhooks and alert
 * rules are paused. What the user created stays, because it belongs to the organization.
 */
export async function end(tx: Tx, organizationId: string, userId: string, now: Date): Promise<void> {
  await sql`
    delete from project_member m using project p where p.id = m.project_id and p.org_id = ${organizationId} and m.user_id = ${userId}
  `.execute(tx)
  await tx
    .updateTable('organization')
    .set({ billing_admin_id: null })
    .where('id', '=', organizationId)
    .where('billing_admin_id', '=', userId)
    .execute()
  const result = await tx
    .deleteFrom('organization_member')
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (result.numDeletedRows === 0n) throw notFound('member')
  await apiKeys.revokeAllOf(tx, organizationId, userId, now)
  await sessions.endAllFor(tx, organizationId, userId, now)
  await invitations.withdrawAllBy(tx, organizationId, userId, now)
  await offboarding.pauseAllOf(tx, organizationId, userId, now)
}

/** Ends every membership of an organization that is being deleted. */
export async function endAll(tx: Tx, organizationId: string, now: Date): Promise<void> {
  await sql`delete from project_member m using project p where p.id = m.project_id and p.org_id = ${organizationId}`.execute(tx)
  await tx.deleteFrom('organization_member').where('org_id', '=', organizationId).execute()
  await apiKeys.revokeAllOf(tx, organizationId, null, now)
  await sessions.endAllFor(tx, organizationId, null, now)
  await invitations.withdrawAllOfOrganization(tx, organizationId, now)
  await ssoConnections.remove(tx, organizationId)
  await ssoDomains.removeAll(tx, organizationId)
  await ssoRules.clear(tx, organizationId)
  await offboarding.removeAll(tx, organizationId)
}

/** An organization always has an owner: the last one can neither leave nor give up the role. */
export async function keepAnOwner(tx: Tx, organizationId: string): Promise<void> {
  const owner = await tx
    .selectFrom('organization_member')
    .select('user_id')
    .where('org_id', '=', organizationId)
    .where('role', '=', 'owner')
    .executeTakeFirst()
  if (!owner) throw problem('bad-request', 'An organization must have an owner. Make another member an owner first.')
}

interface Standing {
  organizationId: string
  name: string
  role: OrganizationRole
  owners: number
  members: number
}

/** The organizations of a user, each with its number of other members and owners. */
export async function standings(db: Db, userId: string): Promise<Standing[]> {
  const { rows } = await sql<Standing>`
    select o.id as "organizationId", o.name, mine.role,
      (select count(*) from organization_member m where m.org_id = o.id and m.role = 'owner') as owners,
      (select count(*) from organization_member m where m.org_id = o.id) as members
    from organization_member mine join organization o on o.id = mine.org_id where mine.user_id = ${userId} order by o.id
  `.execute(db)
  return rows
}
