import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requirePublic, visualizationsFor } from './public.lib.ts'
import { EXAMPLE_VISUALIZATIONS, Visualizations } from './public.wire.ts'

/** The visualizations of public Landsat scenes, with their tile URL template. */
export default operation({
  id: 'catalog.viz.landsat',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Visualizations,
  example: { input: {}, output: EXAMPLE_VISUALIZATIONS },
}).handle({
  execute: async ({ vendors, baseUrl }) => visualizationsFor(requirePublic(vendors, { provider: 'landsat' })[0], baseUrl),
})
