/** Composition root: the only place that constructs adapters and touches the process. */
import path from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { destination, type DestinationStream, type Logger } from 'pino'
import { compose } from './compose.ts'
import { ConfigError, loadConfig, type Config } from './config.ts'
import { createMailFolder } from '#adapters/mail/files.ts'
import { createSmtpMail } from '#adapters/mail/smtp.ts'
import { AreasError, readClipAreas } from '#adapters/clip/areas.ts'
import { createStripePayments } from '#adapters/payments/stripe.ts'
import { startStoreListener } from '#adapters/storage/listener.ts'
import { openStorage } from '#adapters/storage/open.ts'
import { readRegistry, RegistryError } from '#adapters/vendors/registry.ts'
import { createVendors, fileHostsOf } from '#adapters/vendors/vendors.ts'
import { readWorkers, WorkersError } from '#adapters/workers/registry.ts'
import { PROCESSES } from './services/processing/catalogue.ts'
import type { Workers } from './ports/workers.ts'
import type { Storage } from './ports/storage.ts'
import { systemClock } from '#core/clock.ts'
import type { Payments } from './ports/payments.ts'
import { createWebhooks } from '#adapters/webhooks/sender.ts'
import type { Mail } from './ports/mail.ts'
import type { Webhooks } from './ports/webhooks.ts'
import type { Db } from '#db/tables.ts'
import { openNotices } from '#db/notices.ts'
import { listening } from '#db/notify.ts'
import { migrate } from '#db/migrate.ts'
import { openQueue } from '#db/queue.ts'
import { DatabaseUnreachable, openServiceDatabase } from '#db/service-database.ts'
import { createLog } from '#http/log.ts'
import type { ShownDemo } from '#http/local.ts'
import { terminalLog } from '#http/terminal.ts'
import { buildServer, closeServer } from '#http/server.ts'
import type { AnyTask } from './task.ts'
import * as projects from './model/identity/project.ts'
import { secretOf } from './model/platform/secret.ts'
import * as users from './model/identity/user.ts'
import type { AnyOperation } from '#operation.ts'
import type { Platform } from '#pipeline/platform.ts'
import { createEgressRecorder } from './background/egress.ts'
import { createUploadQuota } from './background/upload-quota.ts'
import { startWorkers } from './background/tasks.ts'
import { startWatch } from './watch.ts'
import type { SandboxPayments } from '../sandbox/payments/server.ts'
import type { SandboxReceiver } from '../sandbox/webhooks/receiver.ts'
import { banner } from './banner.ts'
import { createConsoleBuild, type ConsoleBuild } from './console.ts'
import { folderProblem, requireFolder } from './data-folder.ts'
import { findings } from './doctor.ts'
import { listenProblem } from './listen-problem.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { demoLink, fillDemo, seedDemo, type DemoClient } from '../sandbox/demo/demo.ts'
import { demoFields } from '../sandbox/demo/fields.ts'
import { demoReporter } from '../sandbox/demo/progress.ts'
import { operations, tasks } from './registry.ts'
import { declareRunning } from './running.ts'

const STOP_TIMEOUT_MS = 25_000
/** Ctrl-C under npm arrives twice, from the terminal and from npm; a person's second thought comes later than this. */
const SAME_SIGNAL_MS = 1_000
/** Log lines are written together, at the latest after this time. */
const LOG_FLUSH_MS = 200
const LOG_BUFFER_BYTES = 8_192

interface Service {
  stop(): Promise<void>
}

/** What this process serves; a test may add operations of its own. */
interface Catalogue {
  operations: ReadonlyMap<string, AnyOperation>
  tasks: readonly AnyTask[]
}

