import { randomBytes } from 'node:crypto'
import type { Db } from '#db/tables.ts'

/** 32 bytes shared by all processes on this database, created on first use. */
export async function secretOf(db: Db, name: string, now: Date): Promise<Buffer> {
  await db
    .insertInto('shared_secret')
    .values({ name, value: randomBytes(32), created_at: now })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db.selectFrom('shared_secret').select('value').where('name', '=', name).executeTakeFirstOrThrow()
  return value
}

/** A secret that was replaced is accepted for as long as anything that was signed with it can be valid. */
const previousOf = (name: string): string => `${name} before`

export interface RotatedSecret {
  readonly current: Buffer
  /** Null if there was none, or if it has expired. */
  readonly previous: Buffer | null
}

/** The secret, and its predecessor if it was replaced less than `acceptSeconds` ago. */
export async function rotatedSecretOf(db: Db, name: string, now: Date, acceptSeconds: number): Promise<RotatedSecret> {
  const current = await secretOf(db, name, now)
  const previous = await db
    .selectFrom('shared_secret')
    .select('value')
    .where('name', '=', previousOf(name))
    .where('created_at', '>', new Date(now.getTime() - acceptSeconds * 1_000))
    .executeTakeFirst()
  return { current, previous: previous?.value ?? null }
}

/** Replaces the secret; the one before stays valid for a while, and the one before that ends now. */
export async function rotateSecret(db: Db, name: string, now: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const current = await tx.selectFrom('shared_secret').select('value').where('name', '=', name).forUpdate().executeTakeFirst()
    if (current) await store(tx, previousOf(name), current.value, now)
    await store(tx, name, randomBytes(32), now)
  })
}

/** Stores 32 bytes that were created elsewhere, replacing earlier ones. */
export async function store(db: Db, name: string, value: Buffer, now: Date): Promise<void> {
  await db
    .insertInto('shared_secret')
    .values({ name, value, created_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value, created_at: now }))
    .execute()
}

export async function find(db: Db, name: string): Promise<Buffer | null> {
  return (await db.selectFrom('shared_secret').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null
}
