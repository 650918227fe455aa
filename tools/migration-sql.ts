/**
 * The SQL of migrations, without a database. As a command, it writes each migration from `FIRST_CHECKED` on into a folder, for a linter
 * of migrations: those that run in a transaction, and those that run without one. `node tools/migration-sql.ts <folder>`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type CompiledQuery } from 'kysely'
import { MIGRATIONS } from '#db/migrate.ts'
import type { Migration } from '#db/migration-runner.ts'

/** Earlier ones were written for processes that are all stopped; docs/migrations.md lists what they lock. */
const FIRST_CHECKED = '0035'

/** The statements that a migration sends; those that read get no rows. */
export async function statementsOf({ up }: Migration): Promise<string[]> {
  const statements: string[] = []
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }: { query: CompiledQuery }) => void statements.push(query.sql.trim().replace(/;?$/, ';')),
  })
  await up(db)
  return statements
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (!folder) throw new Error('Usage: node tools/migration-sql.ts <folder>')
  const folders = { transaction: path.join(folder, 'transaction'), alone: path.join(folder, 'alone') }
  for (const each of Object.values(folders)) mkdirSync(each, { recursive: true })
  for (const [name, migration] of Object.entries(MIGRATIONS)) {
    if (name < FIRST_CHECKED) continue
    const isAlone = migration.isTransactional === false
    // As the runner does, so that the linter knows.
    const settings = isAlone ? ['set statement_timeout = 0;'] : ["set lock_timeout = '2s';", 'set statement_timeout = 0;']
    const text = [...settings, ...(await statementsOf(migration))].join('\n')
    writeFileSync(path.join(isAlone ? folders.alone : folders.transaction, `${name}.sql`), `${text}\n`)
  }
}
