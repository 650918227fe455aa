import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { readSearch, sealNext, searchPage } from './page.lib.ts'
import { pricedFeatures } from './search.lib.ts'
import { EXAMPLE_FEATURE, filterFields, HostName, MAX_SEARCH_LIMIT, SceneCollection, searchLimit } from './wire.ts'

/** Scenes of one host, page by page, with prices for scenes for sale. */
export default operation({
  id: 'catalog.search',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    host_name: HostName,
    ...filterFields,
    limit: searchLimit(MAX_SEARCH_LIMIT),
    next: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 20_000, description: "Cursor from the previous page's `next` link" })),
    ),
  }),
  output: SceneCollection,
  mediaType: 'application/geo+json',
  example: {
    input: {
      host_name: 'sandbox-hr',
      bbox: [151.1, -33.9, 151.3, -33.7],
      datetime: '2026-02-01/2026-02-28',
      query: { cloudCoverage: { LTE: 20 } },
    },
    output: { type: 'FeatureCollection', features: [EXAMPLE_FEATURE], numberReturned: 1, links: [] },
  },
}).handle({
  check: readSearch,
  async execute(context, { limit }, search) {
    const { scenes, cursor } = await searchPage(context, search, limit)
    const features = await pricedFeatures(context, search, scenes)
    const next = await sealNext(context, search, cursor)
    const href = `${context.baseUrl}/v1/op/catalog.search`
    return {
      type: 'FeatureCollection' as const,
      features,
      numberReturned: features.length,
      links:
        next === null
          ? []
          : [{ rel: 'next', href: `${href}?next=${next}`, method: 'POST', type: 'application/geo+json', merge: true, body: { next } }],
    }
  },
})
