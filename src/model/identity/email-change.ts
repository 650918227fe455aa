/** Changes of an account's email address, which take effect when a link in an email to the new address is used. */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { DAY_MS } from '#core/time.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db, Tx } from '#db/tables.ts'

const LIFETIME_MS = DAY_MS

const hash = (token: string): Buffer => createHash('sha256').update(token).digest()

/** A later request replaces an earlier one, whose link no longer works. */
export async function request(tx: Tx, userId: string, email: string, now: Date): Promise<void> {
  const change = { email, token_hash: null, created_at: now, expires_at: new Date(now.getTime() + LIFETIME_MS) }
  await tx
    .insertInto('email_change')
    .values({ user_id: userId, ...change })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(change))
    .execute()
}

/** The token for the email; null if the change was withdrawn or replaced meanwhile. */
export async function issue(db: Db, userId: string, email: string): Promise<string | null> {
  const token = randomBytes(32).toString('base64url')
  const result = await db
    .updateTable('email_change')
    .set({ token_hash: hash(token) })
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n ? token : null
}

/** Uses a token up. Null if it was used, replaced, has expired, or its user is inactive. */
export async function spend(tx: Tx, token: string, now: Date): Promise<{ userId: string; email: string } | null> {
  const { rows } = await sql<{ userId: string; email: string }>`
    delete from email_change c using app_user u
    where c.token_hash = ${hash(token)} and c.expires_at > ${now} and u.id = c.user_id and u.is_active
    returning c.user_id as "userId", c.email
  `.execute(tx)
  return rows[0] ?? null
}

export async function pendingOf(db: Db, userId: string, now: Date): Promise<string | null> {
  const row = await db
    .selectFrom('email_change')
    .select('email')
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row?.email ?? null
}

export async function withdraw(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('email_change').where('user_id', '=', userId).execute()
}

export async function sweep(db: Db, now: Date): Promise<void> {
  await deleteInBatches(db, { table: 'email_change', key: ['user_id'], where: sql<boolean>`expires_at < ${now}` })
}
