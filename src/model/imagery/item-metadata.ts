/** The size of items without their files: properties and geometry. */
import { sql, type RawBuilder } from 'kysely'
import { requireBounded } from '#core/bounded.ts'
import { invalidField, problem, type Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'

const KIB = 1024
const MAX_PROPERTIES_BYTES = 256 * KIB
/** Free per item; what exceeds it counts as storage. Typical STAC items are smaller. */
const FREE_BYTES = 4 * KIB
/** The index `item_heavy` contains the items above this. Below it, no page of 1,000 can exceed the maximum response size. */
const HEAVY_BYTES = 16 * KIB
export const MAX_PAGE_BYTES = 16 * KIB * KIB

/** Storage that an item counts for, without its files. */
export const countedBytes = (alias: 'i' | 'item' | 'g' | 'm'): RawBuilder<number> =>
  sql<number>`greatest(0, ${sql.ref(`${alias}.metadata_bytes`)} - ${sql.lit(FREE_BYTES)})`

export function requireProperties<T extends Record<string, unknown>>(properties: T): T {
  requireBounded(properties, 'properties')
  const bytes = Buffer.byteLength(JSON.stringify(properties))
  if (bytes > MAX_PROPERTIES_BYTES)
    throw invalidField('properties', `is ${bytes} bytes of JSON; the maximum is ${MAX_PROPERTIES_BYTES}. Store larger data in a file.`)
  return properties
}

/** 400 if only some items of a page fit in a response. */
export function pageTooHeavy(fitting: number): Problem {
  const smaller = Math.max(1, Math.floor(fitting / 2)) // Half: the next page may be heavier.
  const advice = fitting === 0 ? 'its first item alone exceeds it' : `retry with limit ${smaller}`
  return problem('bad-request', `The metadata of this page exceeds the maximum response size of ${MAX_PAGE_BYTES} bytes; ${advice}`)
}

/** Whether an organization has an item that could make a page too large; reads an index that is mostly empty. */
async function hasHeavyItems(db: Db, organizationId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from item where org_id = ${organizationId} and metadata_bytes > ${sql.lit(HEAVY_BYTES)} and deleted_at is null limit 1
  `.execute(db)
  return rows.length > 0
}

/** 400 for a page that exceeds the maximum response size, before it is read. `page` selects `metadata_bytes` of its rows. */
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
    `This page has ${bytes} bytes of metadata; a response can have at most ${MAX_PAGE_BYTES}. Retry with limit ${smaller}.`,
  )
}
