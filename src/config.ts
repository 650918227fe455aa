/** The only place that reads the environment. Every setting has a default, and all are validated before anything starts. */
import path from 'node:path'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import type { BaseMapSetting } from '#core/base-maps.ts'
import { STANDARD_POOL, STANDARD_SEARCH_POOL } from '#core/database-pool.ts'
import { MIN_USAGE_DAYS, STANDARD_RETENTION, type Retention } from '#core/retention.ts'
import { KEY_BYTES } from '#core/seal.ts'
import { ConfigError, readSettings, type SettingName, type Settings } from '#core/settings.ts'
import { SAMPLERS, type SamplerName } from '#core/trace-sampler.ts'
import { STANDARD_BACKOFF_SECONDS, STANDARD_TIMEOUT_SECONDS } from '#core/webhooks.ts'

type Role = 'all' | 'api' | 'worker'
type Pooler = '' | 'transaction'

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
  /** The server itself, if `databaseUrl` is a pooler; otherwise the same. */
  readonly databaseDirectUrl: string
  /** `transaction`: the pooler supports neither prepared statements nor session state. */
  readonly databasePooler: Pooler
  /** Connections of this process, and those for searches in addition. */
  readonly databasePool: number
  readonly databaseSearchPool: number
  /** Replicas that reads can use; empty: none. */
  readonly databaseReplicaUrls: readonly string[]
  /** A replica that is further behind is not used. */
  readonly databaseReplicaLagSeconds: number
  /** Empty: files in `dataDir`. Else `s3://bucket/prefix`. */
  readonly storageUrl: string
  /** An S3-compatible service other than Amazon's own. */
  readonly s3Endpoint: string
  /** Where clients reach it, for signed URLs; empty: at `s3Endpoint`. */
  readonly s3PublicEndpoint: string
  /** How objects are encrypted; null: as the bucket says. */
  readonly s3Encryption: S3Encryption | null
  /** Where the bucket's access logs are; null: downloads are counted when their URLs are signed. */
  readonly s3AccessLogs: { bucket: string; prefix: string } | null
  /** Empty: as in the AWS configuration files. */
  readonly s3Region: string
  /** Null: as the AWS configuration files or the machine's role say. */
  readonly s3Credentials: S3Credentials | null
  readonly role: Role
  /** `null`: seed if the service is local and the database is new. */
  readonly demo: boolean | null
  readonly systemAdminEmails: readonly string[]
  readonly clipUserEmail: string | null
  /** Hosts, or host:port, that COG URLs can use. */
  readonly cogHosts: readonly string[]
  /** Hosts, or host:port, that outbound requests can reach although they are private or plain http. */
  readonly egressAllow: readonly string[]
  /** The provider that everybody can sign in at; null: none. */
  readonly oidc: Oidc | null
  /** Compression of converted uploads. */
  readonly cogCompression: CogCompression
  /** Child processes that render and analyse rasters. */
  readonly rasterProcesses: number
  /** How long a CDN may keep tiles of public links; 0: not at all. */
  readonly cdnSeconds: number
  /** The tile cache in the object store; null: each process caches tiles in memory only. */
  readonly tileCache: TileCache | null
  /** Samples that a part of a divided job reads and writes; 0: jobs are not divided. */
  readonly jobPartSamples: number
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
  /** Credentials at sources, by the name of their setting. */
  readonly vendorSecrets: Readonly<Record<string, string>>
  /** Encrypts secrets in the database; null: the key in `dataDir`. */
  readonly secretsKey: Buffer | null
  /** Australian dollars for one unit of other currencies. */
  readonly exchangeRates: ExchangeRates
  /** Whether hosts outside the sandbox are neither probed nor searched. */
  readonly isOffline: boolean
  /** A file of areas whose mosaics can be clipped; null: the one that ships with the platform. */
  readonly clipAreas: string | null
  /** A file of registered external workers; null: none. */
  readonly workers: string | null
  /** Base maps in addition to the built-in one. */
  readonly baseMaps: readonly BaseMapSetting[]
  /** Addresses and networks whose `X-Forwarded-For` and `-Proto` are trusted. */
  readonly trustedProxies: readonly string[]
  /** Normal service between SIGTERM and the end of service. */
  readonly drainSeconds: number
  /** How long an idle connection stays open; longer than the load balancer keeps it. */
  readonly keepAliveSeconds: number
  /** Bearer token for `/metrics`; empty: open on a local service, closed otherwise. */
  readonly metricsToken: string
  /** Seconds before each retry of a webhook. */
  readonly webhookBackoffSeconds: readonly number[]
  readonly webhookTimeoutSeconds: number
  /** Empty: emails are written to files in `dataDir`. */
  readonly smtpUrl: string
  readonly mailFrom: string
  /** How long the records of calls are kept. */
  readonly retention: Retention
  readonly logLevel: string
  /** The fraction of successful tile requests that are logged. */
  readonly logTiles: number
  /** Where traces are sent, and which; null: none are recorded. */
  readonly tracing: Tracing | null
  /** Colours of the log on a terminal; false with NO_COLOR. */
  readonly hasColours: boolean
  /** `HOST` and the host of `BASE_URL` are both loopback: only people at this machine can reach the port. */
  readonly isLocal: boolean
}

