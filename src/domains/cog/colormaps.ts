import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { colormapGroups, colorTable, findColormap, unknownColormap } from '#raster/colormap/index.ts'

const Stop = Closed({
  position: Type.Number({ description: 'Position on the scale, 0 to 1' }),
  color: Type.String({ description: 'Colour as `#rrggbb`' }),
})
const Colormap = Closed(
  {
    id: Type.String({ description: 'Colormap ID' }),
    name: Type.String({ description: 'Colormap name' }),
    stops: Type.Array(Stop, { description: 'Colour stops' }),
    colors: Type.Optional(
      Type.Array(Type.String(), { description: 'All 256 colours as `#rrggbb`; only for the colormap that was asked for by ID' }),
    ),
  },
  { $id: 'Colormap', description: 'A colormap' },
)

/** The built-in colormaps by group. Append `_r` to an ID to reverse it. */
export default operation({
  id: 'cog.colormaps',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 50, description: 'Returns only this colormap, with all its colours; `_r` reverses them' }),
    ),
  }),
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
  async execute(_context, { id: wanted }) {
    const found = wanted === undefined ? null : findColormap(wanted)
    if (wanted !== undefined && !found) throw invalidField('id', unknownColormap(wanted))
    const groups = found ? colormapGroups().filter(({ name }) => name === found.group) : colormapGroups()
    return {
      groups: groups.map(({ name, colormaps }) => ({
        name,
        colormaps: (found ? [found] : colormaps).map(({ id, name: label, stops }) => ({
          id,
          name: label,
          stops: [...stops],
          ...(wanted === undefined ? {} : { colors: colorsOf(wanted) }),
        })),
      })),
    }
  },
})

function colorsOf(id: string): string[] {
  const hex = Buffer.from(colorTable(id)).toString('hex')
  return Array.from({ length: hex.length / 6 }, (_, index) => `#${hex.slice(index * 6, index * 6 + 6)}`)
}
