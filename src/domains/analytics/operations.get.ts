import Type from 'typebox'
import { unknownName } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { findMethod, METHOD_NAMES } from './methods.lib.ts'
import { EXAMPLE_METHOD, MethodRecord, toRecord } from './operations.wire.ts'

/** One analytics method with the schema of its params. */
export default operation({
  id: 'analytics.operations.get',
  scope: 'analytics:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    operation_name: Type.String({ minLength: 1, maxLength: 100, description: 'Method name from `analytics.operations.list`' }),
  }),
  output: MethodRecord,
  example: { input: { operation_name: 'zonal_stats' }, output: EXAMPLE_METHOD },
}).handle({
  async execute(_context, { operation_name }) {
    const method = findMethod(operation_name)
    if (!method) throw unknownName('analytics method', operation_name, METHOD_NAMES, `the methods are ${METHOD_NAMES.join(', ')}`)
    return toRecord(method)
  },
})
