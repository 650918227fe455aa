/** A whole platform for one test file: real pipeline, real HTTP on a port of its own, real PostgreSQL, a clock in our hand. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { isIP } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { createBaseMaps } from '#adapters/base-maps/base-maps.ts'
import { createMailFolder } from '#adapters/mail/files.ts'
import { createSmtpMail } from '#adapters/mail/smtp.ts'
import { readClipAreas } from '#adapters/clip/areas.ts'
import { createStripePayments } from '#adapters/payments/stripe.ts'
import { readRegistry, type Registry } from '#adapters/vendors/registry.ts'
import { createVendors, fileHostsOf } from '#adapters/vendors/vendors.ts'
import { createOpenId } from '#adapters/sso/openid.ts'
import { createWebhooks } from '#adapters/webhooks/sender.ts'
import { openFileStore } from '#adapters/storage/files.ts'
import { startStoreListener } from '#adapters/storage/listener.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { InstallationProvider } from '#ports/sso.ts'
import type { Storage } from '#ports/storage.ts'
import type { TileCacheBounds } from '#ports/tile-cache.ts'
import type { Workers } from '#ports/workers.ts'
import { compose } from '#start/compose.ts'
import type { BaseMapSetting } from '#core/base-maps.ts'
import type { Clock } from '#core/clock.ts'
import type { Retention } from '#core/retention.ts'
import { createSeal, KEY_BYTES } from '#core/seal.ts'
import { STANDARD_BACKOFF_SECONDS } from '#core/webhooks.ts'
import { openDatabase } from '#db/open.ts'
import { listening } from '#db/notify.ts'
import { openReplicas } from '#db/replicas/open.ts'
import { openQueue } from '#db/queue.ts'
import type { Db } from '#db/tables.ts'
import { createLog } from '#http/log.ts'
import { buildServer } from '#http/server.ts'
import type { AnyTask } from '#task.ts'
import type { AnyOperation } from '#operation.ts'
import { runTask } from '#background/tasks.ts'
import type { ConnectionLimits } from '#core/connections.ts'
import { createUploadQuota } from '#background/upload-quota.ts'
import { createEgressRecorder } from '#background/egress.ts'
import { signWorkerToken } from '#access/tokens.ts'
import { createVendorAccounts } from '#model/vendors/account.ts'
import { createVendorTokens } from '#model/vendors/token.ts'
import * as registry from '#registry.ts'
import { createEvaluator } from '#services/alerts/evaluator.ts'
import { drain } from '#services/webhooks/drain.ts'
import { SANDBOX_KEY, startSandboxPayments, type SandboxOptions } from '../../sandbox/payments/server.ts'
import { startSandboxVendors } from '../../sandbox/vendors/server.ts'
import { createDatabase } from './database.ts'
import { guestsLeave } from './guests.ts'
import { borrowWorker } from './raster-workers.ts'

// oxlint-disable-next-line typescript/no-explicit-any
export interface Answer<B = any> {
  status: number
  headers: Headers
  /** Parsed JSON, or null for anything else. */
  body: B
  bytes: Buffer
}

export interface Person {
  id: string
  email: string
  password: string
  token: string
  refreshToken: string
}

export interface Org {
  id: string
  owner: Person
  projectId: string
}

