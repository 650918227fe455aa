// Goal: docs/migrations.md lists every migration with what it locks in an existing database. Run with UPDATE=1 to write it.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { MIGRATIONS } from '#db/migrate.ts'
import type { Migration } from '#db/migration-runner.ts'
import { openDatabase } from '#db/open.ts'
import type { Db } from '#db/tables.ts'
import { createEmptyDatabase } from './support/database.ts'

const FILE = path.join(import.meta.dirname, '../docs/migrations.md')
/** The line above the rows of the table. */
const RULE = '|---|---|---|\n'
/** Reads and row changes, which block nobody. */
const HARMLESS = ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock']

interface Lock {
  table: string
  /** The strongest mode. */
  mode: string
  isRewritten: boolean
  /** Indexes and constraints for which every row is read. */
  reads: string[]
}

interface State {
  files: Map<string, string>
  parts: Set<string>
}

async function stateOf(db: Db): Promise<State> {
  const { rows: files } = await sql<{ name: string; file: string }>`
    select relname::text as name, relfilenode::text as file from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
  `.execute(db)
  const { rows: parts } = await sql<{ part: string }>`
    select format('%s: index %s', indrelid::regclass, indexrelid::regclass) as part from pg_index where indrelid >= 16384
    union all
    select format('%s: constraint %s', conrelid::regclass, conname) from pg_constraint
    where conrelid >= 16384 and contype in ('c', 'f') and convalidated
  `.execute(db)
  return { files: new Map(files.map(({ name, file }) => [name, file])), parts: new Set(parts.map(({ part }) => part)) }
}

/** Applies a migration and returns what it locked, of what existed before. */
async function locksOf(tx: Db, { up }: Migration): Promise<Lock[]> {
  const before = await stateOf(tx)
  await up(tx as unknown as Kysely<unknown>)
  const after = await stateOf(tx)
  const { rows } = await sql<{ table: string; mode: string }>`
    select relation::regclass::text as table, mode from pg_locks
    where pid = pg_backend_pid() and locktype = 'relation' and relation >= 16384 order by 1, 2
  `.execute(tx)
  return [...before.files.keys()].toSorted().flatMap((table) => {
    const modes = rows.filter((row) => row.table === table && !HARMLESS.includes(row.mode)).map(({ mode }) => mode)
    if (modes.length === 0 || !after.files.has(table)) return []
    const reads = [...after.parts]
      .filter((part) => part.startsWith(`${table}: `) && !before.parts.has(part))
      .map((part) => part.slice(table.length + 2))
    const mode = modes.includes('AccessExclusiveLock') ? 'AccessExclusiveLock' : modes[0]!
    return [{ table, mode, isRewritten: before.files.get(table) !== after.files.get(table), reads: reads.toSorted() }]
  })
}

const BLOCKS: Readonly<Record<string, string>> = {
  AccessExclusiveLock: 'reads and writes',
  ShareRowExclusiveLock: 'writes',
  ShareLock: 'writes',
  ShareUpdateExclusiveLock: 'nothing',
}

function described({ table, mode, isRewritten, reads }: Lock): string {
  const how = isRewritten ? 'rewrites the table' : reads.length > 0 ? `reads every row for ${reads.join(', ')}` : 'a moment'
  return `\`${table}\`: blocks ${BLOCKS[mode] ?? mode}; ${how}`
}

test('docs/migrations.md', async (t) => {
  const own = await createEmptyDatabase()
  const { db, close } = openDatabase(own.url)
  t.after(async () => {
    await close()
    await own.drop()
  })
  const rows: string[] = []
  for (const [name, migration] of Object.entries(MIGRATIONS)) {
    let locks: Lock[] | null = null
    if (migration.isTransactional === false) await migration.up(db as unknown as Kysely<unknown>)
    else locks = await db.transaction().execute((tx) => locksOf(tx, migration))
    const text = locks === null ? 'runs without a transaction' : locks.map(described).join('<br>') || 'only new tables'
    rows.push(`| \`${name}\` | ${migration.kind ?? 'expand'} | ${text} |`)
  }
  const [head] = fs.readFileSync(FILE, 'utf8').split(RULE) as [string]
  const text = `${head}${RULE}${rows.join('\n')}\n`
  if (process.env['UPDATE'] === '1') fs.writeFileSync(FILE, text)
  assert.equal(fs.readFileSync(FILE, 'utf8'), text)
})
