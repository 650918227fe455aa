import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { pageFields, PageOf, pageOf } from '#wire/page.ts'
import { EXAMPLE_PRODUCT, ProductRecord, toProduct } from './wire.ts'

/** Data products that can be ordered or tasked. */
export default operation({
  id: 'glossary.data_products.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    dataProductId: Type.Optional(
      Nullable(Type.String({ maxLength: 4_000, description: 'Only data products with these IDs, separated by commas' })),
    ),
    ...pageFields(10),
    sort: Type.Optional(
      Nullable(
        Choice(['name,asc', 'name,desc', 'title,asc', 'title,desc'], { description: 'Sort field and direction; defaults to the name' }),
      ),
    ),
  }),
  output: PageOf(ProductRecord, 'Data products'),
  example: { input: {}, output: { content: [EXAMPLE_PRODUCT], page: 0, size: 10, totalElements: 1, totalPages: 1 } },
}).handle({
  async execute({ vendors }, { dataProductId, page, size, sort }) {
    const ids = dataProductId?.split(',').map((id) => id.trim())
    const [field, direction] = (sort ?? 'name,asc').split(',') as ['name' | 'title', 'asc' | 'desc']
    const products = vendors.products
      .filter(({ id }) => !ids || ids.includes(id))
      .toSorted((a, b) => a[field].localeCompare(b[field]) * (direction === 'asc' ? 1 : -1))
    return pageOf(
      products.map((product) => toProduct(vendors, product)),
      { page, size },
    )
  },
})
