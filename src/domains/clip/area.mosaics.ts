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
    area: Type.String({ description: 'The area' }),
    mosaics: Type.Array(
      Closed(
        {
          mosaic_type: Type.String({ description: 'Name by which clip.create_from_area takes it' }),
          title: Type.String({ description: 'Name as people read it' }),
          description: Type.String({ description: 'What it shows' }),
          acquired: Nullable(Type.String({ description: 'When it was taken' })),
        },
        { $id: 'ClipMosaic' },
      ),
      { description: 'What can be clipped' },
    ),
  }),
  example: {
    input: { area: EXAMPLE_AREA.id },
    output: {
      area: EXAMPLE_AREA.id,
      mosaics: [{ mosaic_type: 'rgb', title: 'True colour', description: 'Ten metres a pixel', acquired: '2026' }],
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
