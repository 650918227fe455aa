/**
 * What would cross shards if tables were distributed by organization: tenant tables without `org_id`, unique keys and foreign keys that
 * do not contain it, and statements that do not name it.
 */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { ORG_TABLES } from '../org/tables.ts'

export const KINDS = ['tables', 'unique_keys', 'foreign_keys', 'statements'] as const
type Kind = (typeof KINDS)[number]
export type Crossings = Readonly<Record<Kind, readonly string[]>>

/** The organization itself is on its own shard by its `id`. */
const TENANT_TABLES = ORG_TABLES.map(({ name }) => name).filter((name) => name !== 'organization')

export async function schemaCrossings(db: Db): Promise<Omit<Crossings, 'statements'>> {
  const names = sql`${TENANT_TABLES}::text[]`
  const tables = await sql<{ what: string }>`
    select c.relname::text as what from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relname = any(${names}) and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped)
  `.execute(db)
  const uniqueKeys = await sql<{ what: string }>`
    select format('%s (%s)', c.relname, string_agg(coalesce(a.attname, '…'), ', ' order by k.place)) as what
    from pg_index i join pg_class c on c.oid = i.indrelid
    cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and k.attnum > 0
    where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relname = any(${names})
    group by i.indexrelid, c.relname having bool_and(a.attname is distinct from 'org_id')
  `.execute(db)
  const foreignKeys = await sql<{ what: string }>`
    select format('%s.%s', c.relname, f.conname) as what from pg_constraint f
    join pg_class c on c.oid = f.conrelid join pg_class r on r.oid = f.confrelid
    where f.contype = 'f' and f.conparentid = 0 and c.relname = any(${names}) and r.relname = any(${names}) and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(f.conkey) and a.attname = 'org_id')
  `.execute(db)
  const listed = ({ rows }: { rows: { what: string }[] }) => [...new Set(rows.map(({ what }) => what))].toSorted()
  return { tables: listed(tables), unique_keys: listed(uniqueKeys), foreign_keys: listed(foreignKeys) }
}

const NAMED = /\b(?:from|join|into|update)\s+(?:only\s+)?(?:"?public"?\.)?"?(\w+)"?/gi

/** The tenant tables that a statement names. */
const tablesOf = (statement: string): string[] =>
  [...statement.matchAll(NAMED)].map(([, name]) => name!).filter((name) => TENANT_TABLES.includes(name))

/** Statements on tenant tables. */
export const onTenants = (statements: readonly string[]): string[] => statements.filter((statement) => tablesOf(statement).length > 0)

export const statementCrossings = (statements: readonly string[]): string[] =>
  onTenants(statements).filter((statement) => !/\borg_id\b/.test(statement))

/** One line for all statements that differ only in the number of their values. */
export function normalized(statement: string): string {
  return statement
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\((?:\$(?:::[a-z0-9[\]]+)?(?:, )?)+\)/g, '($)')
    .replaceAll(/\(\$\)(?:, ?\(\$\))+/g, '($)')
    .replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1')
    .trim()
}

/** What crosses shards and is not listed, and what is listed but no longer crosses. */
export function compared(listed: Crossings, found: Crossings): { added: string[]; gone: string[] } {
  const differences = (a: Crossings, b: Crossings) =>
    KINDS.flatMap((kind) => a[kind].filter((entry) => !b[kind].includes(entry)).map((entry) => `${kind}: ${entry}`))
  return { added: differences(found, listed), gone: differences(listed, found) }
}
