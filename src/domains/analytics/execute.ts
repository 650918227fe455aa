import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { meant } from '#core/nearest.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, FreeForm } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { explainErrors, requireParams } from './method.lib.ts'
import { findMethod, METHOD_NAMES } from './methods.lib.ts'
import { recordRun } from './report.lib.ts'
import { EXAMPLE_AREA, EXAMPLE_RASTER, EXAMPLE_REPORT_ID, resultFields } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const MIB = 1024 * 1024

/**
 * Runs an analytics method and returns its result. `params` are validated against the method's own schema, which a 422 includes;
 * a request that is too large is rejected with the process that does the same as a job.
 */
export default operation({
  id: 'analytics.execute',
  scope: 'analytics:process',
  tier: 'compute',
  produces: ['report:derived_from>item'],
  events: ['analytics.executed'],
  maxBodyBytes: 8 * MIB,
  input: Closed({
    operation: Type.String({ maxLength: 100, description: 'Method name from `analytics.operations.list`' }),
    params: Type.Unsafe<Record<string, unknown>>({
      ...FreeForm,
      description: 'Parameters of the method; see `analytics.operations.get`',
    }),
  }),
  output: Closed(resultFields, { description: 'Result of the analysis' }),
  example: {
    input: {
      operation: 'zonal_stats',
      params: { item_id: EXAMPLE_IDS.item, geometry: EXAMPLE_AREA, index_name: 'ndvi', statistics: ['mean'] },
    },
    output: {
      id: EXAMPLE_REPORT_ID,
      operation: 'zonal_stats',
      result: {
        item_id: EXAMPLE_IDS.item,
        expression: '(b4 - b3) / (b4 + b3)',
        reflectance_scale: 1,
        zones: [{ id: 0, properties: null, results: [{ name: 'ndvi', mean: 0.62, valid_fraction: 1, percentiles: [] }] }],
      },
      raster: EXAMPLE_RASTER,
    },
  },
}).handle({
  async check(context, { operation: name, params }) {
    const method = findMethod(name)
    if (!method) throw invalidField('operation', `must be one of ${METHOD_NAMES.join(', ')}${meant(name, METHOD_NAMES, '')}`)
    return await explainErrors(method, async () => ({ method, prepared: await method.check(context, requireParams(method, params)) }))
  },
  async prepare(context, _input, { method, prepared }) {
    const id = newId()
    return { id, ...(await explainErrors(method, () => prepared.run(context, id))) }
  },
  async execute(context, { operation: name }, { prepared }, { id, result, raster }) {
    recordRun(context, { id, operation: name, ...prepared })
    return { id, operation: name, result, raster }
  },
})
