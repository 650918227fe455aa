import { sql } from 'kysely'
import { createHash, randomBytes } from 'node:crypto'
import { DAY_MS, MINUTE_MS } from '#core/time.ts'
import type { MailTokenPurpose } from '#core/vocabulary.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db, Tx } from '#db/tables.ts'

const LIFETIME_MS: Readonly<Record<MailTokenPurpose, number>> = { reset: 30 * MINUTE_MS, confirm: 7 * DAY_MS }

const hash = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Returns a token for an email; only its hash is stored. */
export async function issue(db: Db, owner: { id: string; email: string }, purpose: MailTokenPurpose, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('mail_token')
    .values({
      token_hash: hash(token),
      user_id: owner.id,
      purpose,
      email: owner.email,
      created_at: now,
      expires_at: new Date(now.getTime() + LIFETIME_MS[purpose]),
    })
    .execute()
  return token
}

/** Uses a token up, and all others for the same purpose. Returns null if it is used, expired or unknown, or the address has changed. */
export async function spend(tx: Tx, token: string, purpose: MailTokenPurpose, now: Date): Promise<string | null> {
  const row = await tx
    .updateTable('mail_token as t')
    .from('app_user as u')
    .set({ used_at: now })
    .where('t.token_hash', '=', hash(token))
    .where('t.purpose', '=', purpose)
    .where('t.used_at', 'is', null)
    .where('t.expires_at', '>', now)
    .whereRef('u.id', '=', 't.user_id')
    .whereRef('u.email', '=', 't.email')
    .where('u.is_active', '=', true)
    .returning('t.user_id as userId')
    .executeTakeFirst()
  if (!row) return null
  await tx
    .updateTable('mail_token')
    .set({ used_at: now })
    .where('user_id', '=', row.userId)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .execute()
  return row.userId
}

export async function spendAll(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.updateTable('mail_token').set({ used_at: now }).where('user_id', '=', userId).where('used_at', 'is', null).execute()
}

export async function sweep(db: Db, before: Date): Promise<void> {
  await deleteInBatches(db, { table: 'mail_token', key: ['token_hash'], where: sql<boolean>`expires_at < ${before}` })
}
