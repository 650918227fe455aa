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
