import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { infoOf, openScene, requirePublic } from './public.lib.ts'
import { EXAMPLE_INFO, SceneInfo } from './public.wire.ts'
import { SceneId } from './wire.ts'

/** Bands, bounds and statistics of one public Landsat scene. */
export default operation({
  id: 'catalog.info.landsat',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({ scene_id: SceneId }),
  output: SceneInfo,
  example: { input: { scene_id: 'sandbox-landsat_20260228_r45c253' }, output: EXAMPLE_INFO },
}).handle({
  check: (context, { scene_id }) => openScene(context, requirePublic(context.vendors, { provider: 'landsat' }), scene_id),
  execute: (context, _input, scene) => infoOf(context, scene),
})
