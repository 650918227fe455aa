/** Starts the parts of the service in order. Every part registers how to stop it, and they stop in reverse order. */
import { createBaseMaps } from '#adapters/base-maps/base-maps.ts'
import path from 'node:path'
import type { FastifyRequest } from 'fastify'
import { createReadiness, watchReadiness } from '#background/readiness.ts'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { listening } from '#db/notify.ts'
import { openQueue } from '#db/queue.ts'
import { buildServer, closeServer } from '#http/server.ts'
import * as users from '#model/identity/user.ts'
import type { AnyOperation } from '#operation.ts'
import type { AnyTask } from '#task.ts'
import type { DemoClient } from '../../sandbox/demo/demo.ts'
import { banner } from './banner.ts'
import { compose } from './compose.ts'
import { createConsoleBuild } from './console-build.ts'
import { startDatabase } from './database.ts'
import { prepareDemo, shownDemo } from './demo.ts'
import { findings } from './doctor.ts'
import { listen, portsOf } from './listen.ts'
import { openLog } from './log.ts'
import { openMail } from './mail.ts'
import { openSingleSignOn } from './sso.ts'
import { startPayments } from './payments.ts'
import { drain, Phase, probesOf } from './readiness.ts'
import { declareRunning } from './running.ts'
import { openSecrets } from './secrets.ts'
import { startSideWork } from './side-work.ts'
import { startStorage } from './storage.ts'
import { startTasks } from './tasks.ts'
import { startTracing } from './tracing.ts'
import { startVendors } from './vendors.ts'
import { openWebhooks, startReceiver } from './webhooks.ts'
import { readWorkersFile } from './workers.ts'

export interface Service {
  stop(): Promise<void>
}

/** What this process serves; a test can add operations of its own, and allow work on rasters more time. */
export interface Catalogue {
  operations: ReadonlyMap<string, AnyOperation>
  tasks: readonly AnyTask[]
  deadlineFactor?: number
}

/** If a part cannot start, those that did are stopped again. */
export async function startService(config: Config, catalogue: Catalogue): Promise<Service> {
  const started = new AsyncDisposableStack()
  try {
    await startParts(config, catalogue, started)
    return { stop: () => started.disposeAsync() }
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

const imagerySettings = ({ cogCompression, rasterProcesses, jobPartSamples, cdnSeconds, tileCache }: Config) => ({
  cogCompression,
  rasterProcesses,
  jobPartSamples,
  cdnSeconds,
  tileCache,
})

async function startParts(config: Config, catalogue: Catalogue, started: AsyncDisposableStack): Promise<void> {
  const log = openLog(config, started)
  await startTracing(config, log, started)
  const { database, notices, replicas } = await startDatabase(config, log, started)
  const { db } = database
  const isWorker = config.role !== 'api'
  const queue = await openQueue(db, { worker: isWorker, onError: (error) => log.error({ err: error }, 'queue') })
  started.defer(() => queue.stop()) // Only if a later part cannot start; otherwise the queue stops earlier, before what its tasks use.

  let baseUrl = config.baseUrl // With PORT=0, the port is known once the server listens.
  const phase = new Phase()
  const roles = { systemAdminEmails: config.systemAdminEmails, clipUserEmail: config.clipUserEmail, maySignUp: config.isLocal }
  const { storage, storeOrigins } = await startStorage(config, { db, log, baseUrl: () => baseUrl }, started)
  const noticeUrl = () => (phase.isReady ? `${baseUrl}/webhooks/payments` : null)
  const { payments, sandboxPayments } = await startPayments(config, { db, noticeUrl }, started)
  const receiver = await startReceiver(config, started)
  const secrets = openSecrets(config)
  const composed = await compose({
    db,
    storage,
    payments,
    secrets,
    ...(await startVendors(config, { db, log, secrets }, started)),
    webhooks: openWebhooks(config, receiver),
    mail: openMail(config, log),
    sso: openSingleSignOn(config),
    listen: listening(database.direct),
    workers: await readWorkersFile(config),
    connectionUse: database.connectionUse,
    clock: systemClock,
    queue,
    log,
    baseUrl: () => baseUrl,
    ...catalogue,
    roles,
    cogHosts: config.cogHosts,
    egressAllow: config.egressAllow,
    workDir: path.join(config.dataDir, 'work'),
    ...imagerySettings(config),
    notices,
    replicas,
    retention: config.retention,
  })
  started.defer(() => composed.close())
  started.defer(() => queue.stop())
  await users.withdrawRoles(db, roles)
  for (const finding of findings(config)) log.warn(`Unsafe setting: ${finding}`)
  await prepareDemo(config, composed, log)

  const build = createConsoleBuild()
  const demo = () => shownDemo(config, composed.platform, receiver)
  const demoClient: DemoClient = { authorization: null }
  const isQuiet = ({ headers }: FastifyRequest) => headers.authorization !== undefined && headers.authorization === demoClient.authorization
  const readiness = createReadiness(probesOf(database, storage), (line) => log.warn(line))
  composed.metrics.showDependencies(readiness.dependencies)
  const health = { readiness: () => phase.reason ?? readiness.reason(), isDraining: () => phase.isDraining }
  const baseMaps = createBaseMaps({ maps: config.baseMaps, clock: systemClock, egressAllow: config.egressAllow })
  started.defer(() => baseMaps.close())
  const server = { log, baseMaps, ...health, api: config.role !== 'worker', sandboxPayments, demo, isQuiet }
  const app = buildServer({ ...config, ...composed, ...server, console: { progress: build.progress, storeOrigins } })
  started.defer(() => closeServer(app))
  const address = await listen(app, config)
  if (config.port === 0) baseUrl = baseUrl.replace(/:0$/, `:${new URL(address).port}`)
  started.defer(declareRunning(config.dataDir, { url: baseUrl, ports: portsOf(config, address) }))
  if (isWorker) await startTasks(composed, catalogue.tasks, log, started)
  started.defer(watchReadiness(readiness))
  phase.reason = null
  process.stdout.write(banner({ baseUrl, role: config.role, embedded: database.embedded, demo: await demo() }))
  startSideWork(config, { composed, build, baseUrl, log, demoClient }, started)
  started.defer(() => drain(phase, config)) // First of all.
}
