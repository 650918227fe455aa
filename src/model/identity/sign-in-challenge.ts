/** Sign-ins and proofs in progress: what was shown so far, and what a passkey has to sign. */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/time.ts'
import type { ChallengePurpose } from '#core/vocabulary.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Row } from '#db/row.ts'
import type { Db } from '#db/tables.ts'

const LIFETIME_MS = 5 * MINUTE_MS
export const LIFETIME_SECONDS = LIFETIME_MS / 1000

const COLUMNS = ['user_id as userId', 'purpose', 'wanted_organization as wantedOrganization', 'challenge'] as const

export type Challenge = Row<'sign_in_challenge', typeof COLUMNS>

const hash = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Returns the token; only its hash is stored. */
export async function issue(
  db: Db,
  { userId, purpose, wantedOrganization = null, challenge = null }: Partial<Challenge> & { purpose: ChallengePurpose },
  now: Date,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('sign_in_challenge')
    .values({
      token_hash: hash(token),
      user_id: userId ?? null,
      purpose,
      wanted_organization: wantedOrganization,
      challenge,
      created_at: now,
      expires_at: new Date(now.getTime() + LIFETIME_MS),
    })
    .execute()
  return token
}

export async function find(db: Db, token: string, purpose: ChallengePurpose, now: Date): Promise<Challenge | null> {
  const row = await db
    .selectFrom('sign_in_challenge')
    .select(COLUMNS)
    .where('token_hash', '=', hash(token))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row ?? null
}

/** Sets what a passkey has to sign; it replaces what was asked before. */
export async function ask(db: Db, token: string, challenge: string): Promise<void> {
  await db.updateTable('sign_in_challenge').set({ challenge }).where('token_hash', '=', hash(token)).execute()
}

/** Ends a challenge. Of concurrent calls, one returns true. */
export async function spend(db: Db, token: string): Promise<boolean> {
  const result = await db.deleteFrom('sign_in_challenge').where('token_hash', '=', hash(token)).executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** When the password or the factors change, sign-ins in progress begin again. */
export async function endAllOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('sign_in_challenge').where('user_id', '=', userId).execute()
}

export async function sweep(db: Db, now: Date): Promise<void> {
  await deleteInBatches(db, { table: 'sign_in_challenge', key: ['token_hash'], where: sql<boolean>`expires_at < ${now}` })
}
