/** The database that a configuration names, opened the same way by the service and by the operator's tools. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER, type EmbeddedPostgres } from './embedded.ts'
import { APPLICATION_NAME, openDatabase, type Database } from './open.ts'

export interface ServiceDatabase extends Database {
  /** Null with DATABASE_URL. */
  embedded: EmbeddedPostgres | null
  /** Closes the connections, and stops the embedded server unless another process still uses it. */
  close(): Promise<void>
}

const DATABASE_WAIT_MS = 30_000
const RETRY_MS = 250
/** Refusals that waiting does not mend: wrong password, no such role or right, no such database. */
const FINAL_CODES = ['28P01', '28000', '3D000', '42501']

export async function openServiceDatabase({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string }): Promise<ServiceDatabase> {
  const embedded = databaseUrl ? null : await startEmbedded(dataDir)
  const database = openDatabase(embedded ? { host: embedded.socketDir, user: SUPERUSER, database: 'postgres' } : databaseUrl)
  const close = async () => {
    const isLast = embedded ? await isLastClient(database) : false
    await database.close()
    if (isLast) await embedded!.stop()
  }
  try {
    await waitForDatabase(database)
  } catch (error) {
    await database.close()
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
      if (Date.now() > deadline || (code && FINAL_CODES.includes(code))) throw new Error(`The database cannot be reached: ${(error as Error).message}`)
      await sleep(RETRY_MS)
    }
  }
}

/** Another process on the same DATA_DIR keeps the embedded server for itself. */
async function isLastClient({ db }: Database): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_stat_activity
    where application_name like ${`${APPLICATION_NAME}%`} and application_name <> current_setting('application_name')
  `.execute(db)
  return rows[0]!.n === 0
}
