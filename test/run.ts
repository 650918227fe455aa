/**
 * Runs the checks, then tests, on a throw-away PostgreSQL: the embedded one, or with DATABASE_URL a server that lets us create
 * databases. Without arguments it runs what is fast enough for every day, with `--all` everything, with `--rest` what the first leaves
 * out. Other arguments name test files or folders, those behind `--except` what is left out. TEST_POOLER=transaction or
 * TEST_POOLER=prepared runs them through PgBouncer, CAMPAIGN=long runs campaigns at length, and TEST_PROFILE=<file> writes what each
 * process took.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { campaign, campaignLength, testSeed } from './support/campaign.ts'
import type { PgBouncer } from './support/pgbouncer.ts'
import { longFiles, planned } from './support/plan.ts'
import { report } from './support/reporter.ts'
import { waitingFor } from './support/turns.ts'
import { watchFiles } from './support/watchdog.ts'

const root = path.dirname(import.meta.dirname)
/** A test waits for the database, or for a service that it started, about as long as it computes. */
const PROCESSES_A_CORE = 2
/** What `test/cluster` was asked for: faults, which mostly wait, and rollouts. */
const CLUSTER_MS = Number(process.env['FAULTS'] ?? 0) * 120_000 + (process.env['RATE'] ? 1_800_000 : 0)
/** For a test that hangs: by the clock, so that it is far above what any takes on a busy machine. */
const TIMEOUT_MS = campaign({ short: 1_800_000, long: 5_400_000 }) + CLUSTER_MS
/** A whole file, by its share of the machine; campaigns at length may set tests of their own more than an hour. */
const FILE_LIMIT_MS = campaign({ short: 600_000, ci: 1_200_000, long: 5_400_000 }) + CLUSTER_MS
/** Compiled modules stay from run to run: every process loads the same two thousand. */
const COMPILED = path.join(root, 'node_modules/.cache/groundtrack/compiled')

const SELECTIONS = ['--all', '--rest'] as const

const given = process.argv.slice(2)
const selection = SELECTIONS.find((known) => given.includes(known))
const words = given.filter((word) => word !== selection)
const border = words.indexOf('--except') >= 0 ? words.indexOf('--except') : words.length
const [named, except] = [words.slice(0, border), words.slice(border + 1)]
const filesOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => (statSync(name).isDirectory() ? globSync(`${name}/**/*.test.ts`) : [path.relative(root, path.resolve(name))]))
const everything = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'sandbox/**/*.test.ts'], { cwd: root })
const isDaily = named.length === 0 && !selection
const long = longFiles(root, everything)
const leftOut = new Set([...filesOf(except), ...(isDaily ? [...long.values()].flat() : [])])
const selected = selection === '--rest' ? [...long.values()].flat() : named.length > 0 && !selection ? [] : everything
const candidates = [...new Set([...selected, ...filesOf(named)])].filter((file) => !leftOut.has(file))
const waiting = selection === '--rest' && campaignLength === 'ci' ? waitingFor(root, testSeed) : new Set<string>()
const files = candidates.filter((file) => !waiting.has(file))

if (isDaily || selection === '--all') {
  const check = spawnSync(process.execPath, ['tools/check.ts'], { cwd: root, stdio: 'inherit' })
  if (check.status !== 0) process.exit(check.status ?? 1)
}

// What test processes and their children load is compiled here, once, and not by each of the first that start.
enableCompileCache(COMPILED)
const { createTemplate, dropDatabase } = await import('./support/database.ts')
await Promise.all([
  import('./support/world.ts'),
  import('#adapters/raster/handlers.ts'),
  import('../sandbox/vendors/scene-renderer.handlers.ts'),
])
flushCompileCache()

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-test-'))
const databaseUrl = process.env['DATABASE_URL']
const server = databaseUrl
  ? null
  : await startEmbedded(dataDir, {
      settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'autovacuum=off'],
    })
const adminUrl = databaseUrl ?? `postgres://${SUPERUSER}@localhost/postgres?host=${encodeURIComponent(server!.socketDir)}`
const profile = process.env['TEST_PROFILE']
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
let failed = true
let template: string | null = null
let pooler: PgBouncer | null = null
try {
  template = await createTemplate(adminUrl)
  Object.assign(process.env, {
    DATABASE_URL: '',
    OFFLINE: '1',
    TEST_ADMIN_URL: adminUrl,
    TEST_TEMPLATE: template,
    TEST_SCENES: path.join(dataDir, 'scenes'),
    NODE_COMPILE_CACHE: COMPILED,
  })
  if (process.env['TEST_POOLER']) {
    const { startPgBouncer } = await import('./support/pgbouncer.ts')
    pooler = await startPgBouncer({ serverUrl: adminUrl, poolSize: 10, preparedStatements: 200 })
    process.env['TEST_POOLER_URL'] = pooler.urlFor(adminUrl)
  }
  const entries = planned(root, files.toSorted(), dataDir)
  const watchdog = watchFiles({
    limitMs: FILE_LIMIT_MS,
    nameOf(command) {
      const entry = entries.find((candidate) => command.includes(candidate))
      return entry ? path.relative(root, entry) : null
    },
    say: (line) => process.stdout.write(`${line}\n`),
  })
  const tests = run({
    files: entries,
    concurrency: os.availableParallelism() * PROCESSES_A_CORE,
    timeout: TIMEOUT_MS,
    execArgv: ['--import', pathToFileURL(path.join(import.meta.dirname, 'support/leave.ts')).href],
    signal: interrupted.signal,
  })
  ;({ failed } = await report(tests, process.stdout, isDaily ? long : new Map()))
  for (const file of candidates.filter((candidate) => waiting.has(candidate))) process.stdout.write(`﹣ left to other commits: ${file}\n`)
  if (profile) appendFileSync(profile, `${JSON.stringify({ entries: entries.map((entry) => [entry, readFileSync(entry, 'utf8')]) })}\n`)
  watchdog.close()
} finally {
  await pooler?.stop()
  if (template) await dropDatabase(adminUrl, template)
  await server?.leave()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
