/**
 * Runs migrations one after the other, while processes of this and the previous version serve. `expand` migrations add to the schema,
 * and the previous version runs on their result; `contract` migrations remove what it used, and raise the floor below which no version
 * can start.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import pg from 'pg'
import { directOf } from './connections.ts'
import { withAdvisoryLock } from './lock.ts'
import type { Db } from './tables.ts'

export interface Migration {
  /** `expand` by default. */
  readonly kind?: 'expand' | 'contract'
  /** Of a contracting migration: the migration that a version must contain to run on its result. */
  readonly requires?: string
  /** False for statements that cannot run in a transaction (`create index concurrently`); all must be repeatable. */
  readonly isTransactional?: boolean
  up(db: Kysely<unknown>): Promise<void>
}

type Migrations = Readonly<Record<string, Migration>>

export interface SchemaStatus {
  /** Applied migrations that this version contains, in order. */
  applied: string[]
  /** Applied migrations of later versions. */
  unknown: string[]
  pending: string[]
  /** The migration that a version must contain to run on this schema; null if any version can. */
  floor: string | null
}

interface RunOptions {
  /** `expand`, or `all` including contracting migrations. A new database always gets all. */
  phase?: 'expand' | 'all'
  /** Called when another process is migrating, or a migration waits for the locks of others. */
  onWaiting?: (line: string) => void
  /** How long a migration waits for a lock, during which others wait behind it; then it lets them pass and tries again. */
  lockTimeoutMs?: number
}

/** This version cannot run on the schema that a later one left. */
export class SchemaTooNew extends Error {}

/** Kysely's, which earlier versions use. */
const LOCK_ID = '3853314791062309107'
const LOCK_TIMEOUT_MS = 2_000
const LOCK_NOT_AVAILABLE = '55P03'
/** Pauses between attempts; the last one repeats. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000]
/** After this many attempts, someone holds the lock who will not let go. */
const MAX_ATTEMPTS = 100

export async function schemaStatus(db: Db, migrations: Migrations): Promise<SchemaStatus> {
  const direct = directOf(db)
  const { rows } = await sql<{ hasMigrations: boolean; hasFloor: boolean }>`
    select to_regclass('kysely_migration') is not null as "hasMigrations", to_regclass('schema_floor') is not null as "hasFloor"
  `.execute(direct)
  const executed = rows[0]!.hasMigrations
    ? (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(direct)).rows.map(({ name }) => name)
    : []
  const floor = rows[0]!.hasFloor ? (await sql<{ migration: string }>`select migration from schema_floor`.execute(direct)).rows[0] : null
  const known = Object.keys(migrations).toSorted()
  return {
    applied: known.filter((name) => executed.includes(name)),
    unknown: executed.filter((name) => !Object.hasOwn(migrations, name)),
    pending: known.filter((name) => !executed.includes(name)),
    floor: floor?.migration ?? null,
  }
}

/** Applies what is pending, one process at a time; the others wait and have nothing to do. Returns the names. */
export async function runMigrations(db: Db, migrations: Migrations, options: RunOptions = {}): Promise<string[]> {
  const direct = directOf(db)
  const migrate = async (): Promise<string[]> => {
    const status = await schemaStatus(direct, migrations)
    requireFloor(status, migrations)
    const isNew = status.applied.length === 0 && status.unknown.length === 0
    await sql`
      create table if not exists kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)
    `.execute(direct)
    const due = status.pending.filter((name) => isNew || options.phase === 'all' || migrations[name]!.kind !== 'contract')
    for (const batch of batchesOf(due, migrations, isNew)) await apply(direct, batch, migrations, options)
    return due
  }
  return await withAdvisoryLock(db, sql`${sql.lit(LOCK_ID)}::bigint`, migrate, () =>
    options.onWaiting?.('Another process is migrating the database; waiting for it'),
  )
}

function requireFloor({ floor, unknown }: SchemaStatus, migrations: Migrations): void {
  if (floor === null || Object.hasOwn(migrations, floor)) return
  throw new SchemaTooNew(
    `This version of Groundtrack is too old for its database, which a later version has migrated (${unknown.at(-1)}). ` +
      `Start a version that contains migration ${floor}, or restore a backup from before the upgrade.`,
  )
}

/** One transaction each; in a new database, where nobody waits, one for all that can share it, which is faster. */
function batchesOf(names: readonly string[], migrations: Migrations, isNew: boolean): string[][] {
  const batches: string[][] = []
  for (const name of names) {
    const last = batches.at(-1)
    const canShare = (each: string) => migrations[each]!.isTransactional !== false
    if (isNew && last && canShare(name) && last.every(canShare)) last.push(name)
    else batches.push([name])
  }
  return batches
}

async function apply(db: Db, names: readonly string[], migrations: Migrations, options: RunOptions): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await (migrations[names[0]!]!.isTransactional === false
        ? applyAlone(db, names[0]!, migrations)
        : applyTogether(db, names, migrations, options.lockTimeoutMs ?? LOCK_TIMEOUT_MS))
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE || attempt >= MAX_ATTEMPTS) throw error
      if (attempt === 1) options.onWaiting?.(`Migration ${names[0]} waits for a table that others are using; it is tried again`)
      await sleep(RETRY_MS[attempt - 1] ?? RETRY_MS.at(-1)!)
    }
}

async function applyTogether(db: Db, names: readonly string[], migrations: Migrations, lockTimeoutMs: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql.raw(`set local statement_timeout = 0; set local lock_timeout = ${lockTimeoutMs}`).execute(tx)
    for (const name of names) {
      await migrations[name]!.up(tx as unknown as Kysely<unknown>)
      await record(tx, name, migrations[name]!)
    }
  })
}

/** Without a transaction, a migration that is interrupted is repeated as a whole. */
async function applyAlone(db: Db, name: string, migrations: Migrations): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection)
    try {
      await migrations[name]!.up(connection as unknown as Kysely<unknown>)
    } finally {
      await sql`reset statement_timeout`.execute(connection)
    }
    await record(connection, name, migrations[name]!)
  })
}

async function record(db: Db, name: string, { requires }: Migration): Promise<void> {
  await sql`insert into kysely_migration (name, "timestamp") values (${name}, ${new Date().toISOString()})`.execute(db)
  if (requires)
    await sql`
      insert into schema_floor (migration) values (${requires})
      on conflict (id) do update set migration = greatest(schema_floor.migration, excluded.migration)
    `.execute(db)
}
