/** Contracts for a minimum of spend or area over a period, at negotiated rates, and how far they are fulfilled. */
import { sql } from 'kysely'
import { DAY_MS } from '#core/time.ts'
import { newId, isUuid } from '#core/ids.ts'
import { roundUpCredits } from '#core/money.ts'
import type { Db, Rate, SpendLine, Tx } from '#db/tables.ts'

export interface Commitment {
  id: string
  name: string
  /** Empty: every product. */
  products: string[]
  /** Days, `2026-07-01`; the last one belongs to it. */
  periodStart: string
  periodEnd: string
  minimumCents: number | null
  minimumKm2: number | null
  rates: Rate[]
}

export type CommitmentStatus = 'upcoming' | 'active' | 'met' | 'shortfall'

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

interface Row {
  id: string
  name: string
  products: string[]
  periodStart: string
  periodEnd: string
  minimumCents: number | null
  minimumKm2: number | null
  rates: Rate[]
}

const columns = (db: Db) =>
  db
    .selectFrom('commitment')
    .select([
      'id',
      'name',
      'products',
      sql<string>`period_start::text`.as('periodStart'),
      sql<string>`period_end::text`.as('periodEnd'),
      'minimum_cents as minimumCents',
      'minimum_km2 as minimumKm2',
      'rates',
    ])

/** Days of UTC, whatever the database's own zone. */
const startOf = (day: string) => new Date(`${day}T00:00:00Z`)
const endOf = (day: string) => new Date(startOf(day).getTime() + DAY_MS)

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
  if (id === null)
    return (
      await tx
        .insertInto('commitment')
        .values({ id: newId(), org_id: organizationId, created_at: now, ...values })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id
  if (!isUuid(id)) return null
  return (
    (
      await tx
        .updateTable('commitment')
        .set(values)
        .where('id', '=', id)
        .where('org_id', '=', organizationId)
        .returning('id')
        .executeTakeFirst()
    )?.id ?? null
  )
}

/** All of an organization, or one, with where they stand at an instant. */
export async function list(db: Db, organizationId: string, at: Date, id: string | null = null): Promise<Rollup[]> {
  if (id !== null && !isUuid(id)) return []
  const rows: Row[] = await columns(db)
    .where('org_id', '=', organizationId)
    .$if(id !== null, (query) => query.where('id', '=', id!))
    .orderBy('period_start')
    .orderBy('id')
    .execute()
  return await Promise.all(rows.map(async (row) => rollup(row, await deliveredOf(db, organizationId, row, at), at)))
}

/** What was captured of the commitment's products within its period; of a part capture and after refunds, the part. */
async function deliveredOf(
  db: Db,
  organizationId: string,
  { products, periodStart, periodEnd }: Row,
  at: Date,
): Promise<{ cents: number; km2: number }> {
  const { rows } = await sql<{ cents: number; km2: number }>`
    select coalesce(round(sum((line->>'credits')::numeric * kept)), 0)::bigint as cents, coalesce(sum((line->>'area_km2')::float8 * kept), 0)::float8 as km2
    from reservation, jsonb_array_elements(lines) as line, lateral (select (captured_credits - refunded_credits)::numeric / nullif(credits, 0) as kept) as part
    where org_id = ${organizationId} and state = 'captured' and settled_at >= ${startOf(periodStart)} and settled_at < ${endOf(periodEnd)} and settled_at <= ${at}
      and (${products}::text[] = '{}' or line->>'product' = any(${products}::text[]))`.execute(db)
  return rows[0]!
}

function rollup(row: Row, { cents, km2 }: { cents: number; km2: number }, at: Date): Rollup {
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

/** Area that was not taken is paid at the cheapest negotiated price. */
function shortfallCents({ minimumKm2, rates }: Row, shortfall: number): number {
  if (minimumKm2 === null) return Math.round(shortfall * 100)
  return roundUpCredits(shortfall * Math.min(...rates.flatMap(({ credits_per_km2 }) => credits_per_km2 ?? [])))
}

export interface LineItem {
  reference_type: string
  reference_id: string
  product: string | null
  area_km2: number | null
  credits: number
  settled_at: Date
}

const MAX_LINE_ITEMS = 1_000

/** The captured spends that count towards a commitment, newest first. */
export async function lineItems(db: Db, organizationId: string, { products, periodStart, periodEnd }: Commitment): Promise<LineItem[]> {
  const { rows } = await sql<LineItem>`
    select reference_type, reference_id, line->>'product' as product, (line->>'area_km2')::float8 as area_km2, round((line->>'credits')::numeric * (captured_credits - refunded_credits) / nullif(credits, 0))::bigint as credits, settled_at
    from reservation, jsonb_array_elements(lines) as line
    where org_id = ${organizationId} and state = 'captured' and settled_at >= ${startOf(periodStart)} and settled_at < ${endOf(periodEnd)} and credits > 0
      and (${products}::text[] = '{}' or line->>'product' = any(${products}::text[]))
    order by settled_at desc, id desc limit ${MAX_LINE_ITEMS}`.execute(db)
  return rows
}

/** Prices of a purchase at the rates in force: the cheapest commitment that covers a product on that day. Rounded up once for each line. */
export async function priced(db: Db, organizationId: string, lines: readonly SpendLine[], at: Date): Promise<SpendLine[]> {
  const day = at.toISOString().slice(0, 10)
  const contracts: Row[] = await columns(db)
    .where('org_id', '=', organizationId)
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
