import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireArea } from './clips.lib.ts'
import { AreaId, EXAMPLE_AREA } from './wire.ts'

/** The mosaics of one area. */
export default operation({
  id: 'clip.area.mosaics',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({ area: AreaId }),
  output: Closed({
    area: Type.String({ description: 'Area ID' }),
    mosaics: Type.Array(
      Closed(
        {
          mosaic_type: Type.String({ description: 'Mosaic type, as `clip.create_from_area` accepts it' }),
          title: Type.String({ description: 'Mosaic title' }),
          description: Type.String({ description: 'Description of the mosaic' }),
          acquired: Nullable(Type.String({ description: 'Acquisition time; null if unknown' })),
        },
        { $id: 'ClipMosaic', description: 'A mosaic that can be clipped' },
      ),
      { description: 'Mosaics that can be clipped' },
    ),
  }),
  example: {
    input: { area: EXAMPLE_AREA.id },
    output: {
      area: EXAMPLE_AREA.id,
      mosaics: [{ mosaic_type: 'rgb', title: 'True colour', description: '10 m/px', acquired: '2026' }],
    },
  },
}).handle({
  async execute(context, { area }) {
    const { id, mosaics } = requireArea(context, area)
    return {
      area: id,
      mosaics: mosaics.map(({ type, title, description, acquired }) => ({ mosaic_type: type, title, description, acquired })),
    }
  },
})
