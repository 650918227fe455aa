/** Composition root: the only place that constructs adapters and touches the process. */
import { destination, type Logger } from 'pino'
import { compose } from './compose.ts'
import { ConfigError, loadConfig, type Config } from './config.ts'
import { systemClock } from '#core/clock.ts'
import { migrate } from '#db/migrate.ts'
import { openQueue } from '#db/queue.ts'
import { openServiceDatabase, type ServiceDatabase } from '#db/service-database.ts'
import { createLog } from '#http/log.ts'
import { buildServer } from '#http/server.ts'
import * as user from '#model/user.ts'
import { startWorkers } from '#pipeline/jobs.ts'
import { banner } from './banner.ts'
import { DEMO_EMAIL, seedDemo } from './demo.ts'
import { jobs, operations } from './registry.ts'

const STOP_TIMEOUT_MS = 25_000
/** Ctrl-C under npm arrives twice, from the terminal and from npm; a person's second thought comes later than this. */
const SAME_SIGNAL_MS = 1_000

interface Service {
  stop(): Promise<void>
}

async function start(config: Config): Promise<Service> {
  const log = createLog(config.logLevel, destination({ dest: 2, sync: false }))
  const database = await openServiceDatabase(config)
  try {
    return await serve(config, log, database)
  } catch (error) {
    await database.close().catch(() => {}) // Whatever failed, no database server is left running for nobody.
    throw error
  }
}

async function serve(config: Config, log: Logger, database: ServiceDatabase): Promise<Service> {
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
  process.stdout.write(banner({ baseUrl, role: config.role, embedded: database.embedded, hasDemo: (await user.findByEmail(database.db, DEMO_EMAIL)) !== null }))

  return {
    async stop() {
      ready = false
      await app.close()
      await queue.stop()
      await composed.close()
      await database.close()
      log.flush()
    },
  }
}

/** The first signal ends what is under way in good order, a start too; a second one, or a stop that hangs, ends it at once. */
function stopOnSignal(starting: Promise<Service>): void {
  let stoppingSinceMs: number | null = null
  const onSignal = () => {
    if (stoppingSinceMs !== null && performance.now() - stoppingSinceMs < SAME_SIGNAL_MS) return
    if (stoppingSinceMs !== null) process.exit(1)
    stoppingSinceMs = performance.now()
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    starting.then((service) => service.stop()).then(() => process.exit(0), (error: unknown) => { console.error(error); process.exit(1) })
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

try {
  const starting = Promise.resolve().then(() => start(loadConfig(process.env))) // Signals are heard before the first step.
  stopOnSignal(starting)
  await starting
} catch (error) {
  if (error instanceof ConfigError) console.error(error.message)
  else if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') console.error(`${(error as Error).message.replace(/^listen EADDRINUSE: /, '')}: set PORT to another one.`)
  else console.error('Groundtrack could not start:', (error as Error).message, '\n', (error as Error).stack)
  process.exit(1)
}