interface WorldOptions {
  /** Operations beside the real ones, to watch the pipeline do what none of them needs yet. */
  operations?: readonly AnyOperation[]
  tasks?: readonly AnyTask[]
  systemAdminEmails?: readonly string[]
  clipUserEmail?: string
  maySignUp?: boolean
  isLocal?: boolean
  /** `127.0.0.1` lets a test come from any address it likes, by `X-Forwarded-For`. */
  trustedProxies?: readonly string[]
  metricsToken?: string
  /** What a password costs to compare: 4 unless a test is about the time that takes. */
  passwordCost?: number
  /** Share the database of another world: a second process. */
  databaseUrl?: string
  startAt?: string
  /** Shared with a simulated vendor; else one of its own. */
  clock?: ReturnType<typeof testClock>
  egressAllow?: readonly string[]
  /** Base maps of an operator. */
  baseMaps?: readonly BaseMapSetting[]
  /** Hosts that addresses of rasters may name. */
  cogHosts?: readonly string[]
  /** Whether the simulated vendors run. Without them the registry is there, but nobody answers. */
  vendors?: boolean
  /** Areas to clip other than the shipped ones. */
  clipAreas?: readonly ClipArea[]
  /** Registered workers from outside. */
  workers?: Workers
  /** Sources other than the shipped ones; a function is told where the simulated vendors are. */
  sources?: Registry | ((sandboxUrl: string) => Promise<Registry>)
  /** How many times longer than in production hosts may take; tests of hosts that never answer set 1. */
  hostDeadlineFactor?: number
  /** Encrypts secrets in the database; worlds on one database have the same by default. */
  secretsKey?: Buffer
  /** Replicas of the database, and how far they may be behind. */
  replicas?: { urls: readonly string[]; maxLagSeconds?: number }
  /** How long the records of calls are kept. */
  retention?: Retention
  /** The fraction of tile reads that is logged. */
  logTiles?: number
  /** Samples of a part of a divided job; jobs are not divided by default. */
  jobPartSamples?: number
  /** How long a CDN may keep tiles of public links. */
  cdnSeconds?: number
  /** Bounds of the tile cache in the store; tiles are cached in memory only by default. */
  tileCache?: TileCacheBounds
  /** A real mail server; without one, mails are files in `mailDir`. */
  smtpUrl?: string
  /** How endpoints of webhooks are looked up, and how long one may take. */
  webhooks?: { resolve?: (hostname: string) => Promise<readonly string[]>; timeoutMs?: number }
  /** Sign-in at a provider of the whole installation, and who answers for names of domains. */
  sso?: { installation?: InstallationProvider; nameServers?: readonly string[] }
  /** What the card processor does; `null` takes no cards. */
  payments?: (Partial<Pick<SandboxOptions, 'beforeAnswer' | 'manualNotices'>> & { timeoutMs?: number; isLive?: boolean }) | null
  /** Instead of files in a folder of its own; the world closes it. */
  storage?: Storage
  /** Share the folder of another world: a second process on the same machine. */
  store?: { dataDir: string; secret: Buffer }
  /** The embedded store counts what leaves it, as the service's does; else bytes count when they are signed, as on S3. */
  countsEgress?: boolean
  /** Of both listeners. */
  connections?: ConnectionLimits
}

export type World = Awaited<ReturnType<typeof world>>

/** What a quiet machine does in a second takes twenty on one that others use too; no test fails for that. */
const DEADLINE_FACTOR = 20

/** Tests of endpoints that never answer set a shorter one. */
const WEBHOOK_TIMEOUT_MS = 60_000

const SECRETS_KEY = Buffer.alloc(KEY_BYTES, 'secrets of tests')

const MAX_DELIVERIES = 10_000
const MAIL_FROM = 'Groundtrack <no-reply@groundtrack.test>'

/** A place for endpoints that nobody listens at. No test looks up names in the real world. */
const HOOK_HOST = 'hooks.test:9'
export const HOOK_URL = `http://${HOOK_HOST}/`

let people = 0

/** Worlds on one database: hooks run in the order in which they were set, so whoever closes last drops it. */
const users = new Map<string, { count: number; drop(): Promise<void> }>()

/** With TEST_POOLER, tests run through a pooler that `test/run.ts` has started. */
function poolerOf(databaseUrl: string): { url: string; isUnprepared: boolean } | null {
  const { TEST_POOLER, TEST_POOLER_URL } = process.env
  if (!TEST_POOLER_URL) return null
  const url = new URL(TEST_POOLER_URL)
  url.pathname = new URL(databaseUrl).pathname
  return { url: url.href, isUnprepared: TEST_POOLER === 'transaction' }
}

/** An address that refuses every connection. */
const NOBODY_THERE = 'http://127.0.0.1:9'

