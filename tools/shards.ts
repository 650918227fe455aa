/**
 * Lists what would cross shards if the database were sharded by organization (docs/adr/0058-shards.md). `node tools/shards.ts` compares
 * the schema that the migrations make and the recorded statements with `tools/shards/crossings.json`, and fails on anything new; the
 * list may only shrink. `--update` removes what no longer crosses. `--record <test files>` runs tests on a server that records all
 * statements, the checks of foreign keys among them, and adds those on tenant tables to `tools/shards/statements.txt`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { startEmbedded, SUPERUSER } from '#db/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { compared, KINDS, normalized, onTenants, schemaCrossings, statementCrossings, type Crossings } from './shards/crossings.ts'

const folder = path.join(import.meta.dirname, 'shards')
const LIST = path.join(folder, 'crossings.json')
const STATEMENTS = path.join(folder, 'statements.txt')
const RECORDING = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all', 'pg_stat_statements.max=20000']

const recorded = (): string[] => (existsSync(STATEMENTS) ? readFileSync(STATEMENTS, 'utf8').split('\n').filter(Boolean) : [])
const write = (list: Crossings): void => writeFileSync(LIST, `${JSON.stringify(list, null, 2)}\n`)

/** A throw-away server. */
async function onServer<T>(settings: readonly string[], work: (db: Db, url: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-shards-'))
  const server = await startEmbedded(dataDir, { settings: ['fsync=off', 'max_connections=200', ...settings] })
  const url = `postgres://${SUPERUSER}@localhost/postgres?host=${encodeURIComponent(server.socketDir)}`
  const { db, close } = openDatabase(url)
  try {
    return await work(db, url)
  } finally {
    await close()
    await server.leave()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function record(files: readonly string[]): Promise<void> {
  const seen = await onServer(RECORDING, async (db, url) => {
    await sql`create extension pg_stat_statements`.execute(db)
    const tests = spawnSync(process.execPath, ['test/run.ts', ...files], {
      cwd: path.dirname(import.meta.dirname),
      env: { ...process.env, DATABASE_URL: url },
      stdio: 'inherit',
    })
    if (tests.status !== 0) throw new Error('The tests failed, and nothing is recorded')
    return (await sql<{ query: string }>`select query from pg_stat_statements`.execute(db)).rows.map(({ query }) => normalized(query))
  })
  const isOurs = (statement: string) => /^(?:select|insert|update|delete|with)\b/i.test(statement)
  const all = [...new Set([...recorded(), ...onTenants(seen.filter(isOurs))])].toSorted()
  writeFileSync(STATEMENTS, `${all.join('\n')}\n`)
  console.log(`${all.length} statements on tenant tables`)
}

async function check(mayShrink: boolean): Promise<number> {
  const schema = await onServer([], async (db) => {
    await migrate(db, { phase: 'all' })
    return await schemaCrossings(db)
  })
  const found: Crossings = { ...schema, statements: statementCrossings(recorded()) }
  if (!existsSync(LIST)) write(found)
  const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Crossings
  const { added, gone } = compared(listed, found)
  if (mayShrink)
    write(
      Object.fromEntries(KINDS.map((kind) => [kind, listed[kind].filter((entry) => found[kind].includes(entry))])) as Record<
        (typeof KINDS)[number],
        string[]
      >,
    )
  for (const entry of added) console.log(`New, and crosses shards: ${entry}`)
  if (!mayShrink) for (const entry of gone) console.log(`No longer crosses shards (remove it with node tools/shards.ts --update): ${entry}`)
  console.log(KINDS.map((kind) => `${found[kind].length} ${kind.replace('_', ' ')}`).join(', '), `of ${recorded().length} recorded`)
  return added.length > 0 || (gone.length > 0 && !mayShrink) ? 1 : 0
}

const [command, ...files] = process.argv.slice(2)
if (command === '--record') await record(files)
else process.exitCode = await check(command === '--update')
