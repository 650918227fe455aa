import Type from 'typebox'
import { RateInput } from '#core/money-shapes.ts'
import { audOf } from '#core/money.ts'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { LineItem, Rollup } from '#model/money/commitment.ts'

export const Day = Type.String({ format: 'date' })

/** As an operator writes it. */
export const RateGiven = Closed({
  product: Type.String({ minLength: 1, maxLength: 200 }),
  credits_per_km2: Nullable(RateInput({ maximum: 1e9 })),
  discount_percent: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
})

const RateRecord = Closed(
  {
    product: Type.String({ minLength: 1, maxLength: 200 }),
    credits_per_km2: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1e9 })),
    discount_percent: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
  },
  { $id: 'CommitmentRate' },
)

const LineItemRecord = Closed(
  {
    reference_type: Type.String(),
    reference_id: Type.String(),
    product: Nullable(Type.String()),
    area_km2: Nullable(Type.Number()),
    credits: Type.Integer(),
    aud: Type.Number(),
    settled_at: Timestamp,
  },
  { $id: 'CommitmentLineItem' },
)

export const CommitmentRecord = Closed(
  {
    id: Uuid,
    name: Type.String(),
    products: Type.Array(Type.String()),
    period_start: Day,
    period_end: Day,
    minimum_aud: Nullable(Type.Number()),
    minimum_km2: Nullable(Type.Number()),
    rates: Type.Array(RateRecord),
    /** These three are in the unit of the minimum. */
    delivered_to_date: Type.Number(),
    remaining: Type.Number(),
    shortfall: Type.Number(),
    shortfall_aud: Type.Number(),
    status: Choice(['upcoming', 'active', 'met', 'shortfall']),
    line_items: Nullable(Type.Array(LineItemRecord)),
  },
  { $id: 'Commitment' },
)

export function toCommitment(one: Rollup, items: readonly LineItem[] | null) {
  return {
    id: one.id,
    name: one.name,
    products: one.products,
    period_start: one.periodStart,
    period_end: one.periodEnd,
    minimum_aud: one.minimumCents === null ? null : audOf(one.minimumCents),
    minimum_km2: one.minimumKm2,
    rates: one.rates,
    delivered_to_date: one.delivered,
    remaining: one.remaining,
    shortfall: one.shortfall,
    shortfall_aud: audOf(one.shortfallCents),
    status: one.status,
    line_items: items?.map(toLineItem) ?? null,
  }
}

function toLineItem({ referenceType, referenceId, product, areaKm2, credits, settledAt }: LineItem) {
  return {
    reference_type: referenceType,
    reference_id: referenceId,
    product,
    area_km2: areaKm2,
    credits,
    aud: audOf(credits),
    settled_at: settledAt.toISOString(),
  }
}

export const EXAMPLE_COMMITMENT = {
  id: '0199f2d6-0000-7000-8000-000000000001',
  name: 'Coastal 2026',
  products: ['sandbox-vhr-archive'],
  period_start: '2026-01-01',
  period_end: '2026-12-31',
  minimum_aud: 50_000,
  minimum_km2: null,
  rates: [{ product: 'sandbox-vhr-archive', credits_per_km2: 1_800, discount_percent: null }],
  delivered_to_date: 12_400,
  remaining: 37_600,
  shortfall: 0,
  shortfall_aud: 0,
  status: 'active' as const,
  line_items: null,
}
