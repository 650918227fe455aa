/** Whom the provider of a connection knows, and sessions that began at one. A null organization means the installation's provider. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'
import type { Proof } from './sso-rules.ts'

interface Known {
  readonly organizationId: string | null
  readonly issuer: string
  readonly subject: string
}

/** The account; null if this connection has not seen the person before. */
export async function findUser(db: Db, { organizationId, issuer, subject }: Known): Promise<string | null> {
  const row = await db
    .selectFrom('sso_identity')
    .select(['org_id', 'user_id as userId'])
    .where('org_id', organizationId === null ? 'is' : '=', organizationId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.userId ?? null
}

/** Remembers the person. Of two sign-ins at the same time, one links the account and the other finds it linked. */
export async function link(tx: Tx, { organizationId, issuer, subject }: Known, userId: string, now: Date): Promise<void> {
  await tx
    .insertInto('sso_identity')
    .values({ org_id: organizationId, issuer, subject, user_id: userId, created_at: now, last_used_at: now })
    .onConflict((conflict) => conflict.columns(['org_id', 'issuer', 'subject']).doUpdateSet({ last_used_at: now }))
    .execute()
}

/** Marks a session as begun at a provider. */
export async function markSession(tx: Tx, sessionId: string, { organizationId, signedInAt }: Proof, idToken: string | null): Promise<void> {
  await tx
    .insertInto('sso_session')
    .values({ session_id: sessionId, org_id: organizationId, signed_in_at: signedInAt, id_token: idToken })
    .execute()
}

/** Null: the session began with a password. */
export async function proofOf(db: Db, sessionId: string): Promise<(Proof & { idToken: string | null }) | null> {
  const row = await db
    .selectFrom('sso_session')
    .select(['org_id as organizationId', 'signed_in_at as signedInAt', 'id_token as idToken'])
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  return row ?? null
}

/** Ends the sessions that began at the organization's own provider. */
export async function endSessions(tx: Tx, organizationId: string, now: Date): Promise<void> {
  await sql`
    update user_session s set ended_at = ${now} from sso_session p
    where p.session_id = s.id and p.org_id = ${organizationId} and s.ended_at is null
  `.execute(tx)
}

/** Deletes marks whose sessions are gone. */
export async function sweep(db: Db): Promise<void> {
  await sql`
    delete from sso_session p where not exists (select from user_session s where s.id = p.session_id)
  `.execute(db)
}
