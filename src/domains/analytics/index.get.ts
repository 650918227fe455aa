import Type from 'typebox'
import { unknownName } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { findFormula, formulas } from '#raster/formulas/index.ts'
import { EXAMPLE_INDEX, IndexRecord, toIndex } from './wire.ts'

/** One published spectral index. */
export default operation({
  id: 'analytics.index.get',
  scope: 'analytics:read',
  tier: 'read',
  input: Closed({ index_name: Type.String({ minLength: 1, maxLength: 100, description: 'Index ID, case-insensitive' }) }),
  output: IndexRecord,
  example: { input: { index_name: 'ndvi' }, output: EXAMPLE_INDEX },
}).handle({
  async execute(_context, { index_name }) {
    const formula = findFormula(index_name)
    if (!formula)
      throw unknownName(
        'spectral index',
        index_name,
        formulas().map(({ id }) => id),
        'see analytics.indices.list',
      )
    return toIndex(formula)
  },
})
