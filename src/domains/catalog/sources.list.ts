import Type from 'typebox'
import { Choice, Closed, Matching, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { DATA_TYPES } from '#ports/vendors.ts'
import { NamedBand } from '#wire/band.ts'

const Collection = Closed(
  {
    id: Type.String({ description: 'Collection ID' }),
    title: Type.String({ description: 'Collection title' }),
    description: Type.String({ description: 'Collection description' }),
    data_type: Choice(DATA_TYPES, { description: 'Type of data in the collection' }),
    gsd: Nullable(Type.Number({ description: 'Ground resolution in metres per pixel; null if it varies' })),
    bands: Type.Array(NamedBand, { description: 'Bands of the collection' }),
  },
  { $id: 'SourceCollection', description: 'A collection of an imagery source' },
)

const SourceRecord = Closed(
  {
    id: Type.String({ description: 'Source ID' }),
    title: Type.String({ description: 'Source title' }),
    description: Type.String({ description: 'Source description' }),
    host_name: Type.String({ description: 'Host name to search with `catalog.search`' }),
    access_model: Choice(['open', 'commercial'], { description: 'Whether the imagery is open or commercial' }),
    scope: Choice(['global', 'regional', 'national'], { description: 'Geographic scope of the source' }),
    countries: Type.Array(Type.String(), { description: 'ISO 3166 country codes covered' }),
    attribution: Type.String({ description: 'Attribution to display with the imagery' }),
    license: Type.String({ description: 'Licence of the imagery' }),
    render_strategy: Choice(['cog', 'preview', 'points', 'none'], { description: 'How scenes are rendered' }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
    collections: Type.Array(Collection, { description: 'Collections of the source' }),
  },
  { $id: 'CatalogSource', description: 'An imagery source' },
)

/** Sources that can be searched, with their collections and types of data. */
export default operation({
  id: 'catalog.sources.list',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    data_type: Type.Optional(Nullable(Choice(DATA_TYPES, { description: 'Only sources with this type of data' }))),
    scope: Type.Optional(Nullable(Choice(['global', 'regional', 'national'], { description: 'Only sources with this geographic scope' }))),
    country: Type.Optional(
      Nullable(
        Matching('^[A-Za-z]{2}$', 'must be a two-letter country code, such as AU', {
          description: 'Only global sources and those covering this country',
        }),
      ),
    ),
  }),
  output: Closed({ sources: Type.Array(SourceRecord, { description: 'Registered sources' }) }),
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
    const countryCode = country?.toUpperCase()
    return {
      sources: vendors.sources
        .filter((source) => data_type == null || source.collections.some(({ dataType }) => dataType === data_type))
        .filter((source) => scope == null || source.scope === scope)
        .filter((source) => countryCode === undefined || source.scope === 'global' || source.countries.includes(countryCode))
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
