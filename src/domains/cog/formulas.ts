import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { formulas } from '#raster/formulas/index.ts'

const Formula = Closed(
  {
    name: Type.String(),
    expression: Type.String(),
    bands: Type.Array(Type.String()),
    colormap: Type.String(),
    rescale: Type.String(),
    category: Type.String(),
    reference: Type.String(),
  },
  { $id: 'FormulaTemplate' },
)

/** Spectral indices as templates over band roles, keyed by id. */
export default operation({
  id: 'cog.formulas',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({}),
  output: Type.Record(Type.String(), Formula),
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
