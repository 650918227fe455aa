/** Opens the configured database, in the same way for the service and the operator's tools. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SUPERUSER, type EmbeddedPostgres } from './embedded.ts'
import { takeEmbedded } from './embedded-service.ts'
import { DatabaseUnavailable } from './failures.ts'
import { openDatabase, type Database } from './open.ts'

interface ServiceDatabase extends Database {
  /** Null if DATABASE_URL is set. */
  embedded: EmbeddedPostgres | null
  /** Closes the connections, and stops the embedded server unless another process uses it. */
  close(): Promise<void>
}

/** Its message tells the operator in one line what to check. */
export class DatabaseUnreachable extends Error {}

const DATABASE_WAIT_MS = 30_000
const RETRY_MS = 250
/** After this time, the log says what the start is waiting for. */
const SAY_AFTER_MS = 2_500
/** Errors that waiting does not fix: wrong password, missing role or privilege, missing database, certificate of another server. */
const FINAL_CODES = ['28P01', '28000', '3D000', '42501'].concat(
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
)

interface DatabaseSettings {
  dataDir: string
  databaseUrl: string
  databaseDirectUrl: string
  databasePooler: string
  databasePool: number
  databaseSearchPool: number
  /** Called once, with a line for the operator, if the database has not responded for a moment. */
  onWaiting?: (line: string) => void
  /** Called when the embedded server crashed and was restarted, or could not be restarted. */
  onRestart?: (error: Error | null) => void
}

export async function openServiceDatabase(settings: DatabaseSettings): Promise<ServiceDatabase> {
  const { databaseUrl, databaseDirectUrl, databasePool, databaseSearchPool, onRestart, onWaiting } = settings
  const embedded = databaseUrl ? null : await takeEmbedded(settings, onRestart ?? (() => {}))
  const database = openDatabase(embedded ? { host: embedded.socketDir, user: SUPERUSER, database: 'postgres' } : databaseUrl, {
    maxConnections: databasePool,
    maxSearchConnections: databaseSearchPool,
    hasTransactionPooler: settings.databasePooler === 'transaction',
    direct: embedded ? null : databaseDirectUrl,
  })
  const close = async () => {
    await database.close()
    await embedded?.leave()
  }
  try {
    await waitForDatabase(database, onWaiting ?? (() => {}))
  } catch (error) {
    await close() // On failure, no database server is left running.
    throw error
  }
  return { ...database, embedded, close }
}

async function waitForDatabase({ db }: Database, onWaiting: (line: string) => void): Promise<void> {
  const deadline = Date.now() + DATABASE_WAIT_MS
  let reason = 'no response yet'
  const saying = setTimeout(
    () => onWaiting(`The database cannot be reached (${reason}); retrying for ${DATABASE_WAIT_MS / 1000} s. Check DATABASE_URL.`),
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

/** Null once the database responds. */
async function trial(db: Database['db']): Promise<{ reason: string; isFinal: boolean } | null> {
  try {
    await sql`select 1`.execute(db)
    return null
  } catch (error) {
    const { code } = (error instanceof DatabaseUnavailable ? error.cause : error) as { code?: string }
    return { reason: (error as Error).message, isFinal: code !== undefined && FINAL_CODES.includes(code) }
  }
}
