import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { infoOf, openScene, requirePublic } from './public.lib.ts'
import { EXAMPLE_INFO, SceneInfo } from './public.wire.ts'
import { SceneId } from './wire.ts'

/** Bands, bounds and statistics of one public Sentinel-2 scene. */
export default operation({
  id: 'catalog.info.sentinel',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({ scene_id: SceneId }),
  output: SceneInfo,
  example: { input: { scene_id: 'sandbox-open_20260228_r74c413' }, output: { ...EXAMPLE_INFO, provider: 'sentinel' } },
}).handle({
  check: (context, { scene_id }) => openScene(context, requirePublic(context.vendors, { provider: 'sentinel' }), scene_id),
  execute: (context, _input, scene) => infoOf(context, scene),
})
