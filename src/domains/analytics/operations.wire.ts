import Type from 'typebox'
import { Closed, FreeForm } from '#core/shapes.ts'
import type { Method } from './method.lib.ts'

export const MethodRecord = Closed(
  {
    operation: Type.String({ description: 'Method name, as `analytics.execute` accepts it' }),
    title: Type.String({ description: 'Display name of the method' }),
    description: Type.String({ description: 'Description of the method' }),
    data_types: Type.Array(Type.String(), { description: 'Data types the method supports' }),
    process_id: Type.String({ description: 'ID of the process for areas too large for this method' }),
    params_schema: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'JSON Schema of the parameters' }),
  },
  { $id: 'AnalyticsMethod', description: 'An analysis method' },
)

export const toRecord = ({ name, title, description, dataTypes, process, params }: Method) => ({
  operation: name,
  title,
  description,
  data_types: [...dataTypes],
  process_id: process,
  params_schema: JSON.parse(JSON.stringify(params)) as Record<string, unknown>,
})

export const EXAMPLE_METHOD = {
  operation: 'zonal_stats',
  title: 'Zonal statistics',
  description: 'Statistics of bands, an expression or an index over one area or many.',
  data_types: ['raster'],
  process_id: 'zonal_stats',
  params_schema: { type: 'object', required: ['item_id'], properties: { item_id: { type: 'string' } } },
}
