import { Kysely } from 'kysely'
import type { Db, Tables } from './tables.ts'

/** The database, with connections for purposes that need their own. */
export class ConnectedDatabase extends Kysely<Tables> {
  /** Configured for streaming searches; null if there are none, as behind a pooler. */
  streaming: Db | null = null
  /** To the server itself, also where `DATABASE_URL` is a pooler, and without a deadline: for migrations and locks. */
  direct: Db | null = null
}

export const streamingOf = (db: Db): Db | null => (db instanceof ConnectedDatabase ? db.streaming : null)

export const directOf = (db: Db): Db => (db instanceof ConnectedDatabase && db.direct) || db
