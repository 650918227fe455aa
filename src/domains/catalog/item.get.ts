import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { pricedFeatures, requireSource } from './search.lib.ts'
import { EXAMPLE_FEATURE, HostName, SceneFeature, SceneId } from './wire.ts'

/** One scene of a host by its ID, with its price and links to its previews. */
export default operation({
  id: 'catalog.item.get',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ host_name: HostName, id: SceneId }),
  output: SceneFeature,
  mediaType: 'application/geo+json',
  example: { input: { host_name: 'sandbox-hr', id: EXAMPLE_FEATURE.id }, output: EXAMPLE_FEATURE },
}).handle({
  check: async ({ vendors }, { host_name }) => requireSource(vendors, host_name),
  async execute(context, { id }, source) {
    const scene = await context.vendors.catalog(source.hostName).scene(id, { signal: context.signal })
    if (!scene) throw notFound('scene')
    return (await pricedFeatures(context, source, [scene]))[0]!
  },
})
