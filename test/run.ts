/**
 * Runs the checks, then every test, on a throw-away PostgreSQL: the embedded one, or with DATABASE_URL a server that lets
 * us create databases. Arguments name test files or folders, those behind `--except` what is left out; without any, everything
 * is run. CAMPAIGN=long runs campaigns at length.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { campaign } from './support/campaign.ts'
import { createTemplate, dropDatabase } from './support/database.ts'
import { planned } from './support/plan.ts'
import { report } from './support/reporter.ts'
import { watchFiles } from './support/watchdog.ts'

const root = path.dirname(import.meta.dirname)
/** Twice the cores: a test waits for the database, or for a service that it started, about as long as it computes. */
const CONCURRENCY = os.availableParallelism() * 2
const TIMEOUT_MS = campaign({ short: 300_000, long: 900_000 })
/** A whole file; campaigns at length may set tests of their own more than an hour. */
const FILE_LIMIT_MS = campaign({ short: 600_000, ci: 1_200_000, long: 5_400_000 })
/** Compiled modules stay from run to run: every process loads the same two thousand. */
const COMPILED = path.join(root, 'node_modules/.cache/groundtrack/compiled')

const given = process.argv.slice(2)
const border = given.indexOf('--except') >= 0 ? given.indexOf('--except') : given.length
const [named, except] = [given.slice(0, border), given.slice(border + 1)]
const filesOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => (statSync(name).isDirectory() ? globSync(`${name}/**/*.test.ts`) : [path.relative(root, path.resolve(name))]))
const leftOut = new Set(filesOf(except))
const files = (
  named.length > 0
    ? filesOf(named)
    : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts', 'sandbox/**/*.test.ts'], { cwd: root })
).filter((file) => !leftOut.has(file))

if (named.length === 0) {
  const check = spawnSync(process.execPath, ['tools/check.ts'], { cwd: root, stdio: 'inherit' })
  if (check.status !== 0) process.exit(check.status ?? 1)
}

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-test-'))
const databaseUrl = process.env['DATABASE_URL']
const server = databaseUrl
  ? null
  : await startEmbedded(dataDir, {
      settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'autovacuum=off'],
    })
const adminUrl = databaseUrl ?? `postgres://${SUPERUSER}@localhost/postgres?host=${encodeURIComponent(server!.socketDir)}`
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
let failed = true
let template: string | null = null
try {
  template = await createTemplate(adminUrl)
  Object.assign(process.env, { DATABASE_URL: '', TEST_ADMIN_URL: adminUrl, TEST_TEMPLATE: template, NODE_COMPILE_CACHE: COMPILED })
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
    concurrency: CONCURRENCY,
    timeout: TIMEOUT_MS,
    execArgv: ['--import', pathToFileURL(path.join(import.meta.dirname, 'support/leave.ts')).href],
    signal: interrupted.signal,
  })
  ;({ failed } = await report(tests, process.stdout))
  watchdog.close()
} finally {
  if (template) await dropDatabase(adminUrl, template)
  await server?.leave()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
