import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Client, isProblem } from '../../../client/src/core.ts'
import {
  accountName,
  changeAccount,
  configFile,
  DEFAULT_SERVER,
  readAccounts,
  storedAccount,
  writeAccounts,
  type Account,
} from '../config.ts'
import { UsageError } from '../failure.ts'
import { readFlags, type GlobalOptions, type Run, type Word } from '../options.ts'
import { note, print, table, json } from '../terminal.ts'
import { signInByBrowser } from './sso.ts'

export const signIn: Run = async (rest, options) => {
  const { values, switches } = readFlags(rest, {
    values: ['email', 'organization', 'project', 'code'],
    switches: ['password-stdin', 'key', 'sso'],
    positions: 0,
  })
  const name = options.account ?? process.env['GROUNDTRACK_ACCOUNT'] ?? 'default'
  const server = options.server ?? process.env['GROUNDTRACK_URL'] ?? readAccounts().accounts[name]?.server ?? DEFAULT_SERVER
  if (switches.has('sso')) {
    const client = new Client({ baseUrl: server })
    await signInByBrowser(client, { server, email: values['email'], organizationId: values['organization'] })
    await save(client, { server, session: client.session.tokens! }, { name, project: values['project'] })
    return note(`Signed in to ${server}; saved in ${configFile()}`, options.quiet)
  }
  const isKey = switches.has('key')
  const email = isKey ? null : (values['email'] ?? (await ask('Email: ')))
  const secret = switches.has('password-stdin') ? readFileSync(0, 'utf8').trim() : await ask(isKey ? 'API key: ' : 'Password: ', true)
  const account: Account = isKey ? { server, apiKey: secret } : { server }
  const client = new Client({ baseUrl: server, apiKey: account.apiKey })
  if (email !== null) {
    const organization_id = values['organization']
    await client
      .signIn('/auth/sign-in', { email, password: secret, ...(organization_id ? { organization_id } : {}) })
      .catch((error: unknown) => secondStep(client, error, values['code']))
    account.session = client.session.tokens!
  }
  await save(client, account, { name, project: values['project'] })
  note(`Signed in to ${server}${email === null ? ' with a key' : ` as ${email}`}; saved in ${configFile()}`, options.quiet)
}

async function save(client: Client, account: Account, { name, project }: { name: string; project: string | undefined }): Promise<void> {
  const chosen = project ?? (await onlyProject(client))
  if (chosen !== null) account.project = chosen
  const accounts = readAccounts()
  accounts.accounts[name] = account
  writeAccounts({ ...accounts, current: name })
}

/** Asks for the second factor of an account that has one: a code, or a recovery code, which is longer and has letters. */
async function secondStep(client: Client, error: unknown, given: string | undefined): Promise<void> {
  if (!isProblem(error, 'second-factor-required')) throw error
  const { challenge_token, factors } = error.problem as unknown as { challenge_token: string; factors: readonly string[] }
  if (!factors.includes('code') && !factors.includes('recovery_code'))
    throw new UsageError('This account signs in with a passkey', 'Create an API key in the console and use groundtrack sign-in --key')
  const code = given ?? (await ask('Code of the authenticator app, or a recovery code: '))
  const factor = /^[\d ]+$/.test(code) ? { code } : { recovery_code: code }
  await client.signIn('/auth/sign-in/second-factor', { challenge_token, ...factor })
}

/** The default project of a user with only one. The call also verifies the credential. */
async function onlyProject(client: Client): Promise<string | null> {
  if (client.session.tokens && client.session.tokens.organizationId === null) return null
  const { projects } = await client.call<{ projects: { id: string }[] }>('projects.list', { limit: 2 }, {}, 'read')
  return projects.length === 1 ? projects[0]!.id : null
}

/** Prompts on the terminal, without echo for secrets. */
async function ask(question: string, isSecret = false): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      `${question.replace(': ', '')} is missing`,
      'Pass --email, --password-stdin with the password on stdin, and --code if the account has two-factor sign-in',
    )
  let isMuted = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) process.stderr.write(chunk as Buffer)
      done()
    },
  })
  const prompt = createInterface({ input: process.stdin, output, terminal: true })
  try {
    const answer = prompt.question(question)
    isMuted = isSecret
    return (await answer).trim()
  } finally {
    prompt.close()
    if (isSecret) process.stderr.write('\n')
  }
}

export const signOut: Run = async (rest, options) => {
  readFlags(rest, { positions: 0 })
  const name = accountName(options)
  const stored = storedAccount(options)
  if (stored?.session)
    await new Client({ baseUrl: stored.server, session: stored.session })
      .signOut('/auth/sign-out')
      .catch((error: Error) => note(`Could not end the session at the service: ${error.message}`))
  changeAccount(name, () => undefined)
  note(`Removed the account '${name}'`, options.quiet)
}

export const accounts: Run = async (rest: readonly Word[], options: GlobalOptions) => {
  const { positions } = readFlags(rest, { positions: 2 })
  const saved = readAccounts()
  const [verb, name] = positions
  if (verb === 'use') {
    if (name === undefined || !saved.accounts[name])
      throw new UsageError(`No account named '${name ?? ''}'`, `Accounts: ${Object.keys(saved.accounts).join(', ') || 'none'}`)
    return writeAccounts({ ...saved, current: name })
  }
  if (verb !== undefined) throw new UsageError(`Unknown command 'accounts ${verb}'`, 'groundtrack accounts [use NAME]')
  const rows = Object.entries(saved.accounts).map(([account, { server, apiKey, project }]) => ({
    name: account,
    is_current: account === saved.current,
    server,
    kind: apiKey ? 'key' : 'session',
    project: project ?? null,
  }))
  if (options.json) return await print(`${json(rows)}\n`)
  const cells = rows.map((row) => [row.is_current ? '*' : ' ', row.name, row.server, row.kind, row.project])
  await print(`${table(['', 'ACCOUNT', 'SERVER', 'KIND', 'PROJECT'], cells)}\n`)
}