interface TileCache {
  readonly maxBytes: number
  readonly maxAgeSeconds: number
}

interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

interface S3Encryption {
  readonly algorithm: 'AES256' | 'aws:kms'
  readonly kmsKey: string
}

/** The standard OTEL_* settings. */
interface Tracing {
  /** Of the collector, with the path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  /** What else describes this process. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerName
  /** The fraction of traces that the samplers by ratio record. */
  readonly ratio: number
}

interface Oidc {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly scopes: string
  readonly name: string
  readonly domains: readonly string[]
  readonly maySignUp: boolean
}

interface ExchangeRates {
  /** By ISO 4217 code. */
  readonly audPerUnit: Readonly<Record<string, number>>
  /** The day of all rates, such as `2026-11-01`; null if there are none. */
  readonly day: string | null
  /** Added to every conversion, for changes between the order and the vendor's invoice. */
  readonly marginPercent: number
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const PAYMENTS: readonly PaymentsKind[] = ['sandbox', 'stripe', 'none']
const COMPRESSIONS: readonly CogCompression[] = ['zstd', 'deflate']
/** Each can use half a gigabyte. */
const MAX_RASTER_PROCESSES = 256
/** More than any job has. */
const MAX_PART_MEGAPIXELS = 1_000_000
/** More connections than a process can use. */
const MAX_POOL = 500
/** A process has connections to each. */
const MAX_REPLICAS = 16
/** Older data would surprise everyone. */
const MAX_REPLICA_LAG_SECONDS = 3_600
const STANDARD_REPLICA_LAG_SECONDS = 10
/** A century. */
const MAX_RETENTION_DAYS = 36_500
/** A year, which caches regard as forever. */
const MAX_CDN_SECONDS = 31_536_000
const MAX_TILE_CACHE_GB = 100_000
const MAX_TILE_CACHE_DAYS = 365
const ROLES: readonly Role[] = ['all', 'api', 'worker']

type Text = (name: SettingName, standard: string) => string

export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  return configOf(readSettings(env))
}

