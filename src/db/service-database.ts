/** The database that a configuration names, opened the same way by the service and by the operator's tools. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER, type EmbeddedPostgres } from './embedded.ts'
import { openDatabase, type Database } from './open.ts'

interface ServiceDatabase extends Database {
  /** Null with DATABASE_URL. */
  embedded: EmbeddedPostgres | null
  /** Closes the connections, and stops the embedded server unless another process still uses it. */
  close(): Promise<void>
}

/** Says in one line what an operator has to look at. */
export class DatabaseUnreachable extends Error {}

const DATABASE_WAIT_MS = 30_000
const RETRY_MS = 250
/** Refusals that waiting does not mend: wrong password, no such role or right, no such database. */
const FINAL_CODES = ['28P01', '28000', '3D000', '42501']

interface DatabaseSettings {
  dataDir: string
  databaseUrl: string
  /** Told when the embedded server died and was started again, or could not be. */
  onRestart?: (error: Error | null) => void
}

export async function openServiceDatabase({ dataDir, databaseUrl, onRestart }: DatabaseSettings): Promise<ServiceDatabase> {
  const embedded = databaseUrl ? null : await startEmbedded(dataDir, onRestart ? { onRestart } : {})
  const database = openDatabase(embedded ? { host: embedded.socketDir, user: SUPERUSER, database: 'postgres' } : databaseUrl)
  const close = async () => {
    await database.close()
    await embedded?.leave()
  }
  try {
    await waitForDatabase(database)
  } catch (error) {
    await close() // Whatever failed, no database server is left running for nobody.
    throw error
  }
  return { ...database, embedded, close }
}

async function waitForDatabase({ db }: Database): Promise<void> {
  const deadline = Date.now() + DATABASE_WAIT_MS
  for (;;) {
    try {
      await sql`select 1`.execute(db)
      return
    } catch (error) {
      const { code } = error as { code?: string }
      if (Date.now() > deadline || (code && FINAL_CODES.includes(code)))
        throw new DatabaseUnreachable(`The database cannot be reached: ${(error as Error).message}`)
      await sleep(RETRY_MS)
    }
  }
}
