import Type from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import { usableSources } from '#model/vendors/account.ts'
import { operation } from '#operation.ts'

const VendorRecord = Closed(
  {
    host_name: Type.String({ description: 'Host name to search with `catalog.search`' }),
    title: Type.String({ description: 'Vendor title' }),
    description: Type.String({ description: 'Vendor description' }),
    access_model: Choice(['open', 'commercial'], { description: 'Whether the imagery is open or commercial' }),
    is_priced: Type.Boolean({ description: 'Whether scenes have prices' }),
    can_task: Type.Boolean({ description: 'Whether new imagery can be tasked' }),
    collections: Type.Array(Type.String(), { description: 'Collections the vendor offers' }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
  },
  { $id: 'CatalogVendor', description: 'A vendor of imagery' },
)

/** The hosts that `catalog.search` can search, including those that sell imagery. */
export default operation({
  id: 'catalog.vendors.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ vendors: Type.Array(VendorRecord, { description: 'Imagery vendors' }) }),
  example: {
    input: {},
    output: {
      vendors: [
        {
          host_name: 'sandbox-hr',
          title: 'A vendor',
          description: '3 m imagery',
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
  async execute({ db, vendors, principal }) {
    const { products } = vendors
    const usable = await usableSources(db, vendors, principal.organizationId)
    return {
      vendors: usable
        .map(({ source }) => source)
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
