/** Composition root: the only place that constructs adapters and touches the process. */
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { destination } from 'pino'
import { compose } from './compose.ts'
import { ConfigError, loadConfig, type Config } from './config.ts'
import { systemClock } from '#core/clock.ts'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { APPLICATION_NAME, openDatabase, type Database } from '#db/open.ts'
import { openQueue } from '#db/queue.ts'
import { createLog } from '#http/log.ts'
import { buildServer } from '#http/server.ts'
import * as user from '#model/user.ts'
import { startWorkers } from '#pipeline/jobs.ts'
import { banner } from './banner.ts'
import { DEMO_EMAIL, seedDemo } from './demo.ts'
import { jobs, operations } from './registry.ts'

const DATABASE_WAIT_MS = 30_000
const STOP_TIMEOUT_MS = 25_000

async function start(config: Config): Promise<{ stop(): Promise<void> }> {
  const log = createLog(config.logLevel, destination({ dest: 2, sync: false }))
  mkdirSync(config.dataDir, { recursive: true })
  const embedded = config.databaseUrl ? null : await startEmbedded(config.dataDir)
  const database = openDatabase(embedded ? { host: embedded.socketDir, user: SUPERUSER, database: 'postgres' } : config.databaseUrl)
  await waitForDatabase(database)
  const { applied } = await migrate(database.db)
  const isWorker = config.role !== 'api'
  const queue = await openQueue(database.db, { worker: isWorker, onError: (error) => log.error({ err: error }, 'queue') })

  let baseUrl = config.baseUrl
  let ready = false
  const roles = { systemAdminEmails: config.systemAdminEmails, clipUserEmail: config.clipUserEmail, maySignUp: config.isLoopback }
  const composed = await compose({ db: database.db, connectionCount: database.connectionCount, clock: systemClock, queue, log, baseUrl: () => baseUrl, operations, jobs, roles, cogHosts: config.cogHosts, egressAllow: config.egressAllow })
  await user.withdrawRoles(database.db, roles)
  const wantsDemo = config.demo ?? (config.isLoopback && applied.length > 0)
  if (wantsDemo && config.role !== 'worker') await seedDemo(composed.platform, composed.auth)

  const app = buildServer({ ...composed, log, isReady: () => ready, api: config.role !== 'worker' })
  const address = await app.listen({ port: config.port, host: config.host })
  if (config.port === 0) baseUrl = baseUrl.replace(/:0$/, `:${new URL(address).port}`)
  if (isWorker) await startWorkers(composed.jobPlatform, jobs)
  ready = true
  process.stdout.write(banner({ baseUrl, role: config.role, dataDir: config.dataDir, embedded, hasDemo: (await user.findByEmail(database.db, DEMO_EMAIL)) !== null }))

  return {
    async stop() {
      ready = false
      await app.close()
      await queue.stop()
      await composed.close()
      const isLast = embedded ? await isLastClient(database) : false
      await database.close()
      if (embedded && isLast) await embedded.stop()
      log.flush()
    },
  }
}

async function waitForDatabase({ db }: Database): Promise<void> {
  const deadline = Date.now() + DATABASE_WAIT_MS
  for (;;) {
    try {
      await sql`select 1`.execute(db)
      return
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`The database cannot be reached: ${(error as Error).message}`)
      await sleep(250)
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

/** The first signal ends what is under way in good order; a second one, or a stop that hangs, ends it at once. */
function stopOnSignal(service: { stop(): Promise<void> }): void {
  let stopping = false
  const onSignal = () => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    service.stop().then(() => process.exit(0), (error: unknown) => { console.error(error); process.exit(1) })
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

try {
  stopOnSignal(await start(loadConfig(process.env)))
} catch (error) {
  if (error instanceof ConfigError) console.error(error.message)
  else console.error('Groundtrack could not start:', (error as Error).message, '\n', (error as Error).stack)
  process.exit(1)
}
