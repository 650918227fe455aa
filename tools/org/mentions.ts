/** Finds rows that mention an organization that is erased, its data or its people, in whatever column. */
import type pg from 'pg'
import { SCHEMAS } from '../backup/tables.ts'
import { leavesOf } from './batches.ts'
import { forOrg, type Organization } from './organization.ts'
import { ORG_TABLES } from './tables.ts'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/**
 * Whether a row `t` does. Its text is made once, and the IDs in it are looked up in the index: an organization can have millions, and no
 * plan may compare each row with all of them.
 */
export const MENTIONS = `(
  select exists (
      select from erasing_id e where e.org_id = {org} and e.kind in ('id', 'user')
        and e.id = any (array(select found.id[1] from regexp_matches(line.text, '${UUID}', 'g') as found (id))))
    or position('@' in line.text) > 0 and exists (
      select from erasing_id a where a.org_id = {org} and a.kind = 'address' and position(a.id in line.text) > 0)
  from (select t::text as text offset 0) as line)`

/** Blocks of 8 kB that one statement reads. */
const SLICE_BLOCKS = 4_096
/** They say what is erased, and are emptied when it is. */
const WORKING_TABLES = new Set(['public.erasing', 'public.erasing_id'])

export interface Found {
  readonly searched: readonly string[]
  readonly unexpected: readonly string[]
}

/** Of every row of every table that the law does not keep, a slice of a table at a time. */
export async function searchEverything(client: pg.Client, organization: Organization, onSlice: () => void): Promise<Found> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    [SCHEMAS],
  )
  const tables = rows.map(({ name }) => name).filter((name) => !WORKING_TABLES.has(name))
  const kept = new Set(ORG_TABLES.filter(({ isKept }) => isKept).map(({ name }) => `public.${name}`))
  const unexpected: string[] = []
  for (const name of tables) {
    if (kept.has(name)) continue
    let found = 0
    for (const leaf of await leavesOf(client, name)) found += await searchSlices(client, leaf, organization, onSlice)
    if (found > 0) unexpected.push(`${name}: ${found} rows`)
  }
  return { searched: tables, unexpected }
}

async function searchSlices(client: pg.Client, leaf: string, organization: Organization, onSlice: () => void): Promise<number> {
  const { rows: sizes } = await client.query<{ blocks: number }>(
    "select (pg_relation_size($1::regclass) / current_setting('block_size')::int)::int as blocks",
    [leaf],
  )
  let found = 0
  for (let block = 0; block === 0 || block < sizes[0]!.blocks; block += SLICE_BLOCKS) {
    // Rows that are added meanwhile belong to the last slice.
    const isLast = block + SLICE_BLOCKS >= sizes[0]!.blocks
    const range = `t.ctid >= '(${block},0)'::tid ${isLast ? '' : `and t.ctid < '(${block + SLICE_BLOCKS},0)'::tid`}`
    const { rows } = await client.query<{ found: number }>(
      forOrg(`select count(*)::int as found from ${leaf} t where ${range} and ${MENTIONS}`, organization),
    )
    found += rows[0]!.found
    onSlice()
  }
  return found
}

/** Tables of the simulated card processor and vendors. */
export async function sandboxTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname like 'sandbox%' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** The planner must know how many there are. */
export const analyzeIdentifiers = async (client: pg.Client): Promise<void> => void (await client.query('analyze erasing_id'))