/** What has been started is undone in reverse order, whether the service stops or could not start. */
async function start(config: Config, catalogue: Catalogue): Promise<Service> {
  const started = new AsyncDisposableStack()
  try {
    await startParts(config, catalogue, started)
    return { stop: () => started.disposeAsync() }
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

async function startParts(config: Config, { operations, tasks }: Catalogue, started: AsyncDisposableStack): Promise<void> {
  const log = createLog(config.logLevel, logDestination(config))
  started.defer(() => log.flush())
  const { database, notices } = await startDatabase(config, log, started)
  const isWorker = config.role !== 'api'
  const queue = await openQueue(database.db, { worker: isWorker, onError: (error) => log.error({ err: error }, 'queue') })
  started.defer(() => queue.stop()) // Where what follows cannot start; otherwise it has stopped before what its tasks use.

  let baseUrl = config.baseUrl
  let ready = false
  const roles = { systemAdminEmails: config.systemAdminEmails, clipUserEmail: config.clipUserEmail, maySignUp: config.isLocal }
  const { storage, storeOrigins } = await startStorage(config, { db: database.db, log, baseUrl: () => baseUrl }, started)
  const { payments, sandboxPayments } = await startPayments(
    config,
    { db: database.db, noticeUrl: () => (ready ? `${baseUrl}/webhooks/payments` : null) },
    started,
  )
  const receiver = await startReceiver(config, started)
  const composed = await compose({
    db: database.db,
    storage,
    payments,
    ...(await startVendors(config, database.db, started)),
    ...openOutward(config, log, receiver),
    listen: listening(database.connection),
    workers: await startWorkersFile(config),
    connectionCount: database.connectionCount,
    clock: systemClock,
    queue,
    log,
    baseUrl: () => baseUrl,
    operations,
    tasks,
    roles,
    cogHosts: config.cogHosts,
    egressAllow: config.egressAllow,
    workDir: path.join(config.dataDir, 'work'),
    cogCompression: config.cogCompression,
    rasterProcesses: config.rasterProcesses,
    notices,
  })
  started.defer(() => composed.close())
  started.defer(() => queue.stop())
  await users.withdrawRoles(database.db, roles)
  await secureDemoAccount(config, database.db, log)
  const wantsDemo = config.demo ?? (config.isLocal && !(await projects.hasEverExisted(database.db)))
  if (wantsDemo && config.role !== 'worker') await seedDemo(composed.platform, composed.auth)

  const build = createConsoleBuild()
  const demo = () => shownDemo(config, composed.platform, receiver)
  const demoClient: DemoClient = { authorization: null }
  const isQuiet = ({ headers }: FastifyRequest) => headers.authorization !== undefined && headers.authorization === demoClient.authorization
  const server = { log, isReady: () => ready, api: config.role !== 'worker', sandboxPayments, demo, isQuiet }
  const app = buildServer({ ...config, ...composed, ...server, console: { progress: build.progress, storeOrigins } })
  started.defer(() => closeServer(app))
  const address = await listen(app, config)
  if (config.port === 0) baseUrl = baseUrl.replace(/:0$/, `:${new URL(address).port}`)
  started.defer(declareRunning(config.dataDir, { url: baseUrl, ports: portsOf(config, address) }))
  if (isWorker) await startWork(composed, tasks, log, started)
  ready = true
  started.defer(() => {
    ready = false
  })
  process.stdout.write(banner({ baseUrl, role: config.role, embedded: database.embedded, demo: await demo() }))
  startBeside(config, { composed, build, baseUrl, log, demoClient }, started)
}

interface Beside {
  composed: Awaited<ReturnType<typeof compose>>
  build: ConsoleBuild
  baseUrl: string
  log: Logger
  demoClient: DemoClient
}

/** What takes seconds and nobody waits for: the console's files, the demo's scenes. */
function startBeside(config: Config, { composed, build, baseUrl, log, demoClient }: Beside, started: AsyncDisposableStack): void {
  if (config.role === 'worker') return
  started.defer(
    inBackground(
      (signal) => build.run(signal),
      (error) => log.warn({ err: error }, 'the console could not be built; /app/ says why'),
    ),
  )
  const report = demoReporter({ isTerminal: process.stdout.isTTY, write: (text) => process.stdout.write(text), log })
  if (config.demo ?? config.isLocal)
    started.defer(
      inBackground(
        (signal) => fillDemo(composed.platform, composed.auth, { baseUrl, signal, report, client: demoClient }),
        (error) => log.warn({ err: error }, 'the demo is not whole yet; the next start goes on with it'),
      ),
    )
}

/** Tasks, and what is done about events. */
async function startWork(
  composed: Parameters<typeof startWatch>[0],
  tasks: readonly AnyTask[],
  log: Logger,
  started: AsyncDisposableStack,
): Promise<void> {
  await startWorkers(composed.taskPlatform, tasks)
  const watch = startWatch(composed, (error, what) => log.error({ err: error }, what))
  started.defer(() => watch.close())
}

function openMail(config: Config, log: Logger): Mail {
  const from = config.mailFrom
  if (config.smtpUrl) return createSmtpMail({ url: config.smtpUrl, from })
  const folder = path.join(config.dataDir, 'mail')
  return createMailFolder({
    folder,
    from,
    clock: systemClock,
    onWritten: (file) => log.info({ file }, 'a mail was kept as a file; set SMTP_URL to send them'),
  })
}

/** Webhooks and mail. */
const openOutward = (config: Config, log: Logger, receiver: SandboxReceiver | null) => ({
  webhooks: openWebhooks(config, receiver),
  mail: openMail(config, log),
})

function openWebhooks(config: Config, receiver: SandboxReceiver | null): Webhooks {
  return createWebhooks({
    allow: [...config.egressAllow, ...(receiver ? [receiver.host] : [])],
    backoffSeconds: config.webhookBackoffSeconds,
    timeoutMs: config.webhookTimeoutSeconds * 1_000,
  })
}

/** What whoever sits at the machine may know of the demo; its password is public. */
async function shownDemo({ isLocal }: Config, platform: Platform, receiver: SandboxReceiver | null): Promise<ShownDemo | null> {
  const hasDemo = isLocal && ((await users.findByEmail(platform.db, DEMO_EMAIL))?.user.isActive ?? false)
  if (!hasDemo) return null
  const fields = { ...(await demoFields(platform.db)), ...(receiver ? { endpoint_url: receiver.url } : {}) }
  return { email: DEMO_EMAIL, password: DEMO_PASSWORD, shareToken: await demoLink(platform), fields }
}

/** On a terminal short lines for people, else JSON for tools, written together. */
function logDestination({ hasColours }: Config): DestinationStream {
  if (process.stderr.isTTY) return terminalLog((text) => process.stderr.write(text), hasColours)
  return destination({ dest: 2, sync: false, minLength: LOG_BUFFER_BYTES, periodicFlush: LOG_FLUSH_MS })
}

/**
 * Says what is unsafe, and closes what a data folder must not bring along from a local service: the demo's password is public,
 * so its account, with its sessions and keys, works only where local or by an explicit DEMO=1. A worker, whose own address
 * nobody uses, never switches it on.
 */
async function secureDemoAccount(config: Config, db: Db, log: Logger): Promise<void> {
  for (const finding of findings(config)) log.warn(`Unsafe setting: ${finding}`)
  const mayDemo = config.isLocal || config.demo === true
  if (mayDemo && config.role === 'worker') return
  if (!(await users.setActive(db, DEMO_EMAIL, mayDemo))) return
  if (mayDemo) log.info(`The demo account ${DEMO_EMAIL} is switched on again`)
  else log.warn(`The demo account ${DEMO_EMAIL} is switched off, because this service is not local and its password is public`)
}

/** The database at its newest schema, and a connection on which changes of other processes are heard. */
async function startDatabase(config: Config, log: Logger, started: AsyncDisposableStack) {
  const onRestart = (error: Error | null) =>
    error
      ? log.error({ err: error }, 'the embedded PostgreSQL could not be started again')
      : log.warn('the embedded PostgreSQL had died and was started again')
  const database = await openServiceDatabase({ ...config, onRestart, onWaiting: (line) => log.warn(line) })
  started.defer(() => database.close())
  await migrate(database.db)
  const notices = openNotices(database.db, database.connection)
  started.defer(() => notices.close())
  return { database, notices }
}

/** Work beside the service. What is returned ends it and waits until it has. */
function inBackground(work: (signal: AbortSignal) => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController()
  const done = work(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) onFailure(error)
  })
  return async () => {
    stopping.abort()
    await done
  }
}

