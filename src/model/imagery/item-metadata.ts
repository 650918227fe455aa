/** What items weigh beside their files: properties and geometry. */
import { sql, type RawBuilder } from 'kysely'
import { requireBounded } from '#core/bounded.ts'
import { invalidField, problem, type Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'

const KIB = 1024
const MAX_PROPERTIES_BYTES = 256 * KIB
/** So much of each item is free; what is beyond it counts as storage. The usual STAC item stays below. */
const FREE_BYTES = 4 * KIB
/** The index `item_heavy` knows the items above this. Below it, no page of 1,000 can grow beyond what an answer may have. */
const HEAVY_BYTES = 16 * KIB
export const MAX_PAGE_BYTES = 16 * KIB * KIB

/** What an item counts as storage for, beside its files. */
export const countedBytes = (alias: 'i' | 'item' | 'g' | 'm'): RawBuilder<number> =>
  sql<number>`greatest(0, ${sql.ref(`${alias}.metadata_bytes`)} - ${sql.lit(FREE_BYTES)})`

export function requireProperties<T extends Record<string, unknown>>(properties: T): T {
  requireBounded(properties, 'properties')
  const bytes = Buffer.byteLength(JSON.stringify(properties))
  if (bytes > MAX_PROPERTIES_BYTES)
    throw invalidField('properties', `has ${bytes} bytes as JSON, and may have ${MAX_PROPERTIES_BYTES}; put larger data into a file`)
  return properties
}

/** 400 where only so many items of a page fit into an answer. */
export function pageTooHeavy(fitting: number): Problem {
  const smaller = Math.max(1, Math.floor(fitting / 2)) // Half: the next page may be heavier.
  const advice = fitting === 0 ? 'its first item alone is larger' : `ask with limit ${smaller}`
  return problem('bad-request', `The metadata of this page goes beyond the ${MAX_PAGE_BYTES} bytes that an answer may have; ${advice}`)
}

/** Whether an organization has any item that could make a page too large: a look into an index that is mostly empty. */
async function hasHeavyItems(db: Db, organizationId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from item where org_id = ${organizationId} and metadata_bytes > ${sql.lit(HEAVY_BYTES)} and deleted_at is null limit 1
  `.execute(db)
  return rows.length > 0
}

/** 400 for a page that would not fit into an answer, before any of it is read. `page` selects `metadata_bytes` of its rows. */
export async function requirePage(db: Db, organizationId: string, page: RawBuilder<unknown>): Promise<void> {
  if (!(await hasHeavyItems(db, organizationId))) return
  const { rows } = await sql<{
    bytes: number
    count: number
  }>`select count(*) as count, coalesce(sum(metadata_bytes), 0)::bigint as bytes from (${page}) as page`.execute(db)
  const { bytes, count } = rows[0]!
  if (bytes <= MAX_PAGE_BYTES) return
  const smaller = Math.max(1, Math.floor((count * MAX_PAGE_BYTES) / bytes / 2)) // Half: the next page may be heavier.
  throw problem(
    'bad-request',
    `This page has ${bytes} bytes of metadata, and an answer at most ${MAX_PAGE_BYTES}; ask with limit ${smaller}`,
  )
}
