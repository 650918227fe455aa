/** Builds the platform from a database, a clock and settings, for the service and for tests. */
import type { Logger } from 'pino'
import { createOverlays } from '#adapters/overlays/overlays.ts'
import { createRasterService } from '#adapters/raster/service.ts'
import type { StartWorker } from '#raster/pool/pool.ts'
import type { RasterService } from '#ports/raster.ts'
import { createPrinter } from '#services/documents/printer.ts'
import type { Storage } from '#ports/storage.ts'
import type { TileCacheBounds } from '#ports/tile-cache.ts'
import type { Services } from '#context.ts'
import type { Clock } from '#core/clock.ts'
import { asPlatform } from '#core/tenant.ts'
import { STANDARD_RETENTION, type Retention } from '#core/retention.ts'
import type { Seal } from '#core/seal.ts'
import * as deliveries from '#model/events/delivery.ts'
import { createLayers } from '#model/imagery/item-layer.ts'
import { createSearchMemory } from '#model/imagery/search-memory.ts'
import { createCursors } from '#model/platform/cursor.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { Payments } from '#ports/payments.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { Mail } from '#ports/mail.ts'
import type { SingleSignOn } from '#ports/sso.ts'
import type { Webhooks } from '#ports/webhooks.ts'
import { accountNoticeTask, changeEmailTask, confirmAddressTask, resetPasswordTask } from '#model/identity/tasks.ts'
import type { Listen } from '#db/notify.ts'
import { NO_WORKERS, type Workers } from '#ports/workers.ts'
import type { Queue } from '#db/queue.ts'
import type { Notices } from '#db/notices.ts'
import type { ConnectionUse } from '#db/open.ts'
import type { Replicas } from '#db/replicas/open.ts'
import type { Db, Tx } from '#db/tables.ts'
import { watchDiskSpace, type DiskSpace } from '#db/failures.ts'
import { createMetrics, type Metrics } from '#background/metrics.ts'
import type { AnyTask } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import { createAuditTrail } from '#pipeline/audit.ts'
import { createAuthenticator } from '#access/authenticate.ts'
import { createCommitNotifier, type CommitNotifier } from '#background/commit-notifier.ts'
import { createCommit } from '#background/change.ts'
import { createEventStream, type EventStream } from '#background/event-stream.ts'
import { createClaims } from '#pipeline/idempotency.ts'
import { createFairScheduler } from '#pipeline/fair-scheduler.ts'
import { declareTasks, enqueuer, type TaskPlatform } from '#background/tasks.ts'
import { createPasswords } from '#access/passwords.ts'
import type { Platform } from '#pipeline/platform.ts'
import { createRateLimiter } from '#access/rate-limit.ts'
import type { OperatorRoles, SignInPlatform } from '#access/sign-in.ts'
import { createShares } from '#access/shares.ts'
import { createTileSignatures } from '#access/tile-signatures.ts'
import { createTokens } from '#access/tokens.ts'
import { createUsageRecorder, type UsageRecorder } from '#background/usage.ts'
import type { Limits } from '#http/limits.ts'
import { limitsOf } from './limits.ts'

export interface Parts {
  db: Db
  connectionUse: () => readonly ConnectionUse[]
  clock: Clock
  queue: Queue
  storage: Storage
  secrets: Seal
  /** Null: cards are not accepted. */
  payments: Payments | null
  vendors: Vendors
  /** Areas whose mosaics can be clipped; rasters are read from their hosts. */
  clipAreas?: readonly ClipArea[]
  /** Registered external workers; none by default. */
  workers?: Workers
  /** Hosts of the files of catalogue scenes, and which of them are private. */
  fileHosts: { readonly all: readonly string[]; readonly sandbox: readonly string[] }
  webhooks: Webhooks
  mail: Mail
  sso: SingleSignOn
  /** Receives notifications of commits in other processes. */
  listen: Listen
  log: Logger
  baseUrl: () => string
  operations: ReadonlyMap<string, AnyOperation>
  tasks: readonly AnyTask[]
  roles: OperatorRoles
  /** Hosts that COG URLs can use, and hosts that can be private or plain http. */
  cogHosts: readonly string[]
  egressAllow: readonly string[]
  /** A folder for large temporary files. */
  workDir: string
  cogCompression: 'zstd' | 'deflate'
  /** Number of child processes for rasters. */
  rasterProcesses: number
  /** Samples of a part of a divided job; jobs are not divided by default. */
  jobPartSamples?: number
  /** How long a CDN may keep tiles of public links; not at all by default. */
  cdnSeconds?: number
  /** Bounds of the tile cache in the object store; none by default. */
  tileCache?: TileCacheBounds | null
  /** How they are started, if not as new processes. */
  startRasterWorker?: StartWorker
  /** Null: credentials are not cached, and every call queries the database. */
  notices?: Notices | null
  /** Replicas of the database, for reads; none by default. */
  replicas?: Replicas | null
  /** How long the records of calls are kept; the defaults of the settings if missing. */
  retention?: Retention
  /** Lower in tests, for speed. */
  passwordCost?: number
  /** Higher in tests, which share their machine: how many times longer than usual work on rasters and their hosts may take. */
  deadlineFactor?: number
}

