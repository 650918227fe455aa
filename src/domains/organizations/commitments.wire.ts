import Type from 'typebox'
import { RateInput } from '#core/money-shapes.ts'
import { audOf } from '#core/money.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { LineItem, Rollup } from '#model/money/commitment.ts'

export const Day = Type.String({ format: 'date' })

/** A rate in the input of `organizations.commitments.put`. */
export const NegotiatedRate = Closed({
  product: Type.String({ minLength: 1, maxLength: 200 }),
  credits_per_km2: Nullable(RateInput({ maximum: 1e9 })),
  discount_percent: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
})

const RateRecord = Closed(
  {
    product: Type.String({ minLength: 1, maxLength: 200, description: 'Product name' }),
    credits_per_km2: Described(
      Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1e9 })),
      'Credits per km²; null if a discount applies instead',
    ),
    discount_percent: Described(
      Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
      'Discount on the list price in percent; null if a fixed rate applies',
    ),
  },
  { $id: 'CommitmentRate', description: 'A negotiated rate' },
)

const LineItemRecord = Closed(
  {
    reference_type: Type.String({ description: 'Type of the delivered object' }),
    reference_id: Type.String({ description: 'ID of the delivered object' }),
    product: Described(Nullable(Type.String()), 'Product name; null if it has none'),
    area_km2: Described(Nullable(Type.Number()), 'Area in km²; null if not priced by area'),
    credits: Type.Integer({ description: 'Credits spent' }),
    aud: Type.Number({ description: 'Amount in Australian dollars' }),
    settled_at: Described(Timestamp, 'Settlement time'),
  },
  { $id: 'CommitmentLineItem', description: 'A delivery that counts towards a commitment' },
)

export const CommitmentRecord = Closed(
  {
    id: Described(Uuid, 'Commitment ID'),
    name: Type.String({ description: 'Name of the commitment' }),
    products: Type.Array(Type.String(), { description: 'Products that count towards the commitment' }),
    period_start: Described(Day, 'Start of the commitment period'),
    period_end: Described(Day, 'End of the commitment period'),
    minimum_aud: Described(Nullable(Type.Number()), 'Minimum spend in Australian dollars; null if an area is committed'),
    minimum_km2: Described(Nullable(Type.Number()), 'Minimum area in km²; null if a spend is committed'),
    rates: Type.Array(RateRecord, { description: 'Rates of each product under the commitment' }),
    /** The next three are in the unit of the minimum. */
    delivered_to_date: Type.Number({ description: 'Amount delivered so far' }),
    remaining: Type.Number({ description: 'Amount still to be bought' }),
    shortfall: Type.Number({ description: 'Amount short at the end of the period' }),
    shortfall_aud: Type.Number({ description: 'Amount short at the end of the period, in Australian dollars' }),
    status: Choice(['upcoming', 'active', 'met', 'shortfall'], { description: 'Commitment status' }),
    line_items: Described(Nullable(Type.Array(LineItemRecord)), 'Counted deliveries; null unless requested'),
  },
  { $id: 'Commitment', description: 'A commitment to a minimum spend or area' },
)

export function toCommitment(commitment: Rollup, items: readonly LineItem[] | null) {
  return {
    id: commitment.id,
    name: commitment.name,
    products: commitment.products,
    period_start: commitment.periodStart,
    period_end: commitment.periodEnd,
    minimum_aud: commitment.minimumCents === null ? null : audOf(commitment.minimumCents),
    minimum_km2: commitment.minimumKm2,
    rates: commitment.rates,
    delivered_to_date: commitment.delivered,
    remaining: commitment.remaining,
    shortfall: commitment.shortfall,
    shortfall_aud: audOf(commitment.shortfallCents),
    status: commitment.status,
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
