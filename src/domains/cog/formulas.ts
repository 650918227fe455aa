import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { formulas } from '#raster/formulas/index.ts'

const Formula = Closed(
  {
    name: Type.String({ description: 'Formula name' }),
    expression: Type.String({ description: 'Band math expression, for example `(b4-b3)/(b4+b3)`' }),
    bands: Type.Array(Type.String(), { description: 'Band roles the expression reads' }),
    colormap: Type.String({ description: 'Colormap name from `cog.colormaps`' }),
    rescale: Type.String({ description: 'Value range of the colours as `min,max`' }),
    category: Type.String({ description: 'Formula category' }),
    reference: Type.String({ description: 'Publication the formula is from' }),
  },
  { $id: 'FormulaTemplate', description: 'A built-in band formula' },
)

/** Spectral indices as templates over band roles, keyed by id. */
export default operation({
  id: 'cog.formulas',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Type.Record(Type.String(), Formula, { description: 'Built-in band formulas by name' }),
  example: {
    input: {},
    output: {
      ndvi: {
        name: 'Normalized Difference Vegetation Index',
        expression: '(NIR - RED) / (NIR + RED)',
        bands: ['RED', 'NIR'],
        colormap: 'rdylgn',
        rescale: '-1,1',
        category: 'vegetation',
        reference: 'Rouse et al. 1974',
      },
    },
  },
}).handle({
  async execute() {
    return Object.fromEntries(
      formulas().map(({ id, name, expression, roles, colormap, range, category, reference }) => [
        id,
        { name, expression, bands: [...roles], colormap, rescale: range.join(','), category, reference },
      ]),
    )
  },
})
