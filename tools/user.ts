/** `npm run user`: makes an account from the operator's side, gives an existing one a new password, or removes its second factors. */
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import Type from 'typebox'
import { loadConfig, type Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { randomBase62 } from '#core/ids.ts'
import { Closed, Email } from '#core/shapes.ts'
import { migrate } from '#db/migrate.ts'
import { openServiceDatabase } from '#db/service-database.ts'
import type { Db } from '#db/tables.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as sessions from '#model/identity/session.ts'
import * as users from '#model/identity/user.ts'
import { createPasswords, requireUsable } from '#access/passwords.ts'
import { attemptsOn, rolesOf } from '#access/sign-in.ts'
import { validateInput } from '#core/validate.ts'

const USAGE = `Usage: npm run user -- --email a@b.c [--name NAME] [--password-stdin] [--reset-two-factors]

  --email           the account's email address; created if it does not exist, otherwise its password is reset
  --name            how the person is shown (a new account without it: the part of the address before the @)
  --password-stdin  read the password from standard input; by default one is generated and printed once
  --reset-two-factors  remove the account's second factors and end its sessions; the password stays

The database is the one of DATABASE_URL, or the embedded one in DATA_DIR. The operator's roles of the account
follow SYSTEM_ADMIN_EMAILS and CLIP_USER_EMAIL as they are set for this command.`

/** 142 bits; letters and digits alone, so that it survives every shell and form. */
const GENERATED_LENGTH = 24

const Given = Closed({ email: Email, name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) })

class UsageError extends Error {}

interface Request {
  email: string
  name: string | undefined
  passwordFromStdin: boolean
  resetsTwoFactors: boolean
}

function parse(args: readonly string[]): Request | 'help' {
  if (args.some((arg) => /^--password(=|$)/.test(arg)))
    throw new UsageError('A password is never an argument: other users of the machine could read it. Use --password-stdin.')
  const { values } = parsed(args)
  if (values.help) return 'help'
  if (!values.email) throw new UsageError('--email is missing.')
  const email = users.normaliseEmail(values.email)
  const name = values.name?.trim()
  validateInput(Given, { email, ...(name === undefined ? {} : { name }) })
  return { email, name, passwordFromStdin: values['password-stdin'] ?? false, resetsTwoFactors: values['reset-two-factors'] ?? false }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        email: { type: 'string' },
        name: { type: 'string' },
        'password-stdin': { type: 'boolean' },
        'reset-two-factors': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** What `echo` and `printf` send: the first line, without its end. */
async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Password (it is shown as you type; end with Enter and Ctrl-D): ')
  return (await text(process.stdin)).split(/\r?\n/)[0]!
}

interface Outcome {
  isNew: boolean
  roles: { isSystemAdmin: boolean; isClipUser: boolean }
}

async function put(db: Db, config: Config, { email, name }: Request, password: string): Promise<Outcome> {
  const { systemAdminEmails, clipUserEmail } = config
  const roles = rolesOf({ systemAdminEmails, clipUserEmail, maySignUp: true }, email)
  const passwordHash = await createPasswords({ waiting: 'passwords' }).hash(password)
  return await db.transaction().execute(async (tx) => {
    const now = systemClock.now()
    if (await users.insert(tx, { email, name: name ?? email.split('@')[0]!, passwordHash, ...roles, now })) return { isNew: true, roles }
    const { id } = (await users.findByEmail(tx, email))!.user
    await users.setPassword(tx, id, passwordHash)
    await users.setRoles(tx, id, roles)
    if (name !== undefined) await users.setName(tx, id, name)
    await sessions.endAllOfUser(tx, id, now)
    await rateWindows.resetAll(tx, attemptsOn(email)) // Whoever tried too often may try the new password at once.
    return { isNew: false, roles }
  })
}

function report({ email, passwordFromStdin }: Request, password: string, { isNew, roles }: Outcome): string {
  const held = [roles.isSystemAdmin && 'system admin', roles.isClipUser && 'clip user'].filter(Boolean)
  const lines = [
    isNew ? `Created the account ${email}.` : `Reset the password of ${email} and ended its sessions. Its API keys still work.`,
    held.length > 0
      ? `It is ${held.join(' and ')}.`
      : 'It holds no operator role: neither SYSTEM_ADMIN_EMAILS nor CLIP_USER_EMAIL names it here.',
    ...(passwordFromStdin ? [] : [`Password: ${password}`, 'It is shown this once and stored nowhere.']),
  ]
  return `${lines.join('\n')}\n`
}

/** For users who have lost their second factors and recovery codes. Running processes know at once. */
async function resetTwoFactors(config: Config, { email, name, passwordFromStdin }: Request): Promise<string> {
  if (name !== undefined || passwordFromStdin) throw new UsageError('--reset-two-factors changes nothing else: omit the other options.')
  const database = await openServiceDatabase(config)
  try {
    await migrate(database.db)
    const account = await users.findByEmail(database.db, email)
    if (!account) throw new Error(`No account has the address ${email}.`)
    const had = await database.db.transaction().execute(async (tx) => {
      await sessions.endAllOfUser(tx, account.user.id, systemClock.now())
      return await secondFactors.removeAll(tx, account.user.id)
    })
    return had
      ? `Removed the second factors of ${email} and ended its sessions. The password alone signs in.\n`
      : `The account ${email} has no second factors. Its sessions have ended.\n`
  } finally {
    await database.close()
  }
}

async function run(args: readonly string[]): Promise<string> {
  const request = parse(args)
  if (request === 'help') return `${USAGE}\n`
  const config = loadConfig(process.env)
  if (request.resetsTwoFactors) return await resetTwoFactors(config, request)
  const password = request.passwordFromStdin ? await readPassword() : randomBase62(GENERATED_LENGTH)
  requireUsable(password)
  const database = await openServiceDatabase(config)
  try {
    await migrate(database.db)
    return report(request, password, await put(database.db, config, request, password))
  } finally {
    await database.close()
  }
}

try {
  process.stdout.write(await run(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? `\n${USAGE}\n` : ''}`)
  process.exitCode = 1
}
