/** The database that a configuration names, opened the same way by the service and by the operator's tools. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER, type EmbeddedPostgres } from './embedded.ts'
import { DatabaseAway } from './trouble.ts'
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
/** Whoever watches a start is told after this time what it waits for. */
const SAY_AFTER_MS = 2_500
/** Refusals that waiting does not mend: wrong password, no such role or right, no such database. */
const FINAL_CODES = ['28P01', '28000', '3D000', '42501']

interface DatabaseSettings {
  dataDir: string
  databaseUrl: string
  /** Told once, in a line for an operator, when the database has not answered for a moment. */
  onWaiting?: (line: string) => void
  /** Told when the embedded server died and was started again, or could not be. */
  onRestart?: (error: Error | null) => void
}

export async function openServiceDatabase({ dataDir, databaseUrl, onRestart, onWaiting }: DatabaseSettings): Promise<ServiceDatabase> {
  const embedded = databaseUrl ? null : await startEmbedded(dataDir, onRestart ? { onRestart } : {})
  const database = openDatabase(embedded ? { host: embedded.socketDir, user: SUPERUSER, database: 'postgres' } : databaseUrl)
  const close = async () => {
    await database.close()
    await embedded?.leave()
  }
  try {
    await waitForDatabase(database, onWaiting ?? (() => {}))
  } catch (error) {
    await close() // Whatever failed, no database server is left running for nobody.
    throw error
  }
  return { ...database, embedded, close }
}

async function waitForDatabase({ db }: Database, onWaiting: (line: string) => void): Promise<void> {
  const deadline = Date.now() + DATABASE_WAIT_MS
  let reason = 'no answer yet'
  const saying = setTimeout(
    () => onWaiting(`The database cannot be reached (${reason}); trying for ${DATABASE_WAIT_MS / 1000} s. See DATABASE_URL.`),
    SAY_AFTER_MS,
  )
  try {
    for (;;) {
      const failure = await trial(db)
      if (failure === null) return
      reason = failure.reason
      if (Date.now() > deadline || failure.isFinal) throw new DatabaseUnreachable(`The database cannot be reached: ${reason}`)
      await sleep(RETRY_MS)
    }
  } finally {
    clearTimeout(saying)
  }
}

/** Null once the database answers. */
async function trial(db: Database['db']): Promise<{ reason: string; isFinal: boolean } | null> {
  try {
    await sql`select 1`.execute(db)
    return null
  } catch (error) {
    const { code } = (error instanceof DatabaseAway ? error.cause : error) as { code?: string }
    return { reason: (error as Error).message, isFinal: code !== undefined && FINAL_CODES.includes(code) }
  }
}