export interface Composed {
  platform: Platform
  auth: SignInPlatform
  taskPlatform: TaskPlatform
  usage: UsageRecorder
  commitNotifier: CommitNotifier
  stream: EventStream
  limits: Limits
  metrics: Metrics
  /** Of the database. */
  diskSpace: DiskSpace
  close(): Promise<void>
}

const areaHosts = (areas: readonly ClipArea[]): string[] => areas.flatMap(({ mosaics }) => mosaics.map(({ url }) => new URL(url).host))

function rasterOf(parts: Parts): RasterService {
  return createRasterService({
    clock: parts.clock,
    storage: parts.storage,
    hosts: [...parts.cogHosts, ...parts.egressAllow, ...parts.fileHosts.all, ...areaHosts(parts.clipAreas ?? [])],
    egressAllow: [...parts.egressAllow, ...parts.fileHosts.sandbox],
    files: parts.vendors.files,
    workDir: parts.workDir,
    compression: parts.cogCompression,
    processes: parts.rasterProcesses,
    tileCache: parts.tileCache ?? null,
    ...(parts.startRasterWorker ? { startWorker: parts.startRasterWorker } : {}),
    deadlineFactor: parts.deadlineFactor ?? 1,
  })
}

const metricsOf = (
  { db, clock, queue, connectionUse, replicas, notices }: Parts,
  raster: RasterService,
  receivesCommits: () => boolean | null,
): Metrics =>
  createMetrics({
    connections: connectionUse,
    replicas: () => replicas?.states() ?? [],
    raster: () => raster.metrics(),
    listeners: () => ({ access: notices ? notices.state() !== null : null, commits: receivesCommits() }),
    queues: () => asPlatform(() => queue.backlog()),
    deliveries: () => asPlatform(() => deliveries.backlog(db, clock.now())),
  })

/** Internal errors are counted and logged, and checked for a full disk. */
function faultHandler({ metrics, diskSpace, log }: { metrics: Metrics; diskSpace: DiskSpace; log: Logger }) {
  return (error: unknown, operation: string, invocation?: string): void => {
    diskSpace.notice(error)
    metrics.observeFault(operation)
    log.error({ err: error, operation, invocation }, 'fault')
  }
}

/** After a commit, caches are stale, other processes are notified, and the next reads of those concerned must find the change. */
function commitHandler({ layers, replicas, commitNotifier }: Pick<Platform, 'layers' | 'replicas'> & Pick<Composed, 'commitNotifier'>) {
  replicas?.onWrite(() => layers.forget())
  return async (...changed: readonly (string | null | undefined)[]): Promise<void> => {
    layers.forget()
    try {
      await replicas?.announce(changed.filter((id) => id != null))
    } finally {
      commitNotifier.notify()
    }
  }
}

/** Services that depend on no setting. */
const ownServices = (db: Db, clock: Clock) => ({
  printer: createPrinter(),
  overlays: createOverlays(),
  searchMemory: createSearchMemory(),
  cursors: createCursors(db, clock),
})

function signersOf(db: Db, clock: Clock) {
  const tokens = createTokens(db, clock)
  return { tokens, tileSignatures: createTileSignatures(clock, tokens) }
}

/** A separate queue, so that guesses at share links never delay sign-ins. */
const sharesOf = ({ db, clock, passwordCost: cost }: Parts) =>
  createShares(db, clock, createPasswords({ cost, maxRunning: 1, waiting: 'visitors of share links' }))

/** Services that are passed on as they are. */
const givenServices = ({ storage, secrets, payments, vendors, webhooks, mail, sso }: Parts) => ({
  storage,
  secrets,
  payments,
  vendors,
  webhooks,
  mail,
  sso,
})