export function configOf(settings: Settings): Config {
  const text: Text = (name, standard) => settings.get(name) ?? standard
  const file = (name: SettingName): string | null => {
    const given = settings.get(name)
    return given === null ? null : path.resolve(given)
  }
  const demo = settings.get('DEMO')
  const host = text('HOST', '127.0.0.1')
  const port = integer('PORT', text('PORT', '8080'), 0, 65_535)
  const baseUrl = baseUrlOf(text('BASE_URL', ''), host, port)
  const isLocal = isLoopback(host) && isLoopback(new URL(baseUrl).hostname.replaceAll(/[[\]]/g, ''))
  const storePort = integer('STORE_PORT', text('STORE_PORT', String(port === 0 ? 0 : port + 1)), 0, 65_535)
  return Object.freeze({
    port,
    host,
    baseUrl,
    storePort,
    storeUrl: storeUrl(text('STORE_URL', ''), baseUrl, storePort),
    dataDir: path.resolve(text('DATA_DIR', './data')),
    ...database(text),
    storageUrl: storageUrl(text('STORAGE_URL', '')),
    s3Endpoint: httpUrl('S3_ENDPOINT', text('S3_ENDPOINT', '')),
    s3PublicEndpoint: httpUrl('S3_PUBLIC_ENDPOINT', text('S3_PUBLIC_ENDPOINT', '')),
    s3Encryption: s3Encryption(text),
    s3AccessLogs: s3AccessLogs(text),
    s3Region: text('AWS_REGION', text('AWS_DEFAULT_REGION', '')),
    s3Credentials: s3Credentials(text),
    role: oneOf('ROLE', text('ROLE', 'all'), ROLES),
    demo: demo === null ? null : flag('DEMO', demo),
    systemAdminEmails: list(text('SYSTEM_ADMIN_EMAILS', '')),
    clipUserEmail: text('CLIP_USER_EMAIL', '').toLowerCase() || null,
    cogHosts: list(text('COG_HOSTS', '')),
    egressAllow: list(text('EGRESS_ALLOW', '')),
    oidc: oidc(text),
    cogCompression: oneOf('COG_COMPRESSION', text('COG_COMPRESSION', 'zstd'), COMPRESSIONS),
    rasterProcesses: integer('RASTER_PROCESSES', text('RASTER_PROCESSES', String(availableParallelism())), 1, MAX_RASTER_PROCESSES),
    cdnSeconds: integer('CDN_SECONDS', text('CDN_SECONDS', '3600'), 0, MAX_CDN_SECONDS),
    tileCache: tileCache(text),
    jobPartSamples: 1e6 * integer('JOB_PART_MEGAPIXELS', text('JOB_PART_MEGAPIXELS', '100'), 0, MAX_PART_MEGAPIXELS),
    ...payments(text, isLocal),
    ...events(text, baseUrl),
    sandbox: flag('SANDBOX', text('SANDBOX', isLocal ? '1' : '0')),
    sandboxVendorsPort: integer('SANDBOX_VENDORS_PORT', text('SANDBOX_VENDORS_PORT', '0'), 0, 65_535),
    sandboxDeliverySeconds: integer('SANDBOX_DELIVERY_SECONDS', text('SANDBOX_DELIVERY_SECONDS', '5'), 0, 86_400),
    sources: file('SOURCES'),
    vendorSecrets: vendorSecrets(settings),
    secretsKey: secretsKey(text('SECRETS_KEY', '')),
    exchangeRates: exchangeRates(text('EXCHANGE_RATES', ''), text('EXCHANGE_MARGIN_PERCENT', '3')),
    isOffline: flag('OFFLINE', text('OFFLINE', '0')),
    clipAreas: file('CLIP_AREAS'),
    workers: file('WORKERS'),
    baseMaps: baseMaps(text),
    trustedProxies: networks('TRUSTED_PROXIES', text('TRUSTED_PROXIES', '')),
    drainSeconds: integer('DRAIN_SECONDS', text('DRAIN_SECONDS', isLocal ? '0' : '5'), 0, 600),
    keepAliveSeconds: integer('KEEP_ALIVE_SECONDS', text('KEEP_ALIVE_SECONDS', '75'), 1, 3_600),
    metricsToken: bearer('METRICS_TOKEN', text('METRICS_TOKEN', '')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL', 'info'), LOG_LEVELS),
    logTiles: fraction('LOG_TILES', text('LOG_TILES', '1')),
    retention: retention(text),
    tracing: tracing(text),
    hasColours: text('NO_COLOR', '') === '',
    isLocal,
  })
}

function database(text: Text): Pick<Config, Extract<keyof Config, `database${string}`>> {
  const databaseUrl = postgresUrl('DATABASE_URL', text('DATABASE_URL', ''))
  const databaseDirectUrl = postgresUrl('DATABASE_DIRECT_URL', text('DATABASE_DIRECT_URL', databaseUrl))
  const databasePooler = pooler(text('DATABASE_POOLER', ''))
  if (!databaseUrl && (databaseDirectUrl || databasePooler))
    throw new ConfigError(`${databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_POOLER'} needs DATABASE_URL`)
  const databaseReplicaUrls = replicaUrls(text('DATABASE_REPLICA_URLS', ''))
  if (!databaseUrl && databaseReplicaUrls.length > 0) throw new ConfigError('DATABASE_REPLICA_URLS needs DATABASE_URL')
  const lag = text('DATABASE_REPLICA_LAG_SECONDS', String(STANDARD_REPLICA_LAG_SECONDS))
  return {
    databaseUrl,
    databaseDirectUrl,
    databasePooler,
    databaseReplicaUrls,
    databaseReplicaLagSeconds: integer('DATABASE_REPLICA_LAG_SECONDS', lag, 1, MAX_REPLICA_LAG_SECONDS),
    databasePool: integer('DATABASE_POOL', text('DATABASE_POOL', String(STANDARD_POOL)), 2, MAX_POOL),
    databaseSearchPool: integer('DATABASE_SEARCH_POOL', text('DATABASE_SEARCH_POOL', String(STANDARD_SEARCH_POOL)), 1, MAX_POOL),
  }
}

function s3Credentials(text: Text): S3Credentials | null {
  const accessKeyId = text('AWS_ACCESS_KEY_ID', '')
  const secretAccessKey = text('AWS_SECRET_ACCESS_KEY', '')
  const sessionToken = text('AWS_SESSION_TOKEN', '')
  if (!accessKeyId && !secretAccessKey) return null
  if (!accessKeyId || !secretAccessKey)
    throw new ConfigError(`${accessKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID'} is missing; set both, or neither`)
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) }
}

