import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { usableSources } from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { allFailed, searchAll, selectSources, hasFailed, toReport } from './federated.lib.ts'
import { parseFilters } from './search.lib.ts'
import { EXAMPLE_FEATURE, filterFields, MAX_SEARCH_LIMIT, SceneFeature, searchLimit, sourceFields, toFeature } from './wire.ts'

const SourceReport = Closed(
  {
    source_id: Type.String({ description: 'Source ID' }),
    title: Type.String({ description: 'Source title' }),
    count: Type.Integer({ description: 'Number of scenes the source found, before the merged list was truncated' }),
    error: Nullable(Type.String({ description: 'Why the source failed; null if it did not' })),
  },
  { $id: 'SourceReport', description: 'Search result of one source' },
)

/** Scenes of all sources that cover the area, searched concurrently; real ones before simulated ones, most recent first, without prices. */
export default operation({
  id: 'catalog.federated_search',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ ...filterFields, ...sourceFields, limit: searchLimit(MAX_SEARCH_LIMIT) }),
  output: Closed({
    type: Type.Literal('FeatureCollection', { description: 'GeoJSON type, always `FeatureCollection`' }),
    features: Type.Array(SceneFeature, { description: 'Scenes found, as GeoJSON features' }),
    numberReturned: Type.Integer({ description: 'Number of features returned' }),
    sources: Type.Array(SourceReport, { description: 'Searched sources with their results' }),
  }),
  mediaType: 'application/geo+json',
  example: {
    input: { bbox: [151.1, -33.9, 151.3, -33.7], datetime: '2026-02-01/2026-02-28', data_types: ['raster'] },
    output: {
      type: 'FeatureCollection',
      features: [
        {
          ...EXAMPLE_FEATURE,
          properties: {
            datetime: '2026-02-14T00:12:44.000Z',
            hostName: 'sandbox-hr',
            simulated: true,
            sourceId: 'sandbox-hr',
            sourceTitle: 'A vendor',
            collectionId: 'hr',
            dataType: 'raster',
            accessModel: 'commercial',
            renderStrategy: 'preview',
          },
        },
      ],
      numberReturned: 1,
      sources: [
        { source_id: 'sandbox-hr', title: 'A vendor', count: 1, error: null },
        { source_id: 'open-data', title: 'Open data', count: 0, error: 'open-data did not answer in time' },
      ],
    },
  },
}).handle({
  async check({ db, vendors, principal }, input) {
    const filters = parseFilters(input)
    return { filters, selected: selectSources(await usableSources(db, vendors, principal.organizationId), filters, input) }
  },
  async execute(context, { limit }, { filters, selected }) {
    const results = await searchAll(context, selected, filters, limit)
    if (results.length > 0 && results.every(hasFailed)) throw allFailed(results)
    const features = results
      .flatMap(({ source, scenes }) => scenes.map((scene) => ({ source, scene })))
      .toSorted(
        (a, b) =>
          Number(a.source.simulated) - Number(b.source.simulated) ||
          (b.scene.datetime ?? '').localeCompare(a.scene.datetime ?? '') ||
          a.scene.id.localeCompare(b.scene.id),
      )
      .slice(0, limit)
      .map(({ source, scene }) => {
        const collection = source.collections.find(({ id }) => id === scene.collection)
        return toFeature(scene, source, context.baseUrl, {
          sourceId: source.id,
          sourceTitle: source.title,
          collectionId: scene.collection,
          dataType: collection?.dataType ?? 'raster',
          accessModel: source.accessModel,
          renderStrategy: collection?.renderStrategy ?? source.renderStrategy,
        })
      })
    return { type: 'FeatureCollection' as const, features, numberReturned: features.length, sources: results.map(toReport) }
  },
})
