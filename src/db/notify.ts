import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** Tells whoever listens on the channel, in whichever process. */
export async function notify(db: Db, channel: string): Promise<void> {
  await sql`select pg_notify(${channel}, '')`.execute(db)
}
