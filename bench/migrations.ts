/**
 * How long writes wait while migrations run on a large database: none may wait more than 2 s.
 *
 * A new cluster of the PostgreSQL that is installed gets the schema before `--from`, is filled by statements inside the database, and is
 * then migrated, one migration after the other. From `--writers` on, each of the busiest tables has somebody who writes to it all the
 * time; migrations before that run alone, as they were meant to, and only their time is shown.
 *
 *     npm run bench -- migrations --items 1000000 --events 5000000                  # the last expanding and contracting ones
 *     npm run bench -- migrations --items 10000000 --events 50000000 --from 0046    # a new one; more than 30 GB in TMPDIR
 *     npm run bench -- migrations --from 0005 --writers 0039                        # old ones: how long they take
 */
import { parseArgs } from 'node:util'
import { MIGRATIONS } from '#db/migrate.ts'
import { runMigrations } from '#db/migration-runner.ts'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { fill } from './lib/large-database.ts'
import { startWriters, type Writers } from './lib/writers.ts'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '5000000' },
    from: { type: 'string', default: '0039' },
    writers: { type: 'string', default: '' },
  },
})
const LONGEST_WAIT_MS = 2_000
/** Without a migration: what the machine itself makes writes wait. */
const QUIET_MS = 15_000
const NAMES = Object.keys(MIGRATIONS).toSorted()
const FIRST_WITH_WRITERS = values.writers || values.from

const upTo = (isIncluded: (name: string) => boolean) => Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => isIncluded(name)))
const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 10_000 ? 2 : 0)

/** Returns whether all waits were short enough. */
async function timed(db: Db, name: string, writers: Writers | null): Promise<boolean> {
  writers?.reset()
  const began = performance.now()
  await runMigrations(
    db,
    upTo((each) => each <= name),
    { phase: 'all' },
  )
  const took = performance.now() - began
  const waits = writers?.waits()
  console.log(
    `| \`${name}\` | ${seconds(took)} | ${waits ? `${waits.longestMs.toFixed(0)} | ${waits.table} | ${waits.count}` : '– | – | –'} |`,
  )
  return !waits || waits.longestMs <= LONGEST_WAIT_MS
}

const server = await startServerPostgres({ settings: ['shared_buffers=1GB', 'max_wal_size=4GB', 'maintenance_work_mem=512MB'] })
if (!server) throw new Error('No PostgreSQL is installed in /usr/lib/postgresql.')
let isMet = true
try {
  const url = await server.createDatabase('large')
  const { db, close } = openDatabase(url, { maxConnections: 2 })
  await runMigrations(
    db,
    upTo((name) => name < values.from),
  )
  console.log(`PostgreSQL ${server.version}: ${await fill(url, { items: Number(values.items), events: Number(values.events) })}\n`)
  console.log('| Migration | Seconds | Longest wait of a write, ms | of table | Writes |\n|---|---|---|---|---|')
  const due = NAMES.filter((name) => name >= values.from)
  for (const name of due.filter((each) => each < FIRST_WITH_WRITERS)) await timed(db, name, null)
  const writers = await startWriters(url)
  try {
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    const quiet = writers.waits()
    console.log(`| none | ${seconds(QUIET_MS)} | ${quiet.longestMs.toFixed(0)} | ${quiet.table} | ${quiet.count} |`)
    for (const name of due.filter((each) => each >= FIRST_WITH_WRITERS)) if (!(await timed(db, name, writers))) isMet = false
  } finally {
    await writers.stop()
    await close()
  }
} finally {
  await server.stop()
}
console.log(isMet ? '\nNo write waited more than 2 s.' : '\nA write waited more than 2 s.')
process.exit(isMet ? 0 : 1)
