/** `npm run migrate`: shows and applies migrations, for rollouts in which several versions run side by side. */
import { parseArgs } from 'node:util'
import { loadConfig } from '#config.ts'
import { migrate, MIGRATIONS } from '#db/migrate.ts'
import { schemaStatus, type SchemaStatus } from '#db/migration-runner.ts'
import { openServiceDatabase } from '#db/service-database.ts'
import { statementsOf } from './migration-sql.ts'

const USAGE = `Usage: npm run migrate -- --status | --plan | --expand | --contract

  --status    list applied and pending migrations, those of later versions, and the oldest version that can start
  --plan      print the SQL of pending migrations, without running it
  --expand    apply pending migrations that the previous version can run on; every start does the same
  --contract  also apply those that remove what the previous version uses: run it when no process of that version is left

The database is the one of DATABASE_DIRECT_URL or DATABASE_URL, or the embedded one in DATA_DIR.`

const ACTIONS = ['status', 'plan', 'expand', 'contract'] as const
type Action = (typeof ACTIONS)[number]

class UsageError extends Error {}

function parse(args: readonly string[]): Action | 'help' {
  const flag = { type: 'boolean' } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { status: flag, plan: flag, expand: flag, contract: flag, help: flag },
    })
    if (values.help) return 'help'
    const chosen = ACTIONS.filter((action) => values[action])
    if (chosen.length === 1) return chosen[0]!
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  throw new UsageError('Choose one of --status, --plan, --expand and --contract')
}

const kindOf = (name: string): string => MIGRATIONS[name]!.kind ?? 'expand'

function statusText({ applied, pending, unknown, floor }: SchemaStatus): string {
  return [
    `Applied: ${applied.length}, the last one ${applied.at(-1) ?? 'none'}`,
    `Pending: ${pending.map((name) => `${name} (${kindOf(name)})`).join(', ') || 'none'}`,
    `Of later versions: ${unknown.join(', ') || 'none'}`,
    `Oldest version that can start: ${floor ? `one that contains ${floor}` : 'any'}`,
  ].join('\n')
}

async function planText({ pending }: SchemaStatus): Promise<string> {
  const parts = pending.map(async (name) => `-- ${name} (${kindOf(name)})\n${(await statementsOf(MIGRATIONS[name]!)).join('\n')}`)
  return (await Promise.all(parts)).join('\n\n') || 'Nothing is pending.'
}

async function run(args: readonly string[]): Promise<string> {
  const action = parse(args)
  if (action === 'help') return USAGE
  const database = await openServiceDatabase(loadConfig(process.env))
  try {
    const { db } = database
    const status = await schemaStatus(db, MIGRATIONS)
    if (action === 'status') return statusText(status)
    if (action === 'plan') return await planText(status)
    const { applied } = await migrate(db, {
      phase: action === 'contract' ? 'all' : 'expand',
      onWaiting: (line) => process.stderr.write(`${line}\n`),
    })
    return applied.length > 0 ? `Applied ${applied.join(', ')}` : 'Nothing to apply.'
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
