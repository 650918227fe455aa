import type { Logger } from 'pino'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { connectionReport } from '#db/connection-report.ts'
import { migrate, pendingContractions } from '#db/migrate.ts'
import { createPartitions } from '#db/partitions.ts'
import { openNotices } from '#db/notices.ts'
import type { Database } from '#db/open.ts'
import { openReplicas, type Replicas } from '#db/replicas/open.ts'
import { requireRestored } from '#db/restore-mark.ts'
import { openServiceDatabase } from '#db/service-database.ts'
import { beginEpoch } from '#model/events/epoch.ts'

/** The database with its newest schema, and the notices by which processes tell each other what to forget. */
export async function startDatabase(config: Config, log: Logger, started: AsyncDisposableStack) {
  const onRestart = (error: Error | null) =>
    error
      ? log.error({ err: error }, 'the embedded PostgreSQL could not be restarted')
      : log.warn('the embedded PostgreSQL had crashed and was restarted')
  const database = await openServiceDatabase({ ...config, onRestart, onWaiting: (line) => log.warn(line) })
  started.defer(() => database.close())
  await requireRestored(database.db)
  await migrate(database.db, { onWaiting: (line) => log.warn(line) })
  const contractions = await pendingContractions(database.db)
  if (contractions.length > 0)
    log.warn(`Migrations are pending until no process of the previous version runs: ${contractions.join(', ')}; see npm run migrate`)
  const postponed = await createPartitions(database.db, systemClock.now())
  if (postponed.length > 0) log.warn(`Partitions could not be created yet, because their tables are in use: ${postponed.join(', ')}`)
  if (await beginEpoch(database.db, systemClock.now()))
    log.warn('The database was restored into another cluster; events continue behind the restored ones')
  for (const line of await connectionReport(database, config)) log.warn(line)
  const notices = openNotices(database.db, database.direct)
  started.defer(() => notices.close())
  return { database, notices, replicas: startReplicas(config, database, log, started) }
}

/** Null without replicas; then nothing is announced and nobody asks. */
function startReplicas(config: Config, database: Database, log: Logger, started: AsyncDisposableStack): Replicas | null {
  if (config.databaseReplicaUrls.length === 0) return null
  const replicas = openReplicas(database, {
    urls: config.databaseReplicaUrls,
    maxLagSeconds: config.databaseReplicaLagSeconds,
    pools: {
      maxConnections: config.databasePool,
      maxSearchConnections: config.databaseSearchPool,
      hasTransactionPooler: config.databasePooler === 'transaction',
    },
    log: { info: (line) => log.info(line), warn: (line) => log.warn(line) },
  })
  started.defer(() => replicas.close())
  return replicas
}
