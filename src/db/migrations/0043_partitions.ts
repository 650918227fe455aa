import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'

export const kind = 'contract'
/** Earlier versions name unique columns that a partitioned table cannot have, and rely on foreign keys to it. */
export const requires = '0042_audit_counts'
export const isTransactional = false

interface Growing {
  table: string
  /** The time that decides the month. */
  column: string
  /** Unique across all months only together with the time, which never changes. */
  primaryKey: string
  unique: Readonly<Record<string, string>>
  /** Other indexes, by name. The table has them already. */
  indexes: Readonly<Record<string, string>>
  /** Unique constraints of the whole table that end. */
  dropped: readonly string[]
  /** Foreign keys from or to the table. With them, dropping a month would block writers of the other table. */
  foreignKeys: readonly (readonly [table: string, constraint: string])[]
  /** The other tables of these keys. */
  related: readonly string[]
  isAppendOnly: boolean
  identity?: string
}

/** Those that refer to others come first. */
const TABLES: readonly Growing[] = [
  {
    table: 'webhook_attempt',
    column: 'at',
    primaryKey: 'id, at',
    unique: {},
    indexes: { webhook_attempt_delivery: '(delivery_id, at)' },
    dropped: [],
    foreignKeys: [['webhook_attempt', 'webhook_attempt_delivery_id_fkey']],
    related: ['webhook_delivery'],
    isAppendOnly: false,
  },
  {
    table: 'webhook_delivery',
    column: 'created_at',
    primaryKey: 'id, created_at',
    unique: { webhook_delivery_event: 'subscription_id, event_seq, created_at' },
    indexes: {
      webhook_delivery_due: "(endpoint_key, due_at) where state = 'pending'",
      webhook_delivery_ended: '(ended_at) where ended_at is not null',
      webhook_delivery_held: "(endpoint_key) where state = 'held'",
    },
    dropped: ['webhook_delivery_subscription_id_event_seq_key'],
    foreignKeys: [
      ['webhook_delivery', 'webhook_delivery_event_seq_fkey'],
      ['webhook_delivery', 'webhook_delivery_subscription_id_fkey'],
    ],
    related: ['event_subscription', 'event'],
    isAppendOnly: false,
  },
  {
    table: 'event',
    column: 'occurred_at',
    primaryKey: 'seq, occurred_at',
    unique: { event_id: 'id, occurred_at' },
    indexes: { event_stream: '(org_id, txid, seq)' },
    dropped: ['event_id_key'],
    foreignKeys: [
      ['webhook_backlog', 'webhook_backlog_event_seq_fkey'],
      ['event', 'event_org_id_fkey'],
    ],
    related: ['organization', 'webhook_backlog'],
    isAppendOnly: true,
    identity: 'seq',
  },
  {
    table: 'audit',
    column: 'at',
    primaryKey: 'invocation_id, at',
    unique: {},
    indexes: { audit_org: '(org_id, at desc, invocation_id)' },
    dropped: [],
    foreignKeys: [],
    related: [],
    isAppendOnly: true,
  },
  {
    table: 'egress_log',
    column: 'at',
    primaryKey: 'id, at',
    unique: {},
    indexes: { egress_log_org: '(org_id, at desc)' },
    dropped: [],
    foreignKeys: [['egress_log', 'egress_log_org_id_fkey']],
    related: ['organization'],
    isAppendOnly: true,
  },
  {
    table: 'usage_day',
    column: 'day',
    primaryKey: 'org_id, day, meter',
    unique: {},
    indexes: {},
    dropped: [],
    foreignKeys: [['usage_day', 'usage_day_org_id_fkey']],
    related: ['organization'],
    isAppendOnly: false,
  },
]

/** For the linter of migrations: the rules take a new and empty table for a large one, and one query for many transactions. */
const LINTER =
  '-- squawk-ignore prefer-robust-stmts, ban-drop-constraint, renaming-table, renaming-object, ban-alter-identity, ' +
  'adding-serial-primary-key-field, constraint-missing-not-valid, require-concurrent-index-creation'
const LOCK_NOT_AVAILABLE = '55P03'
const LOCK_RETRY_MS = 500
const MAX_LOCK_ATTEMPTS = 600

