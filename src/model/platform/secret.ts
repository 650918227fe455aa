import { randomBytes } from 'node:crypto'
import type { Db } from '#db/tables.ts'

/** 32 bytes, the same for every process on this database; whoever asks first makes them. */
export async function secretOf(db: Db, name: string, now: Date): Promise<Buffer> {
  await db
    .insertInto('shared_secret')
    .values({ name, value: randomBytes(32), created_at: now })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db.selectFrom('shared_secret').select('value').where('name', '=', name).executeTakeFirstOrThrow()
  return value
}

/** Remembers 32 bytes that were made elsewhere; those from before are forgotten. */
export async function keep(db: Db, name: string, value: Buffer, now: Date): Promise<void> {
  await db
    .insertInto('shared_secret')
    .values({ name, value, created_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value, created_at: now }))
    .execute()
}

export async function kept(db: Db, name: string): Promise<Buffer | null> {
  return (await db.selectFrom('shared_secret').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null
}
