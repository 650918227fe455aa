import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { IMAGE_TYPES } from '#wire/tile.ts'
import { previewOf } from './image.lib.ts'
import { EXAMPLE_FEATURE, HostName, SceneId } from './wire.ts'

/** A small preview of one scene. */
export default operation({
  id: 'catalog.image.thumbnail',
  scope: 'catalog:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({ host_name: HostName, image_id: SceneId }),
  output: Type.Any(),
  example: { input: { host_name: 'sandbox-hr', image_id: EXAMPLE_FEATURE.id } },
}).handle({
  auditSubject: ({ image_id }) => image_id,
  execute: (context, input) => previewOf(context, input, 'thumbnail'),
})
