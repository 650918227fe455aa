import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PRODUCT, ProductRecord, toProduct } from './wire.ts'

/** One product by its name or id, with the schema of its parameters and its licence. */
export default operation({
  id: 'glossary.data_products.get',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ data_product_name: Type.String({ minLength: 1, maxLength: 200, description: 'Data product name or ID' }) }),
  output: ProductRecord,
  example: { input: { data_product_name: EXAMPLE_PRODUCT.name }, output: EXAMPLE_PRODUCT },
}).handle({
  async execute({ vendors }, { data_product_name }) {
    const found = vendors.product(data_product_name)
    if (!found) throw notFound('data product')
    return toProduct(vendors, found)
  },
})