function s3Encryption(text: Text): S3Encryption | null {
  const algorithm = oneOf('S3_SSE', text('S3_SSE', ''), ['', 'AES256', 'aws:kms'])
  const kmsKey = text('S3_SSE_KMS_KEY', '')
  if (kmsKey && algorithm !== 'aws:kms') throw new ConfigError('S3_SSE_KMS_KEY needs S3_SSE=aws:kms')
  return algorithm === '' ? null : { algorithm, kmsKey }
}

function tileCache(text: Text): TileCache | null {
  const gigabytes = integer('TILE_CACHE_GB', text('TILE_CACHE_GB', '10'), 1, MAX_TILE_CACHE_GB)
  const days = integer('TILE_CACHE_DAYS', text('TILE_CACHE_DAYS', '7'), 1, MAX_TILE_CACHE_DAYS)
  if (oneOf('TILE_CACHE', text('TILE_CACHE', 'memory'), ['memory', 'store']) === 'memory') return null
  return { maxBytes: gigabytes * 1e9, maxAgeSeconds: days * 86_400 }
}

/** Needs the issuer and the client; everything else has a default. */
function oidc(text: Text): Oidc | null {
  const issuer = httpUrl('OIDC_ISSUER', text('OIDC_ISSUER', ''))
  const clientId = text('OIDC_CLIENT_ID', '')
  const clientSecret = text('OIDC_CLIENT_SECRET', '') || null
  const scopes = text('OIDC_SCOPES', 'openid email profile')
  const maySignUp = flag('OIDC_SIGN_UP', text('OIDC_SIGN_UP', '1'))
  if (!issuer) {
    if (clientId || clientSecret) throw new ConfigError('OIDC_CLIENT_ID and OIDC_CLIENT_SECRET need OIDC_ISSUER')
    return null
  }
  if (!clientId) throw new ConfigError('OIDC_ISSUER needs OIDC_CLIENT_ID')
  if (!scopes.split(/\s+/).includes('openid')) throw new ConfigError("OIDC_SCOPES must include 'openid'")
  return { issuer, clientId, clientSecret, scopes, name: text('OIDC_NAME', 'SSO'), domains: list(text('OIDC_DOMAINS', '')), maySignUp }
}

function tracing(text: Text): Tracing | null {
  const endpoint = httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', text('OTEL_EXPORTER_OTLP_ENDPOINT', ''))
  const resource = pairs('OTEL_RESOURCE_ATTRIBUTES', text('OTEL_RESOURCE_ATTRIBUTES', ''))
  const settings = {
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', text('OTEL_EXPORTER_OTLP_HEADERS', '')),
    serviceName: text('OTEL_SERVICE_NAME', resource['service.name'] ?? 'groundtrack'),
    resource,
    sampler: oneOf('OTEL_TRACES_SAMPLER', text('OTEL_TRACES_SAMPLER', 'parentbased_always_on'), SAMPLERS),
    ratio: fraction('OTEL_TRACES_SAMPLER_ARG', text('OTEL_TRACES_SAMPLER_ARG', '1')),
  }
  return endpoint ? { url: `${endpoint}/v1/traces`, ...settings } : null
}

