import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { colormapGroups } from '#raster/colormap/index.ts'

const Stop = Closed({
  position: Type.Number({ description: 'Position on the scale, 0 to 1' }),
  color: Type.String({ description: 'Colour as `#rrggbb`' }),
})
const Colormap = Closed(
  {
    id: Type.String({ description: 'Colormap ID' }),
    name: Type.String({ description: 'Colormap name' }),
    stops: Type.Array(Stop, { description: 'Colour stops' }),
  },
  { $id: 'Colormap', description: 'A colormap' },
)

/** The built-in colormaps by group. Append `_r` to an ID to reverse it. */
export default operation({
  id: 'cog.colormaps',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    groups: Type.Array(
      Closed({
        name: Type.String({ description: 'Group name' }),
        colormaps: Type.Array(Colormap, { description: 'Colormaps of the group' }),
      }),
      { description: 'Colormaps by group' },
    ),
  }),
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
