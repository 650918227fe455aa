import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { AreaSummary, EXAMPLE_AREA, toArea } from './wire.ts'

/** The areas whose mosaics can be clipped. */
export default operation({
  id: 'clip.areas.list',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ areas: Type.Array(AreaSummary, { description: 'Areas that can be clipped' }) }),
  example: { input: {}, output: { areas: [EXAMPLE_AREA] } },
}).handle({
  async execute({ clipAreas }) {
    return { areas: clipAreas.map(toArea) }
  },
})
