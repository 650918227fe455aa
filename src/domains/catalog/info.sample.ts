import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { infoOf, openScene, requirePublic } from './public.lib.ts'
import { EXAMPLE_INFO, SceneInfo } from './public.wire.ts'
import { SceneId } from './wire.ts'

/** Bands, bounds and statistics of one sample image of a provider. */
export default operation({
  id: 'catalog.info.sample',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({ provider: Type.String({ minLength: 1, maxLength: 200, description: 'Provider name' }), scene_id: SceneId }),
  output: SceneInfo,
  example: { input: { provider: 'landsat', scene_id: 'sandbox-landsat_20260228_r45c253' }, output: EXAMPLE_INFO },
}).handle({
  check: (context, { provider, scene_id }) => openScene(context, requirePublic(context.vendors, { provider }), scene_id),
  execute: (context, _input, scene) => infoOf(context, scene),
})
