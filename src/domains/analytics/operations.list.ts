import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { METHODS } from './methods.lib.ts'
import { EXAMPLE_METHOD, MethodRecord, toRecord } from './operations.wire.ts'

/** The analytics methods, each with the schema of its params. */
export default operation({
  id: 'analytics.operations.list',
  scope: 'analytics:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    data_type: Type.Optional(Nullable(Type.String({ maxLength: 50, description: 'Only methods for this data type: `raster` or `dem`' }))),
  }),
  output: Closed({ operations: Type.Array(MethodRecord, { description: 'Analysis methods' }) }),
  example: { input: {}, output: { operations: [EXAMPLE_METHOD] } },
}).handle({
  async execute(_context, { data_type: dataType }) {
    return { operations: METHODS.filter(({ dataTypes }) => dataType == null || dataTypes.includes(dataType)).map(toRecord) }
  },
})
