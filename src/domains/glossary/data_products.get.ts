import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PRODUCT, ProductRecord, toProduct } from './wire.ts'

/** One data product by its name or ID, with the schema of its parameters and its licence. */
export default operation({
  id: 'glossary.data_products.get',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ data_product_name: Type.String({ minLength: 1, maxLength: 200, description: 'Data product name or ID' }) }),
  output: ProductRecord,
  example: { input: { data_product_name: EXAMPLE_PRODUCT.name }, output: EXAMPLE_PRODUCT },
}).handle({
  async execute({ vendors }, { data_product_name }) {
    const product = vendors.product(data_product_name)
    if (!product) throw notFound('data product')
    return toProduct(vendors, product)
  },
})