/** The object store, and for the embedded one its own listener: bytes never pass through the API. */
async function startStorage(
  config: Config,
  { db, log, baseUrl }: { db: Db; log: Logger; baseUrl: () => string },
  started: AsyncDisposableStack,
): Promise<{ storage: Storage; storeOrigins: () => string[] }> {
  const secret = await secretOf(db, 'storage', systemClock.now())
  let publicUrl = config.storeUrl
  const store = await openStorage({ ...config, publicUrl: () => publicUrl, secret, clock: systemClock })
  started.defer(() => store.close())
  if (store.kind === 'files' && config.role !== 'worker') {
    const egress = createEgressRecorder(db, systemClock, (error) => log.error({ err: error }, 'egress'))
    started.defer(() => egress.close())
    const listener = await startStoreListener({
      egress,
      quota: createUploadQuota(db, systemClock),
      store,
      host: config.host,
      port: config.storePort,
      trustedProxies: config.trustedProxies,
      secret,
      clock: systemClock,
      log,
      baseUrl,
    }).catch((error: unknown) => {
      throw listenProblem(error, { setting: 'STORE_PORT', host: config.host, port: config.storePort, dataDir: config.dataDir })
    })
    started.defer(() => listener.close())
    if (config.storePort === 0) publicUrl = publicUrl.replace(/:0$/, `:${listener.port}`)
  }
  const origin = (url: string) => new URL(url).origin
  const storeOrigins = () =>
    store.kind === 'files' ? [origin(publicUrl)] : config.s3Endpoint ? [origin(config.s3Endpoint)] : ['https://*.amazonaws.com']
  return { storage: store, storeOrigins }
}

