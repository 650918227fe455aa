/** Who belongs to an organization, how that changes, and what ends with it. */
import { sql } from 'kysely'
import type { Principal } from '#core/principal.ts'
import * as principals from '#core/principal.ts'
import { accessDenied, notFound, problem } from '#core/problem.ts'
import type { OrganizationRole } from '#core/vocabulary.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as watchers from '#model/events/leaving.ts'
import * as apiKeys from './api-key.ts'
import * as invitations from './invitation.ts'
import * as organizations from './organization.ts'
import * as sessions from './session.ts'

/** A stolen key must not be able to change who belongs to an organization; the service itself may. */
export function requireSignedIn(principal: Principal): void {
  if (principal.kind !== 'service') principals.requireSignedIn(principal, 'change the members and invitations of an organization')
}

/** Owners are made and unmade by owners; everything else is for admins too. */
export function requireMayChange(principal: Principal, from: OrganizationRole, to: OrganizationRole | null): void {
  organizations.requireAdmin(principal)
  if ((from === 'owner' || to === 'owner') && principal.organizationRole !== 'owner') throw accessDenied()
}

/** Changes of one organization's members wait in line. Taken before anything is read that decides about them. */
export async function lock(tx: Tx, organizationId: string): Promise<void> {
  await sql`select 1 from organization where id = ${organizationId} for no key update`.execute(tx)
}

export async function setRole(tx: Tx, organizationId: string, userId: string, role: OrganizationRole, now: Date): Promise<void> {
  const done = await tx
    .updateTable('organization_member')
    .set({ role })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (done.numUpdatedRows === 0n) throw notFound('member')
  if (role === 'member') await invitations.withdrawAllBy(tx, organizationId, userId, now)
  await keepAnOwner(tx, organizationId)
}

/**
 * Ends a membership and what hangs on it: roles in projects, keys, sessions that act for the organization, open invitations.
 * What the person made stays: it is the organization's. Webhooks and alert rules rest.
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
  const done = await tx
    .deleteFrom('organization_member')
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (done.numDeletedRows === 0n) throw notFound('member')
  await apiKeys.revokeAllOf(tx, organizationId, userId, now)
  await sessions.endAllFor(tx, organizationId, userId, now)
  await invitations.withdrawAllBy(tx, organizationId, userId, now)
  await watchers.restAllOf(tx, organizationId, userId, now)
}

/** Ends every membership of an organization that ends itself. */
export async function endAll(tx: Tx, organizationId: string, now: Date): Promise<void> {
  await sql`delete from project_member m using project p where p.id = m.project_id and p.org_id = ${organizationId}`.execute(tx)
  await tx.deleteFrom('organization_member').where('org_id', '=', organizationId).execute()
  await apiKeys.revokeAllOf(tx, organizationId, null, now)
  await sessions.endAllFor(tx, organizationId, null, now)
  await invitations.withdrawAllOfOrganization(tx, organizationId, now)
  await watchers.removeAll(tx, organizationId)
}

/** An organization keeps an owner: the last one can neither go nor step down. */
export async function keepAnOwner(tx: Tx, organizationId: string): Promise<void> {
  const owner = await tx
    .selectFrom('organization_member')
    .select('user_id')
    .where('org_id', '=', organizationId)
    .where('role', '=', 'owner')
    .executeTakeFirst()
  if (!owner) throw problem('bad-request', 'An organization needs an owner: make somebody else one first')
}

interface Standing {
  organizationId: string
  name: string
  role: OrganizationRole
  owners: number
  members: number
}

/** Every organization of a person, with how many others there are to carry it on. */
export async function standings(db: Db, userId: string): Promise<Standing[]> {
  const { rows } = await sql<Standing>`
    select o.id as "organizationId", o.name, mine.role,
      (select count(*) from organization_member m where m.org_id = o.id and m.role = 'owner') as owners,
      (select count(*) from organization_member m where m.org_id = o.id) as members
    from organization_member mine join organization o on o.id = mine.org_id where mine.user_id = ${userId} order by o.id
  `.execute(db)
  return rows
}
