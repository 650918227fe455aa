import { Closed, Described, FreeForm } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProduct } from './input.lib.ts'
import { DataProduct } from './wire.ts'

/** Returns the JSON Schema (2020-12) of a data product's order parameters. */
export default operation({
  id: 'orders.get_schema',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ data_product_id: DataProduct }),
  output: Described(FreeForm, "JSON Schema of the order's `params`"),
  example: {
    input: { data_product_id: 'sandbox-vhr-archive' },
    output: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  },
}).handle({
  check: async ({ vendors }, { data_product_id }) => requireProduct(vendors, data_product_id),
  execute: async (_context, _input, { paramsSchema }) => ({ ...paramsSchema }),
})
