/** The only place that reads the environment. Every setting has a default, and all are validated before anything starts. */
import path from 'node:path'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { STANDARD_BACKOFF_SECONDS, STANDARD_TIMEOUT_SECONDS } from '#core/webhooks.ts'

type Role = 'all' | 'api' | 'worker'

type PaymentsKind = 'sandbox' | 'stripe' | 'none'
type CogCompression = 'zstd' | 'deflate'

export interface Config {
  readonly port: number
  readonly host: string
  readonly baseUrl: string
  /** Port of the embedded object store; 0 for any free port. */
  readonly storePort: number
  /** Public URL of the embedded object store, used in signed URLs. */
  readonly storeUrl: string
  readonly dataDir: string
  /** Empty: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string
  /** Empty: files in `dataDir`. Else `s3://bucket/prefix`. */
  readonly storageUrl: string
  /** An S3-compatible service other than Amazon's own. */
  readonly s3Endpoint: string
  /** Empty: as in the AWS configuration files. */
  readonly s3Region: string
  readonly role: Role
  /** `null`: seed if the service is local and the database is new. */
  readonly demo: boolean | null
  readonly systemAdminEmails: readonly string[]
  readonly clipUserEmail: string | null
  /** Hosts, or host:port, that COG URLs can use. */
  readonly cogHosts: readonly string[]
  /** Hosts, or host:port, that outbound requests can reach although they are private or plain http. */
  readonly egressAllow: readonly string[]
  /** Compression of converted uploads. */
  readonly cogCompression: CogCompression
  /** Child processes that render and analyse rasters. */
  readonly rasterProcesses: number
  readonly payments: PaymentsKind
  readonly stripeSecretKey: string
  /** Verifies the processor's requests to `/webhooks/payments`. */
  readonly stripeWebhookSecret: string
  /** Port of the sandbox processor, on loopback; 0 for any free port. */
  readonly sandboxPaymentsPort: number
  /** The simulated vendor hosts. */
  readonly sandbox: boolean
  /** Port of the simulated vendors, on loopback; 0 for any free port. */
  readonly sandboxVendorsPort: number
  /** Duration of each step of a simulated vendor. */
  readonly sandboxDeliverySeconds: number
  /** A file of catalogue sources; null: the registry that ships with the platform. */
  readonly sources: string | null
  /** A file of areas whose mosaics can be clipped; null: the one that ships with the platform. */
  readonly clipAreas: string | null
  /** A file of registered external workers; null: none. */
  readonly workers: string | null
  /** Addresses and networks whose `X-Forwarded-For` and `-Proto` are trusted. */
  readonly trustedProxies: readonly string[]
  /** Bearer token for `/metrics`; empty: open on a local service, closed otherwise. */
  readonly metricsToken: string
  /** Seconds before each retry of a webhook. */
  readonly webhookBackoffSeconds: readonly number[]
  readonly webhookTimeoutSeconds: number
  /** Empty: emails are written to files in `dataDir`. */
  readonly smtpUrl: string
  readonly mailFrom: string
  readonly logLevel: string
  /** Of the log on a terminal; false with NO_COLOR. */
  readonly hasColours: boolean
  /** `HOST` and the host of `BASE_URL` are both loopback: only people at this machine can reach the port. */
  readonly isLocal: boolean
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const PAYMENTS: readonly PaymentsKind[] = ['sandbox', 'stripe', 'none']
const COMPRESSIONS: readonly CogCompression[] = ['zstd', 'deflate']
/** Each can use half a gigabyte. */
const MAX_RASTER_PROCESSES = 256
const ROLES: readonly Role[] = ['all', 'api', 'worker']

export class ConfigError extends Error {}

export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const text = (name: string, standard: string) => (env[name]?.trim() ? env[name]!.trim() : standard)
  const host = text('HOST', '127.0.0.1')
  const port = integer('PORT', text('PORT', '8080'), 0, 65_535)
  const databaseUrl = text('DATABASE_URL', '')
  const baseUrl = baseUrlOf(text('BASE_URL', ''), host, port)
  const isLocal = isLoopback(host) && isLoopback(new URL(baseUrl).hostname.replaceAll(/[[\]]/g, ''))
  const storePort = integer('STORE_PORT', text('STORE_PORT', String(port === 0 ? 0 : port + 1)), 0, 65_535)
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) throw new ConfigError('DATABASE_URL must begin with postgres://')
  return Object.freeze({
    port,
    host,
    baseUrl,
    storePort,
    storeUrl: storeUrl(text('STORE_URL', ''), baseUrl, storePort),
    dataDir: path.resolve(text('DATA_DIR', './data')),
    databaseUrl,
    storageUrl: storageUrl(text('STORAGE_URL', '')),
    s3Endpoint: httpAddress('S3_ENDPOINT', text('S3_ENDPOINT', '')),
    s3Region: text('AWS_REGION', text('AWS_DEFAULT_REGION', '')),
    role: oneOf('ROLE', text('ROLE', 'all'), ROLES),
    demo: env['DEMO']?.trim() ? flag('DEMO', env['DEMO'].trim()) : null,
    systemAdminEmails: list(text('SYSTEM_ADMIN_EMAILS', '')),
    clipUserEmail: text('CLIP_USER_EMAIL', '').toLowerCase() || null,
    cogHosts: list(text('COG_HOSTS', '')),
    egressAllow: list(text('EGRESS_ALLOW', '')),
    cogCompression: oneOf('COG_COMPRESSION', text('COG_COMPRESSION', 'zstd'), COMPRESSIONS),
    rasterProcesses: integer('RASTER_PROCESSES', text('RASTER_PROCESSES', String(availableParallelism())), 1, MAX_RASTER_PROCESSES),
    ...payments(text, isLocal),
    ...events(text, baseUrl),
    sandbox: flag('SANDBOX', text('SANDBOX', isLocal ? '1' : '0')),
    sandboxVendorsPort: integer('SANDBOX_VENDORS_PORT', text('SANDBOX_VENDORS_PORT', '0'), 0, 65_535),
    sandboxDeliverySeconds: integer('SANDBOX_DELIVERY_SECONDS', text('SANDBOX_DELIVERY_SECONDS', '5'), 0, 86_400),
    sources: env['SOURCES']?.trim() ? path.resolve(env['SOURCES'].trim()) : null,
    clipAreas: env['CLIP_AREAS']?.trim() ? path.resolve(env['CLIP_AREAS'].trim()) : null,
    workers: env['WORKERS']?.trim() ? path.resolve(env['WORKERS'].trim()) : null,
    trustedProxies: networks('TRUSTED_PROXIES', text('TRUSTED_PROXIES', '')),
    metricsToken: bearer('METRICS_TOKEN', text('METRICS_TOKEN', '')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL', 'info'), LOG_LEVELS),
    hasColours: text('NO_COLOR', '') === '',
    isLocal,
  })
}

