import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { colormapGroups } from '#raster/colormap/index.ts'

const Stop = Closed({ position: Type.Number(), color: Type.String() })
const Colormap = Closed({ id: Type.String(), name: Type.String(), stops: Type.Array(Stop) }, { $id: 'Colormap' })

/** The curated colormaps in their groups. Add `_r` to an id to turn it around. */
export default operation({
  id: 'cog.colormaps',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ groups: Type.Array(Closed({ name: Type.String(), colormaps: Type.Array(Colormap) })) }),
  example: {
    input: {},
    output: {
      groups: [
        {
          name: 'perceptual',
          colormaps: [
            {
              id: 'viridis',
              name: 'Viridis',
              stops: [
                { position: 0, color: '#440154' },
                { position: 1, color: '#fde725' },
              ],
            },
          ],
        },
      ],
    },
  },
}).handle({
  async execute() {
    return {
      groups: colormapGroups().map(({ name, colormaps }) => ({
        name,
        colormaps: colormaps.map(({ id, name: label, stops }) => ({ id, name: label, stops: [...stops] })),
      })),
    }
  },
})
