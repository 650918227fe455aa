import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { priceTasking, type Unpriced } from '#model/orders/pricing.ts'
import { operation } from '#operation.ts'
import { ErrorRecord, errorRecord, EstimatedPart, estimatedOf, taskingOf } from './input.lib.ts'
import { pricingOf } from './placing.lib.ts'
import { EXAMPLE_FEATURES, MAX_GROUPS, TaskingGroup } from './wire.ts'

/** Estimates the price of a tasking order. The firm price comes from a study option or a quotation. Nothing is stored. */
export default operation({
  id: 'orders.tasking.estimate',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ groups: Type.Array(TaskingGroup, { minItems: 1, maxItems: MAX_GROUPS, description: 'Imagery to task, by group' }) }),
  output: Closed(
    {
      groups: Type.Array(EstimatedPart, { description: 'Estimated price of each group' }),
      errors: Type.Array(ErrorRecord, { description: 'Groups that could not be priced, with the reason' }),
      totalAud: Type.Number({ description: 'Total price in Australian dollars' }),
      totalCredits: Type.Integer({ description: 'Total price in credits' }),
    },
    { description: 'Estimated price of the order' },
  ),
  example: {
    input: {
      groups: [
        {
          dataProduct: 'sandbox-vhr-tasking',
          featureCollection: EXAMPLE_FEATURES,
          params: { acquisitionStart: '2026-04-01T00:00:00Z', acquisitionEnd: '2026-05-01T00:00:00Z' },
        },
      ],
    },
    output: {
      groups: [
        {
          index: 0,
          dataProduct: 'sandbox-vhr-tasking',
          aoi_km2: 3.625,
          billed_km2: 3.625,
          credits: 12_000,
          aud: 120,
          billedByVendor: null,
        },
      ],
      errors: [],
      totalAud: 120,
      totalCredits: 12_000,
    },
  },
}).handle({
  async check(context, { groups }) {
    const organizationId = requireOrganization(context.principal)
    const known = [...groups.entries()].filter(([, { dataProduct }]) => context.vendors.product(dataProduct))
    const taskings = []
    for (const [index, group] of known) taskings.push(await taskingOf(context, group, `groups.${index}.`))
    return { organizationId, taskings, indices: known.map(([index]) => index) }
  },
  async execute(context, { groups: requested }, { organizationId, taskings, indices }) {
    const priced = await priceTasking(pricingOf(context, organizationId), taskings)
    const groups = priced.groups.map((group) => ({ ...group, index: indices[group.index]! }))
    const unknown = [...requested.entries()]
      .filter(([index]) => !indices.includes(index))
      .map(([index, group]) => unknownProduct(index, group))
    const errors = [...unknown, ...priced.errors.map((error) => ({ ...error, index: indices[error.index]! }))].toSorted(
      (a, b) => a.index - b.index,
    )
    const total = groups.reduce((sum, { credits }) => sum + credits, 0)
    return {
      groups: groups.map((group) => ({ index: group.index, dataProduct: group.product.name, ...estimatedOf(group) })),
      errors: errors.map(errorRecord),
      totalAud: audOf(total),
      totalCredits: total,
    }
  },
})

const unknownProduct = (index: number, { dataProduct }: { dataProduct: string }): Unpriced => ({
  index,
  id: dataProduct,
  host: null,
  reason: 'Unknown data product; glossary.data_products.list lists the available ones',
  problem: null,
})
