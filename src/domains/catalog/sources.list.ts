import Type from 'typebox'
import { Choice, Closed, Matching, Nullable } from '#core/shapes.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import { usableSources } from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { DATA_TYPES, RENDER_STRATEGIES, type Source, type SourceCollection } from '#ports/vendors/source.ts'
import { attributionOfSource, termsOfCollection } from '#services/scenes/terms.ts'
import { NamedBand } from '#wire/band.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

const Collection = Closed(
  {
    id: Type.String({ description: 'Collection ID' }),
    title: Type.String({ description: 'Collection title' }),
    description: Type.String({ description: 'Collection description' }),
    data_type: Choice(DATA_TYPES, { description: 'Type of data in the collection' }),
    render_strategy: Choice(RENDER_STRATEGIES, { description: 'How scenes of the collection are rendered' }),
    gsd: Nullable(Type.Number({ description: 'Ground resolution in metres per pixel; null if it varies' })),
    bands: Type.Array(NamedBand, { description: 'Bands of the collection' }),
    attribution: Type.String({ description: 'Attribution to display with scenes of the collection' }),
    license: Type.String({ description: 'SPDX identifier or name of the licence' }),
    license_url: Nullable(Type.String({ description: 'URL of the licence; null if unknown' })),
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
    license: Type.String({ description: 'SPDX identifier or name of the licence; `various` if collections have different ones' }),
    license_url: Nullable(Type.String({ description: 'URL of the licence; null if unknown' })),
    render_strategy: Choice(RENDER_STRATEGIES, { description: 'How scenes are rendered' }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
    status: Choice(['reachable', 'unreachable', 'unknown'], {
      description: 'Whether the host responds; `unknown` until its first probe. Searches skip unreachable hosts',
    }),
    status_since: Nullable(Type.String({ format: 'date-time', description: 'When the status last changed; null if unknown' })),
    status_error: Nullable(Type.String({ description: 'Why the host is unreachable; null if it is not' })),
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
          license_url: 'https://licences.example/sentinel',
          render_strategy: 'cog',
          simulated: false,
          status: 'reachable',
          status_since: EXAMPLE_AT,
          status_error: null,
          collections: [
            {
              id: 'sentinel-2-l2a',
              title: 'Sentinel-2 Level-2A',
              description: 'Surface reflectance',
              data_type: 'raster',
              render_strategy: 'cog',
              gsd: 10,
              bands: [{ name: 'red', role: 'RED' }],
              attribution: 'Contains modified Copernicus Sentinel data',
              license: 'Copernicus Sentinel data terms',
              license_url: 'https://licences.example/sentinel',
            },
          ],
        },
      ],
    },
  },
}).handle({
  async execute({ db, vendors, principal }, { data_type, scope, country }) {
    const countryCode = country?.toUpperCase()
    const states = await hostStates.list(db)
    return {
      sources: (await usableSources(db, vendors, principal.organizationId))
        .map(({ source }) => source)
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
          attribution: attributionOfSource(source),
          license: source.license,
          license_url: source.licenseUrl,
          render_strategy: source.renderStrategy,
          simulated: source.simulated,
          ...statusOf(source, states.get(source.hostName)),
          collections: source.collections.map((collection) => collectionRecord(source, collection)),
        })),
    }
  },
})

function collectionRecord(source: Source, collection: SourceCollection) {
  const { id, title, description, dataType, renderStrategy, gsdM, bands } = collection
  const { attribution, license, licenseUrl } = termsOfCollection(source, collection)
  return {
    id,
    title,
    description,
    data_type: dataType,
    render_strategy: renderStrategy,
    gsd: gsdM,
    bands: bands.map(({ name, role }) => ({ name, role })),
    attribution,
    license,
    license_url: licenseUrl,
  }
}

/** Simulated hosts are part of this service and are not probed. */
function statusOf({ simulated }: Source, state: hostStates.HostState | undefined) {
  return {
    status: simulated ? ('reachable' as const) : (state?.status ?? ('unknown' as const)),
    status_since: state?.since?.toISOString() ?? null,
    status_error: state?.error ?? null,
  }
}
