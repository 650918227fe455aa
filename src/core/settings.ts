/** The settings as an operator gives them: the environment, a configuration file, and files that hold one secret each. */
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { nearest } from './nearest.ts'

/** Its message tells the operator which setting to change. */
export class ConfigError extends Error {}

const PLAIN = [
  'PORT',
  'HOST',
  'BASE_URL',
  'STORE_PORT',
  'STORE_URL',
  'DATA_DIR',
  'DATABASE_POOLER',
  'DATABASE_POOL',
  'DATABASE_SEARCH_POOL',
  'DATABASE_REPLICA_LAG_SECONDS',
  'STORAGE_URL',
  'S3_ENDPOINT',
  'S3_PUBLIC_ENDPOINT',
  'S3_SSE',
  'S3_SSE_KMS_KEY',
  'S3_ACCESS_LOGS',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'ROLE',
  'DEMO',
  'PAYMENTS',
  'SANDBOX',
  'SANDBOX_DELIVERY_SECONDS',
  'SANDBOX_VENDORS_PORT',
  'SANDBOX_PAYMENTS_PORT',
  'SOURCES',
  'OFFLINE',
  'EXCHANGE_RATES',
  'EXCHANGE_MARGIN_PERCENT',
  'TRUSTED_PROXIES',
  'DRAIN_SECONDS',
  'KEEP_ALIVE_SECONDS',
  'SYSTEM_ADMIN_EMAILS',
  'CLIP_USER_EMAIL',
  'CLIP_AREAS',
  'COG_HOSTS',
  'COG_COMPRESSION',
  'EGRESS_ALLOW',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_NAME',
  'OIDC_SCOPES',
  'OIDC_DOMAINS',
  'OIDC_SIGN_UP',
  'RASTER_PROCESSES',
  'CDN_SECONDS',
  'TILE_CACHE',
  'TILE_CACHE_GB',
  'TILE_CACHE_DAYS',
  'JOB_PART_MEGAPIXELS',
  'WEBHOOK_BACKOFF_SECONDS',
  'WEBHOOK_TIMEOUT_SECONDS',
  'MAIL_FROM',
  'WORKERS',
  'BASEMAP_ATTRIBUTION',
  'BASEMAP_SATELLITE_ATTRIBUTION',
  'AUDIT_DAYS',
  'EVENT_DAYS',
  'DELIVERY_DAYS',
  'EGRESS_LOG_DAYS',
  'USAGE_DAYS',
  'LOG_TILES',
  'LOG_LEVEL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'NO_COLOR',
] as const

/** Never shown; each can be given as the path of a file, in a setting whose name ends with `_FILE`. */
const SECRET = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_REPLICA_URLS',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'SMTP_URL',
  'BASEMAP_URL',
  'BASEMAP_SATELLITE_URL',
  'METRICS_TOKEN',
  'OIDC_CLIENT_SECRET',
  'SECRETS_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const

const VENDOR_SECRET = /^VENDOR_[A-Z0-9_]+_(?:KEY|CLIENT_ID|CLIENT_SECRET|USER|PASSWORD)$/
const FILE_SUFFIX = '_FILE'
const MAX_FILE_BYTES = 65_536

export type SettingName = (typeof PLAIN)[number] | (typeof SECRET)[number]

export const SETTING_NAMES: readonly SettingName[] = [...PLAIN, ...SECRET]
const ALL: ReadonlySet<string> = new Set(SETTING_NAMES)

interface Setting {
  readonly value: string
  /** `the environment`, or the path of a file. */
  readonly origin: string
  readonly isSecret: boolean
}

export interface Settings {
  /** Null if it is not set, or set to nothing. */
  get(name: SettingName): string | null
  /** Credentials at sources, by the name of their setting. */
  readonly vendorSecrets: Readonly<Record<string, string>>
  /** Those that are set, by name. */
  readonly given: ReadonlyMap<string, Setting>
}

type Variables = Readonly<Record<string, string | undefined>>

const isSecret = (name: string): boolean => (SECRET as readonly string[]).includes(name) || VENDOR_SECRET.test(name)
const isKnown = (name: string): boolean => ALL.has(name) || VENDOR_SECRET.test(name)

/** What the environment sets overrides the file that `CONFIG_FILE` names. */
export function readSettings(env: Variables): Settings {
  const file = env['CONFIG_FILE']?.trim()
  const given = new Map([...(file ? settingsOf(variablesOf(file), file) : []), ...settingsOf(env, 'the environment')])
  return {
    get: (name) => given.get(name)?.value ?? null,
    vendorSecrets: Object.fromEntries([...given].filter(([name]) => VENDOR_SECRET.test(name)).map(([name, { value }]) => [name, value])),
    given,
  }
}

function settingsOf(variables: Variables, origin: string): Map<string, Setting> {
  const settings = new Map<string, Setting>()
  for (const [name, text] of Object.entries(variables)) {
    const value = text?.trim()
    if (value && isKnown(name)) settings.set(name, { value, origin, isSecret: isSecret(name) })
  }
  for (const [fileSetting, text] of Object.entries(variables)) {
    const name = fileSetting.slice(0, -FILE_SUFFIX.length)
    const path = text?.trim()
    if (!path || !fileSetting.endsWith(FILE_SUFFIX) || !isSecret(name)) continue
    if (settings.has(name)) throw new ConfigError(`${name} and ${fileSetting} are both set: remove one`)
    const value = contentOf(fileSetting, path).trim()
    if (!value) throw new ConfigError(`${fileSetting}: ${path} is empty`)
    settings.set(name, { value, origin: path, isSecret: true })
  }
  return settings
}

/** Lines of `NAME=value`. An unknown name is an error, because a misspelled setting would silently have no effect. */
function variablesOf(path: string): Variables {
  const variables = parseEnv(contentOf('CONFIG_FILE', path))
  for (const name of Object.keys(variables)) {
    const isFileOfSecret = name.endsWith(FILE_SUFFIX) && isSecret(name.slice(0, -FILE_SUFFIX.length))
    if (isKnown(name) || isFileOfSecret) continue
    const near = nearest(name, [...ALL])
    throw new ConfigError(`CONFIG_FILE: ${path} sets ${name}, which is not a setting${near ? `; did you mean ${near}?` : ''}`)
  }
  return variables
}

function contentOf(setting: string, path: string): string {
  let content: Buffer
  try {
    content = readFileSync(path)
  } catch (error) {
    throw new ConfigError(`${setting}: cannot read ${path}: ${(error as Error).message}`)
  }
  if (content.length > MAX_FILE_BYTES) throw new ConfigError(`${setting}: ${path} is larger than ${MAX_FILE_BYTES} bytes`)
  return content.toString('utf8')
}
