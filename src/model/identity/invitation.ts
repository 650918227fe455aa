import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import type { ProjectRole } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as organization from './organization.ts'

const VALID_DAYS = 14

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'email',
  'role',
  'created_at as createdAt',
  'expires_at as expiresAt',
] as const

export type Invitation = Row<'invitation', typeof COLUMNS>

/** Inviting the same address to the same project again renews the invitation and takes the newer role. */
export async function put(
  tx: Tx,
  invitation: { organizationId: string; projectId: string; email: string; role: ProjectRole; invitedBy: string | null; now: Date },
): Promise<Invitation> {
  const { now, role, email } = invitation
  const expiresAt = new Date(now.getTime() + VALID_DAYS * DAY_MS)
  return await tx
    .insertInto('invitation')
    .values({
      id: newId(),
      org_id: invitation.organizationId,
      project_id: invitation.projectId,
      email,
      role,
      invited_by: invitation.invitedBy,
      created_at: now,
      expires_at: expiresAt,
    })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'email']).where('closed_at', 'is', null).doUpdateSet({ role, expires_at: expiresAt }),
    )
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function listOpen(db: Db, projectId: string, now: Date): Promise<Invitation[]> {
  return await db
    .selectFrom('invitation')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .execute()
}

/** False when there was no open invitation. */
export async function withdraw(tx: Tx, projectId: string, email: string, now: Date): Promise<boolean> {
  const done = await tx
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'withdrawn' })
    .where('project_id', '=', projectId)
    .where('email', '=', email)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function withdrawAll(tx: Tx, projectId: string, now: Date): Promise<void> {
  await tx
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'withdrawn' })
    .where('project_id', '=', projectId)
    .where('closed_at', 'is', null)
    .execute()
}

/** Part of signing up and signing in: joins the person to every organization and project that waits for the address. */
export async function acceptAll(tx: Tx, user: { id: string; email: string }, now: Date): Promise<string[]> {
  const rows = await tx
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'accepted' })
    .where('email', '=', user.email)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(COLUMNS)
    .execute()
  for (const row of rows) {
    await organization.addMember(tx, row.organizationId, user.id, now)
    await tx
      .insertInto('project_member')
      .values({ project_id: row.projectId, user_id: user.id, role: row.role, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  return [...new Set(rows.map((row) => row.organizationId))]
}

/** Closes what ran out; says how many. */
export async function expire(db: Db, now: Date): Promise<number> {
  const done = await db
    .updateTable('invitation')
    .set({ closed_at: now, outcome: 'expired' })
    .where('closed_at', 'is', null)
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(done.numUpdatedRows)
}
