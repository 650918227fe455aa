import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { priceCaptures, priceTasking } from '#model/orders/pricing.ts'
import { operation } from '#operation.ts'
import { GenericInput, parseRequest } from './generic.lib.ts'
import { ErrorRecord, errorRecord, EstimatedPart, estimatedOf } from './input.lib.ts'
import { pricingOf } from './placing.lib.ts'
import { EXAMPLE_FEATURES, round } from './wire.ts'

/** Estimates the price of an order. Nothing is stored or reserved. */
export default operation({
  id: 'orders.estimate',
  scope: 'items:read',
  tier: 'read',
  input: Closed(GenericInput),
  output: Closed(
    {
      summary: Closed(
        {
          totalCredits: Type.Integer({ description: 'Total price in credits' }),
          totalAud: Type.Number({ description: 'Price in Australian dollars' }),
          areaSqKm: Type.Number({ description: 'Charged area in km²' }),
        },
        { description: 'Totals of all results' },
      ),
      results: Type.Array(EstimatedPart, { description: 'Price of each part' }),
      errors: Type.Array(ErrorRecord, { description: 'Parts that could not be priced, with the reason' }),
    },
    { description: 'Estimated price of the order' },
  ),
  example: {
    input: { dataProduct: 'sandbox-vhr-archive', params: { id: 'sandbox-vhr_20260219_r818c4834' }, featureCollection: EXAMPLE_FEATURES },
    output: {
      summary: { totalCredits: 9_840, totalAud: 98.4, areaSqKm: 3.625 },
      results: [
        {
          index: 0,
          dataProduct: 'sandbox-vhr-archive',
          aoi_km2: 3.625,
          billed_km2: 3.625,
          credits: 9_840,
          aud: 98.4,
          billedByVendor: null,
        },
      ],
      errors: [],
    },
  },
}).handle({
  async check(context, input) {
    return { organizationId: requireOrganization(context.principal), request: await parseRequest(context, input) }
  },
  async execute(context, _input, { organizationId, request }) {
    const pricing = pricingOf(context, organizationId)
    const { groups, errors } =
      request.type === 'ARCHIVE'
        ? await priceCaptures(pricing, request.captures, { splitByDate: false, separately: false })
        : await priceTasking(pricing, request.taskings)
    const sum = (of: (group: (typeof groups)[number]) => number) => groups.reduce((total, group) => total + of(group), 0)
    const credits = sum((group) => group.credits)
    return {
      summary: { totalCredits: credits, totalAud: audOf(credits), areaSqKm: round(sum((group) => group.areaKm2)) },
      results: groups.map((group, index) => ({ index, dataProduct: group.product.name, ...estimatedOf(group) })),
      errors: errors.map(errorRecord),
    }
  },
})