/** `name=value,name=value`, with values that are encoded as in a URL. The message shows no value, because it can be a secret. */
function pairs(name: string, value: string): Record<string, string> {
  const entries = value.split(',').filter((entry) => entry.trim() !== '')
  return Object.fromEntries(
    entries.map((entry) => {
      const [, key, text] = /^\s*([\w.-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(entry) ?? []
      if (key === undefined) throw new ConfigError(`${name} must list name=value, separated by commas`)
      try {
        return [key, decodeURIComponent(text!)]
      } catch {
        throw new ConfigError(`${name} must have values that are encoded as in a URL`)
      }
    }),
  )
}

function baseMaps(text: Text): BaseMapSetting[] {
  const streets = baseMap('streets', 'Streets', ['BASEMAP_URL', 'BASEMAP_ATTRIBUTION'], text)
  const satellite = baseMap('satellite', 'Satellite', ['BASEMAP_SATELLITE_URL', 'BASEMAP_SATELLITE_ATTRIBUTION'], text)
  return [streets, satellite].filter((map) => map !== null)
}

/** The message shows no value, because it can contain a key. */
function baseMap(
  id: BaseMapSetting['id'],
  name: string,
  [setting, attributionSetting]: readonly [SettingName, SettingName],
  text: Text,
): BaseMapSetting | null {
  const given = text(setting, '')
  const attribution = text(attributionSetting, '')
  if (!given && attribution) throw new ConfigError(`${attributionSetting} needs ${setting}`)
  if (!given) return null
  const isUrl = /^https?:\/\//.test(given)
  if (isUrl && !URL.parse(given)) throw new ConfigError(`${setting} must be an http or https URL, or the path of a .pmtiles file`)
  if (/\.pmtiles(?:[?#].*)?$/.test(given)) return { id, name, kind: 'pmtiles', location: isUrl ? given : path.resolve(given), attribution }
  if (!isUrl) throw new ConfigError(`${setting} must be an http or https URL, or the path of a .pmtiles file`)
  if (/\{quadkey\}|\{z\}/.test(given)) {
    if (!/\{quadkey\}/.test(given) && !(/\{x\}/.test(given) && /\{-?y\}/.test(given)))
      throw new ConfigError(`${setting} must have {z}, {x} and {y}, or {quadkey}, if it is a template of raster tiles`)
    if (!attribution)
      throw new ConfigError(`${setting} is a template of raster tiles, which needs ${attributionSetting}: whom the map must name`)
    return { id, name, kind: 'raster', location: given, attribution }
  }
  return { id, name, kind: 'style', location: given, attribution }
}

function s3AccessLogs(text: Text): Config['s3AccessLogs'] {
  const url = text('S3_ACCESS_LOGS', '')
  if (url === '') return null
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!./'()*-]*))?$/.exec(url) ?? []
  if (!bucket) throw new ConfigError('S3_ACCESS_LOGS must be s3://bucket/prefix')
  if (text('STORAGE_URL', '') === '') throw new ConfigError('S3_ACCESS_LOGS needs STORAGE_URL=s3://…')
  return { bucket, prefix }
}

/** 0 keeps records forever. */
function retention(text: Text): Retention {
  const days = (name: SettingName, standard: number) => integer(name, text(name, String(standard)), 0, MAX_RETENTION_DAYS)
  const usageDays = days('USAGE_DAYS', STANDARD_RETENTION.usageDays)
  if (usageDays > 0 && usageDays < MIN_USAGE_DAYS)
    throw new ConfigError(`USAGE_DAYS must be 0 (forever) or at least ${MIN_USAGE_DAYS}, not '${usageDays}'`)
  return {
    auditDays: days('AUDIT_DAYS', STANDARD_RETENTION.auditDays),
    eventDays: days('EVENT_DAYS', STANDARD_RETENTION.eventDays),
    deliveryDays: days('DELIVERY_DAYS', STANDARD_RETENTION.deliveryDays),
    egressLogDays: days('EGRESS_LOG_DAYS', STANDARD_RETENTION.egressLogDays),
    usageDays,
  }
}

function fraction(name: string, value: string): number {
  const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= 0 && number <= 1)) throw new ConfigError(`${name} must be a number from 0 to 1, not '${value}'`)
  return number
}

function pooler(value: string): Pooler {
  if (value !== '' && value !== 'transaction') throw new ConfigError(`DATABASE_POOLER must be transaction, not '${value}'`)
  return value
}

/** Passwords are case-sensitive, and a comma in one is written `%2C`. The message shows no URL, because it can contain a password. */
function replicaUrls(value: string): string[] {
  const urls = value.split(',').map((url) => url.trim())
  const given = urls.filter((url) => url !== '')
  if (given.length > MAX_REPLICAS)
    throw new ConfigError(`DATABASE_REPLICA_URLS must list up to ${MAX_REPLICAS} replicas, not ${given.length}`)
  return given.map((url) => postgresUrl('Each entry of DATABASE_REPLICA_URLS', url))
}

function postgresUrl(name: string, value: string): string {
  if (value && !/^postgres(ql)?:\/\//.test(value)) throw new ConfigError(`${name} must begin with postgres://`)
  return value
}

function payments(
  text: Text,
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

function events(text: Text, baseUrl: string): Pick<Config, 'webhookBackoffSeconds' | 'webhookTimeoutSeconds' | 'smtpUrl' | 'mailFrom'> {
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

function vendorSecrets({ vendorSecrets: secrets }: Settings): Readonly<Record<string, string>> {
  for (const [name, secret] of Object.entries(secrets))
    if (!/^[\x20-\x7e]*$/.test(secret)) throw new ConfigError(`${name} must be printable ASCII on one line`)
  return secrets
}

/** 32 bytes in Base64 or hexadecimal. */
function secretsKey(given: string): Buffer | null {
  if (!given) return null
  const key = Buffer.from(given, /^[0-9a-fA-F]{64}$/.test(given) ? 'hex' : 'base64')
  if (key.length !== KEY_BYTES)
    throw new ConfigError(
      `SECRETS_KEY must be ${KEY_BYTES} bytes in Base64 or hexadecimal; create one with: openssl rand -base64 ${KEY_BYTES}`,
    )
  return key
}

const EXCHANGE_RATES = /^([^@]+)@(\d{4}-\d{2}-\d{2})$/
const EXCHANGE_RATE = /^([A-Z]{3})=(\d{1,6}(?:\.\d{1,8})?)$/
const MAX_MARGIN_PERCENT = 100

/** `USD=1.56,EUR=1.71@2026-11-01`: Australian dollars for one unit, and the day of the rates. */
function exchangeRates(given: string, margin: string): ExchangeRates {
  const marginPercent = Number(margin)
  if (!(marginPercent >= 0 && marginPercent <= MAX_MARGIN_PERCENT))
    throw new ConfigError(`EXCHANGE_MARGIN_PERCENT must be a number from 0 to ${MAX_MARGIN_PERCENT}, not '${margin}'`)
  if (!given) return { audPerUnit: {}, day: null, marginPercent }
  const [, rates, day] = EXCHANGE_RATES.exec(given) ?? []
  if (rates === undefined || Number.isNaN(Date.parse(`${day}T00:00:00Z`)))
    throw new ConfigError(`EXCHANGE_RATES must end with the day of the rates, such as USD=1.56,EUR=1.71@2026-11-01, not '${given}'`)
  const entries = rates.split(',').map((entry): [string, number] => {
    const [, currency, rate] = EXCHANGE_RATE.exec(entry.trim()) ?? []
    if (currency === undefined || !(Number(rate) > 0))
      throw new ConfigError(`EXCHANGE_RATES must list Australian dollars for one unit, such as USD=1.56, not '${entry.trim()}'`)
    return [currency, Number(rate)]
  })
  return { audPerUnit: Object.fromEntries(entries), day: day!, marginPercent }
}

function seconds(name: string, value: string, maximum: number): number {
  const number = Number(value)
  if (!(number > 0 && number <= maximum))
    throw new ConfigError(`${name} must be a number of seconds above 0 and up to ${maximum}, not '${value}'`)
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
      throw new ConfigError(`${name} must list IP addresses or networks such as 10.0.0.0/8, not '${entry}'`)
  }
  return entries
}

function baseUrlOf(given: string, host: string, port: number): string {
  if (!given) return `http://${isIP(host) === 6 ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  return httpUrl('BASE_URL', given)
}

/** The host of the API with the store's port, unless STORE_URL is set because of a proxy. */
function storeUrl(given: string, baseUrl: string, port: number): string {
  if (given) return httpUrl('STORE_URL', given)
  const { protocol, hostname } = new URL(baseUrl)
  return `${protocol}//${hostname}:${port}`
}

function httpUrl(name: string, given: string): string {
  const url = URL.parse(given)
  if (given && (!url || !['http:', 'https:'].includes(url.protocol))) throw new ConfigError(`${name} must be an http or https URL`)
  return given.replace(/\/+$/, '')
}

const STORAGE_URL = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._-]+)*\/?$/

function storageUrl(given: string): string {
  if (given && !STORAGE_URL.test(given))
    throw new ConfigError("STORAGE_URL must be s3://bucket or s3://bucket/prefix, with letters, digits, '.', '_' and '-'")
  return given
}

function integer(name: string, value: string, minimum: number, maximum: number): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < minimum || number > maximum)
    throw new ConfigError(`${name} must be an integer from ${minimum} to ${maximum}, not '${value}'`)
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
