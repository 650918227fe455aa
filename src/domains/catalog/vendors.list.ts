import Type from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'

const VendorRecord = Closed(
  {
    host_name: Type.String({ description: 'What `catalog.search` is called with' }),
    title: Type.String(),
    description: Type.String(),
    access_model: Choice(['open', 'commercial']),
    is_priced: Type.Boolean({ description: 'Whether its scenes come with prices' }),
    can_task: Type.Boolean({ description: 'Whether new images can be ordered' }),
    collections: Type.Array(Type.String()),
    simulated: Type.Boolean({ description: 'Its scenes are invented' }),
  },
  { $id: 'CatalogVendor' },
)

/** The hosts that `catalog.search` can ask, those that sell among them. */
export default operation({
  id: 'catalog.vendors.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ vendors: Type.Array(VendorRecord) }),
  example: {
    input: {},
    output: {
      vendors: [
        {
          host_name: 'sandbox-hr',
          title: 'A vendor',
          description: 'Images of 3 m',
          access_model: 'commercial',
          is_priced: true,
          can_task: false,
          collections: ['hr'],
          simulated: false,
        },
      ],
    },
  },
}).handle({
  async execute({ vendors: { sources, products } }) {
    return {
      vendors: sources
        .toSorted((a, b) => a.hostName.localeCompare(b.hostName))
        .map(({ hostName, title, description, accessModel, collections, simulated }) => ({
          host_name: hostName,
          title,
          description,
          access_model: accessModel,
          is_priced: products.some((product) => product.hostName === hostName),
          can_task: products.some((product) => product.hostName === hostName && product.type === 'TASKING'),
          collections: collections.map(({ id }) => id),
          simulated,
        })),
    }
  },
})
