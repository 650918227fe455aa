import Type from 'typebox'
import { Choice, Closed, Matching, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { DATA_TYPES } from '#ports/vendors.ts'

const Collection = Closed(
  {
    id: Type.String(),
    title: Type.String(),
    description: Type.String(),
    data_type: Choice(DATA_TYPES),
    gsd: Nullable(Type.Number({ description: 'Metres on the ground of one pixel' })),
    bands: Type.Array(Closed({ name: Type.String(), role: Nullable(Type.String()) })),
  },
  { $id: 'SourceCollection' },
)

const SourceRecord = Closed(
  {
    id: Type.String(),
    title: Type.String(),
    description: Type.String(),
    host_name: Type.String({ description: 'What `catalog.search` is called with' }),
    access_model: Choice(['open', 'commercial']),
    scope: Choice(['global', 'regional', 'national']),
    countries: Type.Array(Type.String()),
    attribution: Type.String(),
    license: Type.String(),
    render_strategy: Choice(['cog', 'preview', 'points', 'none']),
    simulated: Type.Boolean({ description: 'Its scenes are invented' }),
    collections: Type.Array(Collection),
  },
  { $id: 'CatalogSource' },
)

/** Sources that can be searched, with their collections and kinds of data. */
export default operation({
  id: 'catalog.sources.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    data_type: Type.Optional(Nullable(Choice(DATA_TYPES, { description: 'Only sources with this kind of data' }))),
    scope: Type.Optional(Nullable(Choice(['global', 'regional', 'national'], { description: 'Only sources of this reach' }))),
    country: Type.Optional(
      Nullable(
        Matching('^[A-Za-z]{2}$', 'must be a country code of two letters, such as AU', {
          description: 'Only sources for this country, and global ones',
        }),
      ),
    ),
  }),
  output: Closed({ sources: Type.Array(SourceRecord) }),
  example: {
    input: { data_type: 'raster' },
    output: {
      sources: [
        {
          id: 'open-data',
          title: 'Open data',
          description: 'Sentinel-2 at 10 m',
          host_name: 'open-data',
          access_model: 'open',
          scope: 'global',
          countries: [],
          attribution: 'Contains modified Copernicus Sentinel data',
          license: 'Copernicus Sentinel data terms',
          render_strategy: 'cog',
          simulated: false,
          collections: [
            {
              id: 'sentinel-2-l2a',
              title: 'Sentinel-2 Level-2A',
              description: 'Surface reflectance',
              data_type: 'raster',
              gsd: 10,
              bands: [{ name: 'red', role: 'RED' }],
            },
          ],
        },
      ],
    },
  },
}).handle({
  async execute({ vendors }, { data_type, scope, country }) {
    const wanted = country?.toUpperCase()
    return {
      sources: vendors.sources
        .filter((source) => data_type == null || source.collections.some(({ dataType }) => dataType === data_type))
        .filter((source) => scope == null || source.scope === scope)
        .filter((source) => wanted === undefined || source.scope === 'global' || source.countries.includes(wanted))
        .toSorted((a, b) => a.id.localeCompare(b.id))
        .map((source) => ({
          id: source.id,
          title: source.title,
          description: source.description,
          host_name: source.hostName,
          access_model: source.accessModel,
          scope: source.scope,
          countries: [...source.countries],
          attribution: source.attribution,
          license: source.license,
          render_strategy: source.renderStrategy,
          simulated: source.simulated,
          collections: source.collections.map(({ id, title, description, dataType, gsdM, bands }) => ({
            id,
            title,
            description,
            data_type: dataType,
            gsd: gsdM,
            bands: [...bands],
          })),
        })),
    }
  },
})
