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
