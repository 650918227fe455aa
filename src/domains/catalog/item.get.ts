import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { pricedFeatures, requireUsable } from './search.lib.ts'
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
  check: async (context, { host_name }) => await requireUsable(context, host_name),
  async execute(context, { id }, usable) {
    const scene = await context.vendors.catalog(usable.source.hostName, usable.accountId).scene(id, { signal: context.signal })
    if (!scene) throw notFound('scene')
    return (await pricedFeatures(context, usable, [scene]))[0]!
  },
})
