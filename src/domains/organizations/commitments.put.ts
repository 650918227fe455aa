import Type from 'typebox'
import { DollarsInput } from '#core/money-shapes.ts'
import { centsOf } from '#core/money.ts'
import { invalidField, notFound } from '#core/problem.ts'
import { Closed, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import * as commitments from '#model/money/commitment.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { CommitmentRecord, Day, EXAMPLE_COMMITMENT, NegotiatedRate, toCommitment } from './commitments.wire.ts'
import { EXAMPLE_ORGANIZATION } from './wire.ts'

const MAX_PRODUCTS = 100

/** Operators only: creates a commitment, or replaces it by its ID. The minimum is either an amount or an area. */
export default operation({
  id: 'organizations.commitments.put',
  scope: 'admin:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    organization_id: Uuid,
    commitment_id: Type.Optional(Nullable(Uuid)),
    name: NotBlank(200),
    products: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: MAX_PRODUCTS })),
    period_start: Day,
    period_end: Day,
    minimum_aud: Type.Optional(Nullable(DollarsInput())),
    minimum_km2: Type.Optional(Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1e12 }))),
    rates: Type.Array(NegotiatedRate, { maxItems: MAX_PRODUCTS }),
  }),
  output: CommitmentRecord,
  example: {
    input: {
      organization_id: EXAMPLE_ORGANIZATION.id,
      name: 'Coastal 2026',
      products: ['sandbox-vhr-archive'],
      period_start: '2026-01-01',
      period_end: '2026-12-31',
      minimum_aud: 50_000,
      rates: [{ product: 'sandbox-vhr-archive', credits_per_km2: 1_800, discount_percent: null }],
    },
    output: EXAMPLE_COMMITMENT,
  },
}).handle({
  async check({ db }, { organization_id, period_start, period_end, minimum_aud, minimum_km2, rates }) {
    if (period_end <= period_start) throw invalidField('period_end', 'must be later than period_start')
    if (((minimum_aud ?? null) === null) === ((minimum_km2 ?? null) === null))
      throw invalidField('minimum_aud', 'send exactly one of minimum_aud and minimum_km2')
    const minimumCents = (minimum_aud ?? null) === null ? null : centsOf(minimum_aud!)
    if (rates.some((rate) => (rate.credits_per_km2 === null) === (rate.discount_percent === null)))
      throw invalidField('rates', 'each rate must have either credits_per_km2 or discount_percent')
    if ((minimum_km2 ?? null) !== null && !rates.some((rate) => rate.credits_per_km2 !== null))
      throw invalidField('rates', 'a minimum area requires a rate with credits_per_km2, at which the shortfall is charged')
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
    return { minimumCents, minimumKm2: minimum_km2 ?? null }
  },
  async execute({ tx, clock, attributeTo }, { organization_id, commitment_id, name, products, period_start, period_end, rates }, minimum) {
    attributeTo(organization_id)
    const now = clock.now()
    const id = await commitments.put(
      tx,
      organization_id,
      { id: commitment_id ?? null, name, products: products ?? [], periodStart: period_start, periodEnd: period_end, ...minimum, rates },
      now,
    )
    if (!id) throw notFound('commitment')
    return toCommitment((await commitments.list(tx, organization_id, now, id))[0]!, null)
  },
})
