import type { Logger } from 'pino'
import type { Config } from '#config.ts'
import { migrate } from '#db/migrate.ts'
import { openNotices } from '#db/notices.ts'
import { openServiceDatabase } from '#db/service-database.ts'

/** The database with its newest schema, and the notices by which processes tell each other what to forget. */
export async function startDatabase(config: Config, log: Logger, started: AsyncDisposableStack) {
  const onRestart = (error: Error | null) =>
    error
      ? log.error({ err: error }, 'the embedded PostgreSQL could not be restarted')
      : log.warn('the embedded PostgreSQL had crashed and was restarted')
  const database = await openServiceDatabase({ ...config, onRestart, onWaiting: (line) => log.warn(line) })
  started.defer(() => database.close())
  await migrate(database.db)
  const notices = openNotices(database.db, database.connection)
  started.defer(() => notices.close())
  return { database, notices }
}
