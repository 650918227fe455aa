import { hash, randomBytes } from 'node:crypto'
import { DAY_MS } from '#core/time.ts'
import { isUuid, newId } from '#core/ids.ts'
import type { InvitedRole, ProjectRole } from '#core/vocabulary.ts'
import type { Joined, Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as organizations from './organization.ts'

const VALID_DAYS = 14
/** The prefix lets logs redact a token wherever it appears. */
const TOKEN_PREFIX = 'inv_'
const TOKEN_BYTES = 32

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'email',
  'role',
  'organization_role as organizationRole',
  'invited_by as invitedBy',
  'created_at as createdAt',
  'expires_at as expiresAt',
] as const

export type Invitation = Row<'invitation', typeof COLUMNS>

interface NewInvitation {
  organizationId: string
  organizationRole: InvitedRole
  /** Null if the invitation is to the organization only. */
  project: { id: string; role: ProjectRole } | null
  email: string
  invitedBy: string | null
  now: Date
}

/**
 * Returns the token, of which only the hash is stored. Inviting the same address to the same organization and project again renews
 * the invitation: the new role applies, and the old link no longer works.
 */
export async function put(tx: Tx, request: NewInvitation): Promise<{ invitation: Invitation; token: string }> {
  const token = newToken()
  const renewed = {
    role: request.project?.role ?? null,
    organization_role: request.organizationRole,
    token_hash: hashToken(token),
    mailed_token_hash: null,
    invited_by: request.invitedBy,
    expires_at: new Date(request.now.getTime() + VALID_DAYS * DAY_MS),
  }
  const invitation = await tx
    .insertInto('invitation')
    .values({
      id: newId(),
      org_id: request.organizationId,
      project_id: request.project?.id ?? null,
      email: request.email,
      created_at: request.now,
      ...renewed,
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'project_id', 'email']).where('closed_at', 'is', null).doUpdateSet(renewed))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { invitation, token }
}

function newToken(): string {
  return TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Open invitations with the names that the invited person sees. */
function named(db: Db, now: Date) {
  return db
    .selectFrom('invitation as i')
    .innerJoin('organization as o', 'o.id', 'i.org_id')
    .leftJoin('project as p', 'p.id', 'i.project_id')
    .leftJoin('app_user as u', 'u.id', 'i.invited_by')
    .select(['i.id', 'i.org_id as organizationId', 'i.email', 'i.invited_by as invitedBy', 'i.expires_at as expiresAt'])
    .select(['i.organization_role as organizationRole', 'i.role as projectRole'])
    .select(['o.name as organization', 'p.name as project', 'u.name as inviter'])
    .where('i.closed_at', 'is', null)
    .where('i.expires_at', '>', now)
}

export type NamedInvitation = Joined<typeof named>

/** Null if it was accepted or withdrawn meanwhile. */
export async function findForMail(db: Db, id: string, now: Date): Promise<NamedInvitation | null> {
  return (await named(db, now).where('i.id', '=', id).executeTakeFirst()) ?? null
}

export async function findByToken(db: Db, token: string, now: Date): Promise<NamedInvitation | null> {
  const tokenHash = hashToken(token)
  const found = await named(db, now)
    .where((where) => where.or([where('i.token_hash', '=', tokenHash), where('i.mailed_token_hash', '=', tokenHash)]))
    .executeTakeFirst()
  return found ?? null
}

/** Issues a second token that only the email contains, so using it proves access to the mailbox. Replaces the token of an earlier email. */
export async function issueForMail(db: Db, id: string): Promise<string> {
  const token = newToken()
  await db
    .updateTable('invitation')
    .set({ mailed_token_hash: hashToken(token) })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute()
  return token
}

const open = (db: Db, now: Date) => db.selectFrom('invitation').select(COLUMNS).where('closed_at', 'is', null).where('expires_at', '>', now)

export async function listOpen(db: Db, projectId: string, now: Date): Promise<Invitation[]> {
  return await open(db, now).where('project_id', '=', projectId).orderBy('created_at').execute()
}

export async function listOfOrganization(
  db: Db,
  organizationId: string,
  window: { limit: number; offset: number },
  now: Date,
): Promise<Invitation[]> {
  return await open(db, now)
    .where('org_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(window.limit)
    .offset(window.offset)
    .execute()
}

export async function countOfOrganization(db: Db, organizationId: string, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('invitation')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org_id', '=', organizationId)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}

export async function findOpen(db: Db, organizationId: string, id: string, now: Date): Promise<Invitation | null> {
  if (!isUuid(id)) return null
  return (await open(db, now).where('id', '=', id).where('org_id', '=', organizationId).executeTakeFirst()) ?? null
}

const withdrawing = (tx: Tx, now: Date) =>
  tx.updateTable('invitation').set({ closed_at: now, outcome: 'withdrawn' }).where('closed_at', 'is', null)

/** Returns false if there was no open invitation. */
export async function withdraw(tx: Tx, projectId: string, email: string, now: Date): Promise<boolean> {
  const result = await withdrawing(tx, now).where('project_id', '=', projectId).where('email', '=', email).executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Returns false if it was accepted or withdrawn meanwhile. */
export async function withdrawOne(tx: Tx, organizationId: string, id: string, now: Date): Promise<boolean> {
  const result = await withdrawing(tx, now).where('id', '=', id).where('org_id', '=', organizationId).executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function withdrawAll(tx: Tx, projectId: string, now: Date): Promise<void> {
  await withdrawing(tx, now).where('project_id', '=', projectId).execute()
}

export async function withdrawAllOfOrganization(tx: Tx, organizationId: string, now: Date): Promise<void> {
  await withdrawing(tx, now).where('org_id', '=', organizationId).execute()
}

/** Withdraws the open invitations of a user who can no longer invite; a null organization means all. */
export async function withdrawAllBy(tx: Tx, organizationId: string | null, userId: string, now: Date): Promise<void> {
  await withdrawing(tx, now)
    .where('invited_by', '=', userId)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .execute()
}

export interface Accepted extends Invitation {
  /** The token came from the email, so the user has access to the mailbox. */
  wasMailed: boolean
}

/** Redeems a token: adds the user to the organization and, if it names one, the project. Returns null for an invalid token. */
export async function accept(tx: Tx, token: string, userId: string, now: Date): Promise<Accepted | null> {
  const tokenHash = hashToken(token)
  const closed = await tx
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'accepted', accepted_by: userId })
    .where((where) => where.or([where('token_hash', '=', tokenHash), where('mailed_token_hash', '=', tokenHash)]))
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .returning([...COLUMNS, 'mailed_token_hash as mailedTokenHash'])
    .executeTakeFirst()
  if (!closed) return null
  await organizations.addMember(tx, closed.organizationId, userId, closed.organizationRole, now)
  if (closed.projectId && closed.role)
    await tx
      .insertInto('project_member')
      .values({ project_id: closed.projectId, user_id: userId, role: closed.role, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  const { mailedTokenHash, ...accepted } = closed
  return { ...accepted, wasMailed: mailedTokenHash?.equals(tokenHash) ?? false }
}

/** Closes expired invitations and returns their number. */
export async function expire(db: Db, now: Date): Promise<number> {
  const result = await db
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'expired' })
    .where('closed_at', 'is', null)
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}