/** Settings that operations and tasks know. */
const settingsOf = (parts: Parts) => ({
  retention: parts.retention ?? STANDARD_RETENTION,
  jobPartSamples: parts.jobPartSamples ?? 0,
  cdnSeconds: parts.cdnSeconds ?? 0,
  tileCache: parts.tileCache ?? null,
  clipAreas: parts.clipAreas ?? [],
  workers: parts.workers ?? NO_WORKERS,
})

export async function compose(parts: Parts): Promise<Composed> {
  const { db, clock, queue, log, baseUrl, operations } = parts
  const raster = rasterOf(parts)
  const diskSpace = watchDiskSpace(db)
  const metrics = metricsOf(parts, raster, () => commitNotifier.isReceiving())
  const onFault = faultHandler({ metrics, diskSpace, log })
  await declareTasks(queue, parts.tasks)
  const { tokens, tileSignatures } = signersOf(db, clock)
  const audit = createAuditTrail(db, clock, (error) => onFault(error, 'audit'))
  const usage = createUsageRecorder(db, clock, (error) => onFault(error, 'usage'))
  const claims = createClaims(db, clock)
  const scheduler = createFairScheduler()
  const layers = createLayers(db, clock, parts.notices ?? null)
  const tasks = enqueuer(queue)
  const commitNotifier = createCommitNotifier({ db, listen: parts.listen, onError: (error) => onFault(error, 'commit notifier') })
  const stream = createEventStream({ db, commitNotifier, onError: (error) => onFault(error, 'stream') })
  const { replicas = null } = parts
  const committed = commitHandler({ layers, replicas, commitNotifier })
  const rateLimiter = createRateLimiter(db, clock, parts.notices ?? null)
  const rightsChanged = async () => await parts.notices?.settle()
  const services: Services = {
    clock,
    raster,
    layers,
    ...ownServices(db, clock),
    usage,
    ...givenServices(parts),
    shares: sharesOf(parts),
    tileSigner: tileSignatures,
    commit: createCommit({ db, clock, tasks, committed }),
    ...settingsOf(parts),
    operatorLog: { info: (message) => log.info(message), warn: (message) => log.warn(message) },
  }
  const platform: Platform = {
    services,
    db,
    baseUrl,
    operations,
    audit,
    claims,
    scheduler,
    tasks,
    committed,
    replicas,
    layers,
    authenticator: createAuthenticator(db, clock, { tokens, tileSignatures }, parts.notices ?? null),
    rightsChanged,
    rateLimiter,
    onFault: (error, invocationId, operation) => onFault(error, operation, invocationId),
  }
  const own = [claims, scheduler, rateLimiter, raster, services.overlays, services.printer, audit, usage, stream, commitNotifier]
  return {
    platform,
    metrics,
    diskSpace,
    usage,
    commitNotifier,
    stream,
    limits: limitsOf(operations),
    auth: authOf(parts, { tokens, rightsChanged, mails: accountMails(tasks) }),
    taskPlatform: { services, db, baseUrl, queue, committed, onFault },
    close: () => closeAll([...own, parts.webhooks, parts.mail, parts.sso]),
  }
}

/** In order, and all of them: one that fails must not keep others from writing what they have buffered. */
async function closeAll(parts: readonly { close(): void | Promise<void> }[]): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts)
    try {
      await part.close()
    } catch (error) {
      failures.push(error)
    }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
}

function accountMails(tasks: Platform['tasks']): SignInPlatform['mails'] {
  return {
    confirm: (tx: Tx, user_id) => tasks(tx).enqueue(confirmAddressTask, { user_id }),
    reset: (tx: Tx, email) => tasks(tx).enqueue(resetPasswordTask, { email }),
    changeEmail: (tx: Tx, user_id, email) => tasks(tx).enqueue(changeEmailTask, { user_id, email }),
    notice: (tx: Tx, notice) => tasks(tx).enqueue(accountNoticeTask, notice),
  }
}

/** Two password queues, so that a flood of sign-ups never delays sign-ins. */
function authOf(
  { db, clock, passwordCost: cost, roles, secrets }: Parts,
  rest: Pick<SignInPlatform, 'tokens' | 'rightsChanged' | 'mails'>,
): SignInPlatform {
  const passwords = createPasswords({ cost, waiting: 'sign-ins' })
  const newPasswords = createPasswords({ cost, maxRunning: 1, waiting: 'sign-ups' })
  return { db, clock, roles, secrets, passwords, newPasswords, ...rest }
}