function payments(
  text: (name: string, standard: string) => string,
  isLocal: boolean,
): Pick<Config, 'payments' | 'stripeSecretKey' | 'stripeWebhookSecret' | 'sandboxPaymentsPort'> {
  const kind = oneOf('PAYMENTS', text('PAYMENTS', isLocal ? 'sandbox' : 'none'), PAYMENTS)
  const stripeSecretKey = text('STRIPE_SECRET_KEY', '')
  const stripeWebhookSecret = text('STRIPE_WEBHOOK_SECRET', '')
  if (kind === 'stripe' && !stripeSecretKey) throw new ConfigError('PAYMENTS=stripe needs STRIPE_SECRET_KEY')
  return {
    payments: kind,
    stripeSecretKey,
    stripeWebhookSecret,
    sandboxPaymentsPort: integer('SANDBOX_PAYMENTS_PORT', text('SANDBOX_PAYMENTS_PORT', '0'), 0, 65_535),
  }
}

function events(
  text: (name: string, standard: string) => string,
  baseUrl: string,
): Pick<Config, 'webhookBackoffSeconds' | 'webhookTimeoutSeconds' | 'smtpUrl' | 'mailFrom'> {
  const backoff = text('WEBHOOK_BACKOFF_SECONDS', STANDARD_BACKOFF_SECONDS.join(','))
  const smtpUrl = text('SMTP_URL', '')
  if (smtpUrl && !/^smtps?:\/\//.test(smtpUrl)) throw new ConfigError('SMTP_URL must begin with smtp:// or smtps://')
  return {
    webhookBackoffSeconds: list(backoff).map((step) => seconds('WEBHOOK_BACKOFF_SECONDS', step, 7 * 86_400)),
    webhookTimeoutSeconds: seconds('WEBHOOK_TIMEOUT_SECONDS', text('WEBHOOK_TIMEOUT_SECONDS', String(STANDARD_TIMEOUT_SECONDS)), 120),
    smtpUrl,
    mailFrom: text('MAIL_FROM', `Groundtrack <no-reply@${new URL(baseUrl).hostname}>`),
  }
}

function seconds(name: string, value: string, maximum: number): number {
  const number = Number(value)
  if (!(number > 0 && number <= maximum)) throw new ConfigError(`${name} must be seconds above 0 and up to ${maximum}, not '${value}'`)
  return number
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Addresses, or networks such as `10.0.0.0/8`. A prefix of 0 is rejected, because every caller could then forge its address. */
function networks(name: string, value: string): string[] {
  const entries = list(value)
  for (const entry of entries) {
    const [address, prefix, rest] = entry.split('/')
    const family = isIP(address!)
    const isNetwork =
      prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (family === 4 ? 32 : 128))
    if (family === 0 || !isNetwork || rest !== undefined)
      throw new ConfigError(`${name} must list addresses or networks such as 10.0.0.0/8, not '${entry}'`)
  }
  return entries
}

function baseUrlOf(given: string, host: string, port: number): string {
  if (!given) return `http://${isIP(host) === 6 ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  return httpAddress('BASE_URL', given)
}

/** The host of the API with the store's port, unless STORE_URL is set because of a proxy. */
function storeUrl(given: string, baseUrl: string, port: number): string {
  if (given) return httpAddress('STORE_URL', given)
  const { protocol, hostname } = new URL(baseUrl)
  return `${protocol}//${hostname}:${port}`
}

function httpAddress(name: string, given: string): string {
  const url = URL.parse(given)
  if (given && (!url || !['http:', 'https:'].includes(url.protocol))) throw new ConfigError(`${name} must be an http or https URL`)
  return given.replace(/\/+$/, '')
}

const STORAGE_URL = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._-]+)*\/?$/

function storageUrl(given: string): string {
  if (given && !STORAGE_URL.test(given))
    throw new ConfigError("STORAGE_URL must be s3://bucket or s3://bucket/prefix, its parts of letters, digits, '.', '_' and '-'")
  return given
}

function integer(name: string, value: string, minimum: number, maximum: number): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < minimum || number > maximum)
    throw new ConfigError(`${name} must be a whole number from ${minimum} to ${maximum}, not '${value}'`)
  return number
}

/** Text that is valid in an Authorization header. */
function bearer(name: string, value: string): string {
  if (!/^[\x21-\x7e]*$/.test(value)) throw new ConfigError(`${name} must be printable ASCII without spaces`)
  return value
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(value)) throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not '${value}'`)
  return value as T
}

function flag(name: string, value: string): boolean {
  return oneOf(name, value, ['0', '1']) === '1'
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter(Boolean)
}
