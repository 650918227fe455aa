import Type from 'typebox'
import { Closed, FreeForm } from '#core/shapes.ts'
import type { Method } from './method.lib.ts'

export const MethodRecord = Closed(
  {
    operation: Type.String({ description: 'Name by which analytics.execute takes it' }),
    title: Type.String({ description: 'Name as people read it' }),
    description: Type.String({ description: 'What it does' }),
    data_types: Type.Array(Type.String(), { description: 'Kinds of rasters that it is for' }),
    process_id: Type.String({ description: 'The process that does the same for what is too large to answer at once' }),
    params_schema: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'JSON Schema of its params' }),
  },
  { $id: 'AnalyticsMethod' },
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
  description: 'Statistics of bands, of an expression or of an index over one area or many.',
  data_types: ['raster'],
  process_id: 'zonal_stats',
  params_schema: { type: 'object', required: ['item_id'], properties: { item_id: { type: 'string' } } },
}
