/** Saved accounts: the server and its credential. Only the owner can read the file. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Client } from '../../client/src/client.ts'
import type { SessionTokens } from '../../client/src/session.ts'
import type { GlobalOptions } from './options.ts'
import { UsageError } from './failure.ts'
import { note } from './terminal.ts'

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
    throw new UsageError(`${configFile()} is not valid JSON; fix or delete it`)
  }
}

/** Written atomically, and never readable by other users. */
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

/** The account as stored; undefined before the first sign-in with it. */
export function storedAccount(options: GlobalOptions): Account | undefined {
  const name = accountName(options)
  const stored = readAccounts().accounts[name]
  if (options.account !== undefined && !stored)
    throw new UsageError(`No account named '${name}'`, `Create it with: groundtrack sign-in --account ${name}`)
  return stored
}

/** Options come first, then the environment, then the file. What is stored for one server is never sent to another. */
export function accountOf(options: GlobalOptions): Account {
  const stored = storedAccount(options)
  const { GROUNDTRACK_URL, GROUNDTRACK_API_KEY, GROUNDTRACK_PROJECT } = process.env
  const server = options.server ?? GROUNDTRACK_URL ?? stored?.server ?? DEFAULT_SERVER
  const own = stored && isSameServer(server, stored.server) ? stored : undefined
  const apiKey = options.apiKey ?? GROUNDTRACK_API_KEY ?? own?.apiKey
  const project = GROUNDTRACK_PROJECT ?? own?.project
  return {
    server,
    ...(apiKey ? { apiKey } : own?.session ? { session: own.session } : {}),
    ...(project ? { project } : {}),
  }
}

const isSameServer = (a: string, b: string): boolean => a === b || (originOf(a) !== null && originOf(a) === originOf(b))
const originOf = (server: string): string | null => (URL.canParse(server) ? new URL(server).origin : null)

/** Explains why a call to another server is sent without the stored credential. */
function noteOtherServer(options: GlobalOptions, { server, apiKey, session }: Account): void {
  const stored = storedAccount(options)
  if (apiKey || session || !(stored?.apiKey || stored?.session)) return
  note(
    `The account '${accountName(options)}' is for ${originOf(stored.server) ?? stored.server}: its credential is not sent to ${server}. ` +
      `Pass --api-key, or sign in there: groundtrack sign-in --server ${server} --account NAME`,
    options.quiet,
  )
}

/** A client that authenticates as the account and saves its session when it is renewed. */
export function connect(options: GlobalOptions): Client {
  const account = accountOf(options)
  const { server, apiKey, session } = account
  noteOtherServer(options, account)
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
