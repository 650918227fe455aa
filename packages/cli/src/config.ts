/** Accounts of this person: where a service is and how to be let in. The file is theirs alone. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Client } from '../../client/src/client.ts'
import type { SessionTokens } from '../../client/src/session.ts'
import type { GlobalOptions } from './options.ts'
import { UsageError } from './failure.ts'

export interface Account {
  server: string
  apiKey?: string
  session?: SessionTokens
  /** Used where an operation needs a project and none is named. */
  project?: string
}

interface Accounts {
  current: string
  accounts: Record<string, Account>
}

export const DEFAULT_SERVER = 'http://127.0.0.1:8080'
const OWNER_ONLY = 0o600

export function configFile(): string {
  const { GROUNDTRACK_CONFIG, XDG_CONFIG_HOME } = process.env
  return GROUNDTRACK_CONFIG ?? path.join(XDG_CONFIG_HOME || path.join(os.homedir(), '.config'), 'groundtrack', 'accounts.json')
}

export function readAccounts(): Accounts {
  let text: string
  try {
    text = readFileSync(configFile(), 'utf8')
  } catch {
    return { current: 'default', accounts: {} }
  }
  try {
    return JSON.parse(text) as Accounts
  } catch {
    throw new UsageError(`${configFile()} is not JSON; repair or delete it`)
  }
}

/** Whole or not at all, and readable by nobody else at any moment. */
export function writeAccounts(accounts: Accounts): void {
  const file = configFile()
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const part = `${file}.${process.pid}.tmp`
  writeFileSync(part, `${JSON.stringify(accounts, null, 2)}\n`, { mode: OWNER_ONLY })
  chmodSync(part, OWNER_ONLY)
  renameSync(part, file)
}

export function changeAccount(name: string, change: (account: Account | undefined) => Account | undefined): void {
  const accounts = readAccounts()
  const changed = change(accounts.accounts[name])
  if (changed) accounts.accounts[name] = changed
  else delete accounts.accounts[name]
  writeAccounts(accounts)
}

export function accountName(options: GlobalOptions): string {
  return options.account ?? process.env['GROUNDTRACK_ACCOUNT'] ?? readAccounts().current
}

/** Options first, then the environment, then the account's file. */
export function accountOf(options: GlobalOptions): Account {
  const name = accountName(options)
  const kept = readAccounts().accounts[name]
  if (options.account !== undefined && !kept)
    throw new UsageError(`There is no account '${name}'`, `Make it with: groundtrack sign-in --account ${name}`)
  const { GROUNDTRACK_URL, GROUNDTRACK_API_KEY, GROUNDTRACK_PROJECT } = process.env
  const apiKey = options.apiKey ?? GROUNDTRACK_API_KEY ?? kept?.apiKey
  const project = GROUNDTRACK_PROJECT ?? kept?.project
  return {
    server: options.server ?? GROUNDTRACK_URL ?? kept?.server ?? DEFAULT_SERVER,
    ...(apiKey ? { apiKey } : kept?.session ? { session: kept.session } : {}),
    ...(project ? { project } : {}),
  }
}

/** A client that speaks as the account, and keeps its session when that is renewed. */
export function connect(options: GlobalOptions): Client {
  const { server, apiKey, session } = accountOf(options)
  const name = accountName(options)
  return new Client({
    baseUrl: server,
    apiKey,
    session: session ?? null,
    onSession: (tokens) =>
      changeAccount(name, (account) => {
        const { session: _, ...rest } = account ?? { server }
        return tokens ? { ...rest, session: tokens } : rest
      }),
    headers: { 'user-agent': 'groundtrack-cli' },
    ...(options.timeout ? { timeoutMs: options.timeout * 1000 } : {}),
    ...(options.retries === undefined ? {} : { maxRetries: options.retries }),
  })
}
