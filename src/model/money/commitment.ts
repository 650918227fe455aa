/** Contracts for a minimum spend or area over a period, at negotiated rates, and their progress. */
import { sql } from 'kysely'
import { DAY_MS } from '#core/time.ts'
import { newId, isUuid } from '#core/ids.ts'
import { roundUpCredits } from '#core/money.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { CommitmentStatus, Rate, SpendLine } from '#db/tables/money.ts'

const COLUMNS = [
  'id',
  'name',
  'products', // None: every product.
  sql<string>`period_start::text`.as('periodStart'), // Days, `2026-07-01`; the last one belongs to it.
  sql<string>`period_end::text`.as('periodEnd'),
  'minimum_cents as minimumCents',
  'minimum_km2 as minimumKm2',
  'rates',
] as const

export type Commitment = Row<'commitment', typeof COLUMNS>

export interface Rollup extends Commitment {
  deliveredCents: number
  deliveredKm2: number
  /** In the unit of the minimum. */
  delivered: number
  remaining: number
  shortfall: number
  shortfallCents: number
  status: CommitmentStatus
}

const commitments = (db: Db, organizationId: string) => db.selectFrom('commitment').select(COLUMNS).where('org_id', '=', organizationId)

/** UTC days, whatever the database's time zone. */
const startOf = (day: string) => new Date(`${day}T00:00:00Z`)
const endOf = (day: string) => new Date(startOf(day).getTime() + DAY_MS)

/** Creates a commitment, or replaces the one with this ID. Returns null if there is none. */
export async function put(
  tx: Tx,
  organizationId: string,
  commitment: Omit<Commitment, 'id'> & { id: string | null },
  now: Date,
): Promise<string | null> {
  const { id, name, products, periodStart, periodEnd, minimumCents, minimumKm2, rates } = commitment
  const values = {
    name,
    products,
    period_start: periodStart,
    period_end: periodEnd,
    minimum_cents: minimumCents,
    minimum_km2: minimumKm2,
    rates: JSON.stringify(rates),
    updated_at: now,
  }
  if (id === null) {
    const id = newId()
    await tx
      .insertInto('commitment')
      .values({ id, org_id: organizationId, created_at: now, ...values })
      .execute()
    return id
  }
  if (!isUuid(id)) return null
  const changed = await tx
    .updateTable('commitment')
    .set(values)
    .where('id', '=', id)
    .where('org_id', '=', organizationId)
    .returning('id')
    .executeTakeFirst()
  return changed?.id ?? null
}

/** All commitments of an organization, or one, with their progress at a time. */
export async function list(db: Db, organizationId: string, at: Date, id: string | null = null): Promise<Rollup[]> {
  if (id !== null && !isUuid(id)) return []
  const rows = await commitments(db, organizationId)
    .$if(id !== null, (query) => query.where('id', '=', id!))
    .orderBy('period_start')
    .orderBy('id')
    .execute()
  return await Promise.all(rows.map(async (row) => rollup(row, await deliveredOf(db, organizationId, row, at), at)))
}

/** Spend lines of captured purchases of a commitment's products within its period. */
const deliveries = (organizationId: string, { products, periodStart, periodEnd }: Commitment) => sql`
  reservation, jsonb_array_elements(lines) as line
  where org_id = ${organizationId} and state = 'captured'
    and settled_at >= ${startOf(periodStart)} and settled_at < ${endOf(periodEnd)}
    and (${products}::text[] = '{}' or line->>'product' = any(${products}::text[]))`

/** The fraction that remains after partial captures and refunds. */
const KEPT = sql`((captured_credits - refunded_credits)::numeric / nullif(credits, 0))`

interface Delivered {
  cents: number
  km2: number
}

async function deliveredOf(db: Db, organizationId: string, commitment: Commitment, at: Date): Promise<Delivered> {
  const { rows } = await sql<Delivered>`
    select coalesce(round(sum((line->>'credits')::numeric * ${KEPT})), 0)::bigint as cents,
      coalesce(sum((line->>'area_km2')::float8 * ${KEPT}), 0)::float8 as km2
    from ${deliveries(organizationId, commitment)} and settled_at <= ${at}`.execute(db)
  return rows[0]!
}

function rollup(row: Commitment, { cents, km2 }: Delivered, at: Date): Rollup {
  const day = at.toISOString().slice(0, 10)
  const minimum = row.minimumKm2 ?? row.minimumCents! / 100
  const delivered = row.minimumKm2 === null ? cents / 100 : km2
  const missing = Math.max(0, row.minimumKm2 === null ? (row.minimumCents! - cents) / 100 : minimum - delivered)
  const hasEnded = day > row.periodEnd
  const status = day < row.periodStart ? 'upcoming' : missing === 0 ? 'met' : hasEnded ? 'shortfall' : 'active'
  const shortfall = status === 'shortfall' ? missing : 0
  return {
    ...row,
    deliveredCents: cents,
    deliveredKm2: km2,
    delivered,
    remaining: missing,
    shortfall,
    shortfallCents: shortfallCents(row, shortfall),
    status,
  }
}

/** Missing area is charged at the lowest negotiated price. */
function shortfallCents({ minimumKm2, rates }: Commitment, shortfall: number): number {
  if (minimumKm2 === null) return Math.round(shortfall * 100)
  return roundUpCredits(shortfall * Math.min(...rates.flatMap(({ credits_per_km2 }) => credits_per_km2 ?? [])))
}

export interface LineItem {
  referenceType: string
  referenceId: string
  product: string | null
  areaKm2: number | null
  credits: number
  settledAt: Date
}

const MAX_LINE_ITEMS = 1_000

/** Captured spend lines that count towards a commitment, newest first. */
export async function lineItems(db: Db, organizationId: string, commitment: Commitment): Promise<LineItem[]> {
  const { rows } = await sql<LineItem>`
    select reference_type as "referenceType", reference_id as "referenceId",
      line->>'product' as product, (line->>'area_km2')::float8 as "areaKm2",
      round((line->>'credits')::numeric * (captured_credits - refunded_credits) / nullif(credits, 0))::bigint as credits,
      settled_at as "settledAt"
    from ${deliveries(organizationId, commitment)} and credits > 0
    order by settled_at desc, id desc limit ${MAX_LINE_ITEMS}`.execute(db)
  return rows
}

/**
 * Prices of a purchase at the rates in force: the cheapest commitment that covers a product on that day. Each line is rounded up
 * once.
 */
export async function priced(db: Db, organizationId: string, lines: readonly SpendLine[], at: Date): Promise<SpendLine[]> {
  const day = at.toISOString().slice(0, 10)
  const contracts = await commitments(db, organizationId)
    .where(sql<boolean>`${day}::date between period_start and period_end`)
    .execute()
  const rates = contracts.flatMap((contract) => contract.rates)
  return lines.map((line) => ({
    ...line,
    credits: Math.min(line.credits, ...rates.filter(({ product }) => product === line.product).map((rate) => atRate(line, rate))),
  }))
}

function atRate(line: SpendLine, { credits_per_km2, discount_percent }: Rate): number {
  if (credits_per_km2 !== null && line.area_km2 !== null) return roundUpCredits(line.area_km2 * credits_per_km2)
  return discount_percent === null ? line.credits : roundUpCredits((line.credits * (100 - discount_percent)) / 100)
}
