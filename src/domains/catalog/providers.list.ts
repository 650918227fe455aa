import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { termsOfCollection } from '#services/scenes/terms.ts'
import { publicCollections, visualizationsFor } from './public.lib.ts'
import { EXAMPLE_VISUALIZATIONS, Visualizations } from './public.wire.ts'

const ProviderRecord = Closed(
  {
    provider: Type.String({ description: 'Provider name, as public imagery operations accept it' }),
    title: Type.String({ description: 'Provider title' }),
    description: Type.String({ description: "Description of the provider's imagery" }),
    collection: Type.String({ description: 'Collection name' }),
    host_name: Type.String({ description: 'Host name to search with `catalog.search`' }),
    attribution: Type.String({ description: 'Attribution to display with the imagery' }),
    visualizations: Visualizations,
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
  },
  { $id: 'PublicProvider', description: 'A provider of public imagery' },
)

/** Providers of public imagery, which can be viewed without an order. */
export default operation({
  id: 'catalog.providers.list',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    providers: Type.Array(ProviderRecord, { description: 'Imagery providers' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: {
    input: {},
    output: {
      providers: [
        {
          provider: 'landsat',
          title: 'Landsat',
          description: 'Surface reflectance at 30 m',
          collection: 'landsat-c2-l2',
          host_name: 'open-data',
          attribution: 'USGS',
          visualizations: EXAMPLE_VISUALIZATIONS,
          simulated: false,
        },
      ],
      count: 1,
    },
  },
}).handle({
  async execute({ vendors, baseUrl }) {
    const providers = publicCollections(vendors)
      .toSorted((a, b) => a.provider.localeCompare(b.provider) || a.source.id.localeCompare(b.source.id))
      .map((imagery) => ({
        provider: imagery.provider,
        title: imagery.collection.title,
        description: imagery.collection.description,
        collection: imagery.collection.id,
        host_name: imagery.source.hostName,
        attribution: termsOfCollection(imagery.source, imagery.collection).attribution,
        visualizations: visualizationsFor(imagery, baseUrl),
        simulated: imagery.source.simulated,
      }))
    return { providers, count: providers.length }
  },
})