/**
 * Divides the tables that grow with every call by month. The existing table becomes the first partition, without a copy: a check
 * constraint, which is validated while others write, shows that all its rows are older than the bound; the indexes that partitions need
 * are built concurrently; and a transaction of a moment puts a partitioned table in its place.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const growing of TABLES) {
    const { rows } = await sql<{ isDone: boolean }>`
      select relkind = 'p' as "isDone" from pg_class where oid = to_regclass(${growing.table})
    `.execute(db)
    if (!rows[0]?.isDone) await divide(db, growing)
  }
}

async function divide(db: Kysely<unknown>, growing: Growing): Promise<void> {
  const { table, column } = growing
  const bound = boundFrom(new Date(), column)
  const check = `${table}_bound`
  try {
    await briefly(db, [
      `alter table ${table} drop constraint if exists ${check}`,
      `alter table ${table} add constraint ${check} check (${column} < '${bound}') not valid`,
    ])
    await run(db, `alter table ${table} validate constraint ${check}`)
    for (const [name, columns] of Object.entries({ [`${table}_new_pkey`]: growing.primaryKey, ...growing.unique })) {
      await run(db, `drop index concurrently if exists ${name}_part`) // What an interrupted run has left may be invalid.
      await run(db, `create unique index concurrently if not exists ${name}_part on ${table} (${columns})`)
    }
    await briefly(db, replacement(growing, { bound, check }))
  } catch (error) {
    await briefly(db, [`alter table ${table} drop constraint if exists ${check}`]) // It would reject rows from the bound on.
    throw error
  }
}

/** The month after the next one: until then, rows go to the existing table. */
function boundFrom(now: Date, column: string): string {
  const bound = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 1)).toISOString()
  return column === 'day' ? bound.slice(0, 10) : bound
}

/**
 * One transaction. If it waits for others for longer than the lock timeout, it lets them pass and tries again. It locks all its tables
 * first, at most three, and the waits for them take less than the second after which PostgreSQL looks for deadlocks: a writer that has
 * locked them in another order waits for a moment, and never fails.
 */
async function briefly(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await run(db, ["set local lock_timeout = '300ms'", ...statements.map((each) => `${LINTER}\n${each}`)].join(';\n'))
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt >= MAX_LOCK_ATTEMPTS) throw error
      await sleep(LOCK_RETRY_MS)
    }
}

interface Range {
  bound: string
  check: string
}

function replacement({ table, column, primaryKey, ...growing }: Growing, { bound, check }: Range): string[] {
  const old = `${table}_before_${bound.slice(0, 7).replace('-', '_')}`
  const appendOnly = (name: string) =>
    `create trigger ${name}_append_only before update or delete or truncate on ${name} for each statement execute function refuse_change()`
  return [
    `lock table ${[...growing.related, table].join(', ')} in access exclusive mode`,
    ...growing.foreignKeys.map(([owner, constraint]) => `alter table ${owner} drop constraint if exists ${constraint}`),
    `alter table ${table} rename to ${old}`,
    ...(growing.identity ? [`alter sequence ${table}_${growing.identity}_seq rename to ${table}_old_seq`] : []),
    ...Object.keys(growing.indexes).map((name) => `alter index ${name} rename to ${name}_old`),
    `alter table ${old} drop constraint ${table}_pkey`,
    ...growing.dropped.map((constraint) => `alter table ${old} drop constraint ${constraint}`),
    `alter table ${old} add constraint ${old}_pkey primary key using index ${table}_new_pkey_part`,
    `create table ${table} (like ${old} including defaults including constraints including comments) partition by range (${column})`,
    `alter table ${table} drop constraint ${check}`,
    `alter table ${table} add constraint ${table}_pkey primary key (${primaryKey})`,
    ...Object.entries(growing.unique).map(([name, columns]) => `create unique index ${name} on ${table} (${columns})`),
    ...Object.entries(growing.indexes).map(([name, definition]) => `create index ${name} on ${table} ${definition}`),
    ...(growing.identity ? continued(table, growing.identity, old) : []),
    `alter table ${table} attach partition ${old} for values from (minvalue) to ('${bound}')`,
    `alter table ${old} drop constraint ${check}`,
    `create table ${table}_default partition of ${table} default`,
    ...(growing.isAppendOnly ? [appendOnly(table), appendOnly(`${table}_default`)] : []),
    ...(table === 'egress_log' ? [appendOnly(old)] : []),
  ]
}

/** Numbers go on where they were. */
const continued = (table: string, column: string, old: string): string[] => [
  `alter table ${table} alter column ${column} add generated always as identity`,
  `select setval('${table}_${column}_seq', last_value, is_called) from ${table}_old_seq`,
  `alter table ${old} alter column ${column} drop identity`,
]

const run = async (db: Kysely<unknown>, text: string): Promise<void> => {
  await sql.raw(text).execute(db)
}