export async function world(t: TestContext, options: WorldOptions = {}) {
  const own = options.databaseUrl ? null : await createDatabase()
  const databaseUrl = options.databaseUrl ?? own!.url
  if (own) users.set(databaseUrl, { count: 0, drop: own.drop })
  const shared = users.get(databaseUrl)
  if (shared) shared.count++
  const pooler = poolerOf(databaseUrl)
  const database = openDatabase(pooler?.url ?? databaseUrl, {
    maxConnections: 10,
    deadlineFactor: DEADLINE_FACTOR,
    ...(pooler ? { direct: databaseUrl, hasTransactionPooler: pooler.isUnprepared } : {}),
  })
  /** What was said of replicas. */
  const replicaLines: string[] = []
  const replicas = options.replicas
    ? openReplicas(database, {
        urls: options.replicas.urls,
        maxLagSeconds: options.replicas.maxLagSeconds ?? 600,
        pools: { maxConnections: 10, maxSearchConnections: 6, hasTransactionPooler: false },
        deadlineFactor: DEADLINE_FACTOR,
        log: { info: (line) => void replicaLines.push(line), warn: (line) => void replicaLines.push(line) },
      })
    : null
  const clock = options.clock ?? testClock(options.startAt ?? '2030-01-01T00:00:00.000Z')
  const logLines: string[] = []
  const log = createLog('debug', {
    write: (line) => {
      logLines.push(line)
    },
  })
  const queue = await openQueue(database.db, {
    worker: false,
    onError: (error) => {
      // The queue refreshes its list of queues every minute: in an outage that a test causes, that fails as expected.
      if (!('isRetryable' in error)) throw error
    },
  })
  let baseUrl = ''
  const operations = new Map([...registry.operations, ...(options.operations ?? []).map((op) => [op.id, op] as const)])
  const tasks = [...registry.tasks, ...(options.tasks ?? [])]
  const dataDir = options.store?.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'groundtrack-world-'))
  const mailDir = path.join(dataDir, 'mail')
  const storeListener = options.storage
    ? null
    : await openStoreListener(dataDir, options.store?.secret ?? randomBytes(32), clock, log, {
        db: database.db,
        countsEgress: options.countsEgress ?? false,
        connections: options.connections,
      })
  const storage: Storage = options.storage ?? storeListener!.store
  const webhookSecret = 'whsec_of_a_test'
  const sandbox =
    options.payments === null
      ? null
      : await startSandboxPayments({
          db: database.db,
          host: '127.0.0.1',
          port: 0,
          noticeUrl: () => `${baseUrl}/webhooks/payments`,
          webhookSecret,
          ...options.payments,
        })
  const payments =
    sandbox &&
    createStripePayments({
      secretKey: SANDBOX_KEY,
      webhookSecret,
      sandboxUrl: () => sandbox.url,
      ...(options.payments?.timeoutMs ? { timeoutMs: options.payments.timeoutMs } : {}),
    })
  /** The sandbox answers, and the platform takes it for a processor that charges real cards. */
  const believed: typeof payments = payments && options.payments?.isLive ? { ...payments, env: 'live' } : payments
  const hosts = options.vendors
    ? await startSandboxVendors({
        db: database.db,
        host: '127.0.0.1',
        port: 0,
        clock,
        // Named by their content: what one test has had rendered, the next one finds.
        workDir: process.env['TEST_SCENES'] ?? path.join(dataDir, 'sandbox'),
        deliverySeconds: 5,
      })
    : null
  const sandboxUrl = hosts?.url ?? NOBODY_THERE
  const given = typeof options.sources === 'function' ? await options.sources(sandboxUrl) : options.sources
  const sources = given ?? (await readRegistry(null, { sandboxUrl, isOffline: true }))
  const secrets = createSeal(options.secretsKey ?? SECRETS_KEY)
  const vendors = createVendors({
    registry: sources,
    clock,
    tokens: createVendorTokens(database.db, clock),
    accounts: createVendorAccounts(database.db, secrets),
    egressAllow: options.egressAllow ?? [],
    deadlineFactor: options.hostDeadlineFactor ?? DEADLINE_FACTOR,
  })
  const composed = await compose({
    db: database.db,
    storage,
    payments: believed,
    secrets,
    vendors,
    clipAreas: options.clipAreas ?? (await readClipAreas(null, hosts?.url ?? null)),
    ...(options.workers ? { workers: options.workers } : {}),
    ...(options.retention ? { retention: options.retention } : {}),
    fileHosts: fileHostsOf(sources),
    webhooks: createWebhooks({
      allow: [...(options.egressAllow ?? []), HOOK_HOST],
      backoffSeconds: STANDARD_BACKOFF_SECONDS,
      timeoutMs: options.webhooks?.timeoutMs ?? WEBHOOK_TIMEOUT_MS,
      resolve: options.webhooks?.resolve ?? (async (hostname) => (HOOK_HOST.startsWith(hostname) ? ['127.0.0.1'] : [])),
    }),
    mail: options.smtpUrl
      ? createSmtpMail({ url: options.smtpUrl, from: MAIL_FROM })
      : createMailFolder({ folder: mailDir, from: MAIL_FROM, clock, onWritten: () => {} }),
    sso: createOpenId({
      clock,
      installation: options.sso?.installation ?? null,
      allow: options.egressAllow ?? [],
      // No test looks up names in the real world.
      resolve: async (hostname) => (isIP(hostname) ? [hostname] : []),
      nameServers: options.sso?.nameServers ?? ['127.0.0.1:9'],
    }),
    listen: listening(database.direct),
    replicas,
    connectionUse: database.connectionUse,
    clock,
    queue,
    log,
    baseUrl: () => baseUrl,
    operations,
    tasks,
    passwordCost: options.passwordCost ?? 4,
    deadlineFactor: DEADLINE_FACTOR,
    cogHosts: options.cogHosts ?? [],
    egressAllow: options.egressAllow ?? [],
    workDir: path.join(dataDir, 'work'),
    cogCompression: 'zstd',
    rasterProcesses: os.availableParallelism(),
    jobPartSamples: options.jobPartSamples ?? 0,
    cdnSeconds: options.cdnSeconds ?? 3_600,
    tileCache: options.tileCache ?? null,
    startRasterWorker: borrowWorker,
    roles: {
      systemAdminEmails: options.systemAdminEmails ?? [],
      clipUserEmail: options.clipUserEmail ?? null,
      maySignUp: options.maySignUp ?? true,
    },
  })
  const baseMaps = createBaseMaps({ maps: options.baseMaps ?? [], clock, egressAllow: options.egressAllow ?? [] })
  const app = buildServer({
    ...composed,
    baseMaps,
    log,
    readiness: () => null,
    keepAliveSeconds: 75,
    isDraining: () => false,
    api: true,
    sandboxPayments: sandbox,
    isLocal: options.isLocal ?? true,
    logTiles: options.logTiles ?? 1,
    trustedProxies: options.trustedProxies ?? [],
    metricsToken: options.metricsToken ?? '',
    ...(options.connections ? { connections: options.connections } : {}),
    console: { storeOrigins: () => (storeListener ? [`http://127.0.0.1:${storeListener.port}`] : []) },
  })
  baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(async () => {
    await guestsLeave(t)
    await app.close()
    await baseMaps.close()
    await sandbox?.close()
    await hosts?.close()
    await vendors.close()
    await queue.stop()
    await composed.close()
    await storeListener?.close()
    await storage.close()
    await replicas?.close()
    if (!options.store) rmSync(dataDir, { recursive: true, force: true })
    await database.close()
    if (shared && --shared.count === 0) await shared.drop()
  })

  const request = async (
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: string | Uint8Array } = {},
  ): Promise<Answer> => {
    const response = await globalThis.fetch(baseUrl + path, { method, ...init, body: (init.body ?? null) as never, redirect: 'manual' })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson =
      /json/.test(response.headers.get('content-type') ?? '') && bytes.length > 0 && !/ndjson/.test(response.headers.get('content-type')!)
    return { status: response.status, headers: response.headers, bytes, body: isJson ? JSON.parse(bytes.toString()) : null }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request('POST', path, { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  /** Invokes an operation as whoever the credential belongs to; null sends none. */
  const call = (credential: string | null, id: string, input: object = {}, headers: Record<string, string> = {}) =>
    post(`/v1/op/${id}`, input, { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers })
  const ok = async (credential: string, id: string, input: object = {}, headers: Record<string, string> = {}) => {
    const answer = await call(credential, id, input, headers)
    if (answer.status !== 200) throw new Error(`${id} answered ${answer.status}: ${answer.bytes.toString()}`)
    return answer.body
  }
  const person = async (email = `person-${++people}-${process.pid}@example.com`): Promise<Person> => {
    const password = 'correct horse battery'
    const { status, body } = await post('/auth/sign-up', { email, password, name: email.split('@')[0] })
    if (status !== 201) throw new Error(`sign-up answered ${status}: ${JSON.stringify(body)}`)
    return { id: body.user.id, email, password, token: body.access_token, refreshToken: body.refresh_token }
  }
  /** Signs in anew, so that a person acts for the organization they have just founded or joined. */
  const signIn = async (who: Person, organizationId?: string): Promise<Person> => {
    const { body } = await post('/auth/sign-in', {
      email: who.email,
      password: who.password,
      ...(organizationId ? { organization_id: organizationId } : {}),
    })
    return { ...who, token: body.access_token, refreshToken: body.refresh_token }
  }
  const organization = async (name = 'Test organization'): Promise<Org> => {
    const founder = await person()
    const { id } = await ok(founder.token, 'organizations.create', { name })
    const owner = await signIn(founder, id)
    const { id: projectId } = await ok(owner.token, 'projects.create', { name: 'First project' })
    return { id, owner, projectId }
  }
  /** Uses an invitation's link as whoever is signed in. */
  const accept = (token: string, url: string) =>
    post('/auth/invitations/accept', { token: url.split('/').at(-1) }, { authorization: `Bearer ${token}` })
  /** Joins a person to the organization the way it happens in life: invited to a project, signed up, accepted. */
  const join = async (who: Person, org: Org, role: 'admin' | 'editor' | 'viewer' = 'viewer'): Promise<Person> => {
    const { invitation } = await ok(org.owner.token, 'projects.add_member', { project_id: org.projectId, email: who.email, role })
    const { status, body } = await accept(who.token, invitation.url)
    if (status !== 200) throw new Error(`accepting answered ${status}: ${JSON.stringify(body)}`)
    const { body: acting } = await post('/auth/refresh', { refresh_token: who.refreshToken, organization_id: org.id })
    return { ...who, token: acting.access_token, refreshToken: acting.refresh_token }
  }
  const member = async (org: Org, role: 'admin' | 'editor' | 'viewer' = 'viewer'): Promise<Person> =>
    await join(await person(`member-${++people}-${process.pid}@example.com`), org, role)
  /** A person in a project of an organization that is not theirs: data folders from before invitations by token have some. */
  const guest = async (projectId: string, role: 'admin' | 'editor' | 'viewer' = 'editor', who?: Person): Promise<Person> => {
    const member = who ?? (await person())
    const row = { project_id: projectId, user_id: member.id, role, created_at: clock.now() }
    await database.db
      .insertInto('project_member')
      .values(row)
      .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
      .execute()
    return member
  }
  const key = async (
    credential: string,
    permissions: string[] = ['read'],
    more: object = {},
  ): Promise<{ id: string; key: string; prefix: string }> =>
    await ok(credential, 'api_keys.create', { name: 'test key', permissions, ...more })
  const tokens = composed.auth.tokens
  /** PUTs bytes to a signed address, as a browser would. */
  const put = async (url: string, body: Uint8Array, contentType = 'application/octet-stream'): Promise<number> =>
    (await globalThis.fetch(url, { method: 'PUT', headers: { 'content-type': contentType }, body: body as never })).status
  /** A whole upload session, from its opening to its completion; the answer of the latter. */
  const upload = async (
    credential: string,
    projectId: string,
    files: Record<string, Uint8Array>,
    more: object = {},
    completion: object = {},
  ): Promise<Answer> => {
    const names = Object.keys(files)
    const total = names.reduce((sum, name) => sum + files[name]!.length, 0)
    const { id } = await ok(credential, 'uploads.initiate', {
      project_id: projectId,
      transfer_method: 'signed_url',
      file_count: names.length,
      total_bytes: total,
      ...more,
    })
    for (const name of names) {
      const { upload_url: url } = await ok(credential, 'uploads.signed_url', { upload_id: id, file_name: name, content_type: 'image/tiff' })
      const status = await put(url, files[name]!, 'image/tiff')
      if (status !== 200) throw new Error(`the store answered ${status}`)
    }
    return await call(credential, 'uploads.complete', { upload_id: id, ...completion })
  }

  return {
    db: database.db as Db,
    storage,
    storePort: storeListener?.port ?? 0,
    databaseUrl,
    mailDir,
    clock,
    baseUrl,
    logLines,
    platform: composed.platform,
    replicaLines,
    auth: composed.auth,
    request,
    post,
    call,
    ok,
    person,
    signIn,
    organization,
    member,
    join,
    accept,
    guest,
    key,
    put,
    upload,
    dataDir,
    workerToken: (organizationId: string, jobId: string) => signWorkerToken(tokens, { id: jobId, organizationId, timeoutSeconds: 600 }),
    serviceToken: (organizationId: string | null = null) => tokens.sign({ typ: 'service', onBehalfOf: null, organizationId }, 600),
    /** Runs one task now, as its schedule would. */
    runTask: (task: AnyTask, data: object = {}) => runTask(composed.taskPlatform, task, data, new AbortController().signal),
    /** Works everything that waits in a task's queue, whenever it is due. */
    drain: (task: AnyTask) => queue.drain(task.name, (data, signal, id) => runTask(composed.taskPlatform, task, data, signal, id)),
    /** Sends every webhook that is due by the clock; says how many were tried. */
    deliver: async () => (await drain({ ...composed.platform.services, db: composed.platform.db }, MAX_DELIVERIES)).attempted,
    /** Answers every question to alert rules that is due by the clock; says how many. */
    evaluateAlerts: () =>
      createEvaluator({
        ...composed.platform.services,
        db: composed.platform.db,
        onError: (error: unknown) => log.error({ err: error }, 'alerts'),
        onCapacity: () => {},
      }).drain(),
    sandbox,
    webhookSecret,
    flushAudit: () => composed.platform.audit.flush(),
    flushEgress: async () => await storeListener?.egress?.flush(),
    flushUsage: () => composed.usage.flush(),
  }
}

/** The embedded store with its own listener, on a port of its own. */
async function openStoreListener(
  dataDir: string,
  secret: Buffer,
  clock: Clock,
  log: ReturnType<typeof createLog>,
  { db, countsEgress, connections }: { db: Db; countsEgress: boolean; connections: ConnectionLimits | undefined },
) {
  let port = 0
  const egress = countsEgress ? createEgressRecorder(db, clock, (error) => log.error({ err: error }, 'egress')) : null
  const store = await openFileStore({
    root: path.join(dataDir, 'objects'),
    publicUrl: () => `http://127.0.0.1:${port}`,
    secrets: fixedSecret(secret),
    clock,
    countsEgress,
  })
  const listener = await startStoreListener({
    store,
    host: '127.0.0.1',
    port: 0,
    secrets: fixedSecret(secret),
    clock,
    log,
    egress,
    quota: createUploadQuota(db, clock),
    ...(connections ? { connections } : {}),
  })
  port = listener.port
  const close = async () => {
    await listener.close(0)
    await egress?.close()
  }
  return { store, egress, close, port }
}

export function testClock(start: string) {
  let now = new Date(start).getTime()
  return {
    now: () => new Date(now),
    advance(amount: { days?: number; hours?: number; minutes?: number; seconds?: number }) {
      now += (((amount.days ?? 0) * 24 + (amount.hours ?? 0)) * 60 + (amount.minutes ?? 0)) * 60_000 + (amount.seconds ?? 0) * 1000
    },
  }
}