/** The card processor: the real one, none, or the sandbox with a listener of its own, spoken to like the real one. */
async function startPayments(
  config: Config,
  { db, noticeUrl }: { db: Db; noticeUrl: () => string | null },
  started: AsyncDisposableStack,
): Promise<{ payments: Payments | null; sandboxPayments: SandboxPayments | null }> {
  if (config.payments === 'none') return { payments: null, sandboxPayments: null }
  if (config.payments === 'stripe')
    return {
      payments: createStripePayments({ secretKey: config.stripeSecretKey, webhookSecret: config.stripeWebhookSecret, sandboxUrl: null }),
      sandboxPayments: null,
    }
  const webhookSecret = (await secretOf(db, 'payments', systemClock.now())).toString('hex')
  const port = config.sandboxPaymentsPort
  const { startSandbox } = await import('../sandbox/index.ts')
  const sandbox = await startSandbox({ db, payments: { port, noticeUrl, webhookSecret }, vendors: null }).catch((error: unknown) => {
    throw listenProblem(error, { setting: 'SANDBOX_PAYMENTS_PORT', host: '127.0.0.1', port, dataDir: config.dataDir })
  })
  started.defer(() => sandbox.close())
  const processor = sandbox.payments!
  return {
    payments: createStripePayments({ secretKey: processor.secretKey, webhookSecret, sandboxUrl: () => processor.url }),
    sandboxPayments: processor,
  }
}

/** A webhook endpoint that needs no internet, for guides and examples. */
async function startReceiver({ sandbox, isLocal }: Config, started: AsyncDisposableStack): Promise<SandboxReceiver | null> {
  if (!sandbox || !isLocal) return null
  const { startSandboxReceiver } = await import('../sandbox/webhooks/receiver.ts')
  const receiver = await startSandboxReceiver()
  started.defer(() => receiver.close())
  return receiver
}

/** The sources of the registry, and the sandbox's hosts behind those that are simulated. */
async function startVendors(
  config: Config,
  db: Db,
  started: AsyncDisposableStack,
): Promise<Pick<Parameters<typeof compose>[0], 'vendors' | 'fileHosts' | 'clipAreas'>> {
  let sandboxUrl: string | null = null
  if (config.sandbox) {
    const port = config.sandboxVendorsPort
    const { startSandbox } = await import('../sandbox/index.ts')
    const workDir = path.join(config.dataDir, 'sandbox')
    const settings = { port, clock: systemClock, workDir, deliverySeconds: config.sandboxDeliverySeconds }
    const sandbox = await startSandbox({ db, payments: null, vendors: settings }).catch((error: unknown) => {
      throw listenProblem(error, { setting: 'SANDBOX_VENDORS_PORT', host: '127.0.0.1', port, dataDir: config.dataDir })
    })
    started.defer(() => sandbox.close())
    sandboxUrl = sandbox.vendors!.url
  }
  const registry = await readRegistry(config.sources, sandboxUrl).catch((error: unknown) => {
    throw error instanceof RegistryError ? new ConfigError(`SOURCES: ${error.message}`) : error
  })
  const vendors = createVendors({ registry, egressAllow: config.egressAllow })
  started.defer(() => vendors.close())
  const clipAreas = await readClipAreas(config.clipAreas, sandboxUrl).catch((error: unknown) => {
    throw error instanceof AreasError ? new ConfigError(`CLIP_AREAS: ${error.message}`) : error
  })
  return { vendors, fileHosts: fileHostsOf(registry), clipAreas }
}

async function startWorkersFile({ workers }: Config): Promise<Workers> {
  return await readWorkers(
    workers,
    PROCESSES.map(({ id }) => id),
  ).catch((error: unknown) => {
    throw error instanceof WorkersError ? new ConfigError(`WORKERS: ${error.message}`) : error
  })
}

/** Those that a second start on the same folder would also want. */
const portsOf = ({ storePort, sandboxPaymentsPort, sandboxVendorsPort }: Config, address: string): number[] =>
  [Number(new URL(address).port), storePort, sandboxPaymentsPort, sandboxVendorsPort].filter((port) => port !== 0)

async function listen(app: FastifyInstance, { host, port, dataDir }: Config): Promise<string> {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    throw listenProblem(error, { setting: 'PORT', host, port, dataDir })
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
    starting
      .then((service) => service.stop())
      .then(
        () => {
          if (process.stderr.isTTY) process.stderr.write('\nGroundtrack has stopped.\n')
          process.exit(0)
        },
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

async function begin(catalogue: Catalogue): Promise<Service> {
  const config = loadConfig(process.env)
  requireFolder(config)
  return await start(config, catalogue).catch((error: unknown) => {
    throw folderProblem(error, config.dataDir) ?? error
  })
}

export async function run(catalogue: Catalogue): Promise<void> {
  try {
    const starting = Promise.resolve().then(() => begin(catalogue)) // Signals are heard before the first step.
    stopOnSignal(starting)
    await starting
  } catch (error) {
    if (error instanceof ConfigError || error instanceof DatabaseUnreachable) console.error(error.message)
    else console.error('Groundtrack could not start:', (error as Error).message, '\n', (error as Error).stack)
    process.exit(1)
  }
}

if (import.meta.main) await run({ operations, tasks })
