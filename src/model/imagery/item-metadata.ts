/** What items weigh beside their files: properties and geometry. */
import { sql, type RawBuilder } from 'kysely'
import { requireBounded } from '#core/bounded.ts'
import { invalidField, problem } from '#core/problem.ts'
import { VARIOUS } from '#db/prepared.ts'
import type { Db } from '#db/tables.ts'

const KIB = 1024
const MAX_PROPERTIES_BYTES = 256 * KIB
/** So much of each item is free; what is beyond it counts as storage. The usual STAC item stays below. */
const FREE_BYTES = 4 * KIB
/** The index `item_heavy` knows the items above this. */
const HEAVY_BYTES = 16 * KIB
const MAX_PAGE_BYTES = 16 * KIB * KIB
/** Of as many items below that, no page can grow beyond what an answer may have. */
const MAX_LIGHT_ITEMS = 1_000

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

/** Whether an organization has any item that could make a page too large: a look into an index that is mostly empty. */
async function hasHeavyItems(db: Db, organizationId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from item where org_id = ${organizationId} and metadata_bytes > ${sql.lit(HEAVY_BYTES)} and deleted_at is null limit 1
  `.execute(db)
  return rows.length > 0
}

interface Page {
  organizationId: string
  /** Selects `metadata_bytes` of its rows, in their order. */
  rows: RawBuilder<unknown>
  limit: number
}

interface Weight {
  count: number
  /** How many of its rows fit into an answer, from the first on. */
  fitting: number
}

/** Null where a page cannot be too heavy. */
async function weigh(db: Db, { organizationId, rows: page, limit }: Page): Promise<Weight | null> {
  if (limit <= MAX_LIGHT_ITEMS && !(await hasHeavyItems(db, organizationId))) return null
  const { rows } = await sql<Weight>`${sql.raw(VARIOUS)}
    select count(*) as count, count(*) filter (where so_far <= ${sql.lit(MAX_PAGE_BYTES)}) as fitting
    from (select metadata_bytes, sum(metadata_bytes) over (rows unbounded preceding) as so_far from (${page}) as page) as page
  `.execute(db)
  return rows[0]!
}

/** 400 for a page that would not fit into an answer, before any of it is read. */
export async function requirePage(db: Db, page: Page): Promise<void> {
  const { count, fitting } = (await weigh(db, page)) ?? { count: 0, fitting: 0 }
  requireAll(count, fitting)
}

/** 400 where not all of a page fits into an answer. */
export function requireAll(count: number, fitting: number): void {
  if (fitting >= count) return
  const smaller = Math.max(1, Math.floor(fitting / 2)) // Half: the next page may be heavier.
  const what = fitting === 0 ? 'Its first item alone is larger' : `ask with limit ${smaller}`
  throw problem('bad-request', `The metadata of this page goes beyond the ${MAX_PAGE_BYTES} bytes that an answer may have; ${what}`)
}

/** For pages that say where the next one begins: as many of its rows as fit, and one at least. */
export async function shortened(db: Db, page: Page): Promise<number> {
  const { count, fitting } = (await weigh(db, page)) ?? { count: 0, fitting: 0 }
  return fitting < count ? Math.max(1, fitting) : page.limit
}
