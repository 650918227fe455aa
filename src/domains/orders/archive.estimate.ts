import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { priceCaptures } from '#model/orders/pricing.ts'
import { operation } from '#operation.ts'
import { CaptureInput, Captures, capturesOf, ErrorRecord, errorRecord, Estimated, estimatedOf } from './input.lib.ts'
import { pricingOf } from './placing.lib.ts'
import { EXAMPLE_CAPTURE } from './wire.ts'

const GroupEstimate = Closed({
  captures: Type.Array(CaptureInput, { description: 'Priced captures of the group' }),
  host: Type.String({ description: 'Host name of the vendor' }),
  dataProduct: Type.String({ description: 'Data product name' }),
  ...Estimated,
})

/** Estimates the price of captures, in the groups that their order would have. Nothing is stored or reserved. */
export default operation({
  id: 'orders.archive.estimate',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({
    captures: Captures,
    splitByDate: Type.Optional(Nullable(Type.Boolean({ description: 'Whether to create one group per acquisition day' }))),
    separately: Type.Optional(
      Nullable(Type.Boolean({ description: 'Whether to price each capture in a group of its own, as if it were ordered alone' })),
    ),
  }),
  output: Closed(
    {
      groups: Type.Array(GroupEstimate, { description: 'Groups the order would have' }),
      errors: Type.Array(ErrorRecord, { description: 'Captures that could not be priced, with the reason' }),
      total_aud: Type.Number({ description: 'Total price in Australian dollars' }),
      total_credits: Type.Integer({ description: 'Total price in credits' }),
    },
    { description: 'Estimated price of the order' },
  ),
  example: {
    input: { captures: [EXAMPLE_CAPTURE] },
    output: {
      groups: [
        {
          captures: [EXAMPLE_CAPTURE],
          host: 'sandbox-vhr',
          dataProduct: 'sandbox-vhr-archive',
          aoi_km2: 3.625,
          billed_km2: 3.625,
          credits: 9_840,
          aud: 98.4,
          billedByVendor: null,
        },
      ],
      errors: [],
      total_aud: 98.4,
      total_credits: 9_840,
    },
  },
}).handle({
  check: async ({ principal }) => requireOrganization(principal),
  async execute(context, { captures, splitByDate, separately }, organizationId) {
    const parsed = await capturesOf(captures)
    const { groups, errors } = await priceCaptures(pricingOf(context, organizationId), parsed, {
      splitByDate: splitByDate ?? false,
      separately: separately ?? false,
    })
    const total = groups.reduce((sum, { credits }) => sum + credits, 0)
    return {
      groups: groups.map((group) => ({
        captures: group.captures!.map(({ id, host, geometry }) => ({ id, host, geometry: { ...geometry } })),
        host: group.product.hostName,
        dataProduct: group.product.name,
        ...estimatedOf(group),
      })),
      errors: errors.map(errorRecord),
      total_aud: audOf(total),
      total_credits: total,
    }
  },
})
