/** The second factors of an account: an authenticator app, passkeys and recovery codes. */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Seal } from '#core/seal.ts'
import { MINUTE_MS } from '#core/time.ts'
import { matchingStep, newSecret, toBase32 } from '#core/totp.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as challenges from './sign-in-challenge.ts'

/** How long a new secret waits for its first code. */
const PENDING_MS = 15 * MINUTE_MS
const RECOVERY_CODES = 10
/** 80 bits: a hash without a salt is enough. */
const RECOVERY_BYTES = 10

export interface Standing {
  totpSince: Date | null
  passkeys: number
  recoveryCodesLeft: number
}

export async function standingOf(db: Db, userId: string): Promise<Standing> {
  const { rows } = await sql<Standing>`
    select (select created_at from totp_factor where user_id = ${userId} and secret is not null) as "totpSince",
      (select count(*)::int from passkey where user_id = ${userId}) as passkeys,
      (select count(*)::int from recovery_code where user_id = ${userId} and used_at is null) as "recoveryCodesLeft"
  `.execute(db)
  return rows[0]!
}

export const isOn = ({ totpSince, passkeys }: Standing): boolean => totpSince !== null || passkeys > 0

/** Names of the user's organizations that require two factors. */
export async function requiredBy(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_member as m')
    .innerJoin('organization as o', 'o.id', 'm.org_id')
    .select('o.name')
    .where('m.user_id', '=', userId)
    .where('o.requires_two_factors', '=', true)
    .orderBy('o.name')
    .execute()
  return rows.map(({ name }) => name)
}

const about = (userId: string): string => `totp:${userId}`

/** Returns a new secret, which counts once a code has confirmed it. Until then an earlier one stays. */
export async function startTotp(db: Db, seal: Seal, userId: string, now: Date): Promise<string> {
  const secret = newSecret()
  const pending = { pending_secret: seal.close(secret, about(userId)), pending_until: new Date(now.getTime() + PENDING_MS) }
  await db
    .insertInto('totp_factor')
    .values({ user_id: userId, created_at: now, ...pending })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(pending))
    .execute()
  return secret
}

/** Whether the code belongs to the new secret, which then replaces an earlier one. */
export async function confirmTotp(tx: Tx, seal: Seal, userId: string, code: string, now: Date): Promise<boolean> {
  const row = await tx
    .selectFrom('totp_factor')
    .select('pending_secret as pending')
    .where('user_id', '=', userId)
    .where('pending_until', '>', now)
    .forUpdate()
    .executeTakeFirst()
  const secret = row?.pending ? seal.open(row.pending, about(userId)) : null
  const step = secret === null ? null : matchingStep(secret, code, now)
  if (step === null) return false
  await tx
    .updateTable('totp_factor')
    .set(({ ref }) => ({ secret: ref('pending_secret'), pending_secret: null, pending_until: null, created_at: now, last_step: step }))
    .where('user_id', '=', userId)
    .execute()
  return true
}

/** Whether the code is right, and later than the last one that was accepted. Of concurrent calls with one code, one returns true. */
export async function spendTotp(db: Db, seal: Seal, userId: string, code: string, now: Date): Promise<boolean> {
  const row = await db.selectFrom('totp_factor').select('secret').where('user_id', '=', userId).executeTakeFirst()
  const secret = row?.secret ? seal.open(row.secret, about(userId)) : null
  const step = secret === null ? null : matchingStep(secret, code, now)
  if (step === null) return false
  const result = await db
    .updateTable('totp_factor')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('secret', '=', row!.secret)
    .where((e) => e.or([e('last_step', 'is', null), e('last_step', '<', step)]))
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function removeTotp(tx: Tx, userId: string): Promise<boolean> {
  const result = await tx.deleteFrom('totp_factor').where('user_id', '=', userId).where('secret', 'is not', null).executeTakeFirst()
  return result.numDeletedRows === 1n
}

const hashOfCode = (code: string): Buffer => createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest()

/** Replaces all recovery codes. They are returned once; only their hashes are stored. */
export async function renewRecoveryCodes(tx: Tx, userId: string, now: Date): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    toBase32(randomBytes(RECOVERY_BYTES))
      .toLowerCase()
      .replaceAll(/(.{4})(?=.)/g, '$1-'),
  )
  await tx.deleteFrom('recovery_code').where('user_id', '=', userId).execute()
  await tx
    .insertInto('recovery_code')
    .values(codes.map((code) => ({ user_id: userId, code_hash: hashOfCode(code), created_at: now })))
    .execute()
  return codes
}

/** Whether the code is one that was not used; it is used now. */
export async function spendRecoveryCode(db: Db, userId: string, code: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('recovery_code')
    .set({ used_at: now })
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashOfCode(code))
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Removes every factor: the password alone signs in from now on. Returns whether there was one. */
export async function removeAll(tx: Tx, userId: string): Promise<boolean> {
  const had = isOn(await standingOf(tx, userId))
  for (const table of ['totp_factor', 'passkey', 'recovery_code'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
  await challenges.endAllOf(tx, userId)
  return had
}
