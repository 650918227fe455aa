/** `npm run keys -- rotate`: replaces keys that the service created itself, while it runs. */
import { parseArgs } from 'node:util'
import { STORE_SECRET } from '#background/store-secrets.ts'
import { loadConfig } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { openServiceDatabase } from '#db/service-database.ts'
import * as signingKeys from '#model/identity/signing-key.ts'
import { rotateSecret } from '#model/platform/secret.ts'

const USAGE = `Usage: npm run keys -- rotate signing|store [--leaked]

  signing    the key that signs session tokens
  store      the secret that signs URLs of the embedded object store
  --leaked   the old key ends now: everyone signs in again, and signed URLs end

Without --leaked, the old key is accepted until everything that was signed with it has expired: two days for tokens, a week for
URLs. Processes use the new one within the hour, without a restart.`

class UsageError extends Error {}

type Kind = 'signing' | 'store'

function parse(args: readonly string[]): { kind: Kind; isLeaked: boolean } {
  try {
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: { leaked: { type: 'boolean' } } })
    const [command, kind, ...rest] = positionals
    if (command === 'rotate' && (kind === 'signing' || kind === 'store') && rest.length === 0)
      return { kind, isLeaked: values.leaked ?? false }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  throw new UsageError('Say which key to rotate')
}

async function run(args: readonly string[]): Promise<string> {
  const { kind, isLeaked } = parse(args)
  const database = await openServiceDatabase(loadConfig(process.env))
  try {
    const now = systemClock.now()
    if (kind === 'signing') await signingKeys.replace(database.db, now, { isLeaked })
    else for (let n = 0; n < (isLeaked ? 2 : 1); n++) await rotateSecret(database.db, STORE_SECRET, now) // Twice: no predecessor is left.
    const what = kind === 'signing' ? 'key that signs tokens' : 'secret that signs URLs of the object store'
    const next = isLeaked
      ? 'Restart every process, so that none accepts the old one.'
      : 'The old one is accepted until what it signed has expired.'
    return `Replaced the ${what}. ${next}`
  } finally {
    await database.close()
  }
}

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? `\n${USAGE}\n` : ''}`)
  process.exitCode = 1
}
