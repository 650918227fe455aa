/** The only place that reads the environment. Everything has a default; everything is checked before anything starts. */
import path from 'node:path'
import { isIP } from 'node:net'

export type Role = 'all' | 'api' | 'worker'

export interface Config {
  readonly port: number
  readonly host: string
  readonly baseUrl: string
  readonly dataDir: string
  /** Empty: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string
  readonly role: Role
  /** `null`: seed when bound to loopback and the database is new. */
  readonly demo: boolean | null
  readonly systemAdminEmails: readonly string[]
  readonly clipUserEmail: string | null
  /** Hosts, or host:port, that COG addresses may name. */
  readonly cogHosts: readonly string[]
  /** Hosts, or host:port, that outbound requests may reach although private or plain http. */
  readonly egressAllow: readonly string[]
  readonly logLevel: string
  readonly isLoopback: boolean
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const ROLES: readonly Role[] = ['all', 'api', 'worker']

export class ConfigError extends Error {}

export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const text = (name: string, standard: string) => (env[name]?.trim() ? env[name]!.trim() : standard)
  const host = text('HOST', '127.0.0.1')
  const port = integer('PORT', text('PORT', '8080'), 0, 65_535)
  const databaseUrl = text('DATABASE_URL', '')
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) throw new ConfigError('DATABASE_URL must begin with postgres://')
  return Object.freeze({
    port,
    host,
    baseUrl: baseUrl(text('BASE_URL', ''), host, port),
    dataDir: path.resolve(text('DATA_DIR', './data')),
    databaseUrl,
    role: oneOf('ROLE', text('ROLE', 'all'), ROLES),
    demo: env['DEMO']?.trim() ? flag('DEMO', env['DEMO'].trim()) : null,
    systemAdminEmails: list(text('SYSTEM_ADMIN_EMAILS', '')),
    clipUserEmail: text('CLIP_USER_EMAIL', '').toLowerCase() || null,
    cogHosts: list(text('COG_HOSTS', '')),
    egressAllow: list(text('EGRESS_ALLOW', '')),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL', 'info'), LOG_LEVELS),
    isLoopback: isLoopback(host),
  })
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function baseUrl(given: string, host: string, port: number): string {
  if (!given) return `http://${isIP(host) === 6 ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  const url = URL.parse(given)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new ConfigError('BASE_URL must be an http or https address')
  return given.replace(/\/+$/, '')
}

function integer(name: string, value: string, minimum: number, maximum: number): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < minimum || number > maximum) throw new ConfigError(`${name} must be a whole number from ${minimum} to ${maximum}, not '${value}'`)
  return number
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(value)) throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not '${value}'`)
  return value as T
}

function flag(name: string, value: string): boolean {
  return oneOf(name, value, ['0', '1']) === '1'
}

function list(value: string): string[] {
  return value.split(',').map((entry) => entry.trim().toLowerCase()).filter(Boolean)
}
