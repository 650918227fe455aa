import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { formulas } from '#raster/formulas/index.ts'
import { requireSensor } from './scene.lib.ts'
import { EXAMPLE_INDEX, IndexRecord, SensorId, toIndex } from './wire.ts'

/** Published spectral indices with their formulas, the bands they need and who published them. */
export default operation({
  id: 'analytics.indices.list',
  scope: 'analytics:read',
  tier: 'read',
  input: Closed({
    category: Type.Optional(
      Nullable(Type.String({ maxLength: 50, description: 'Only indices of this category, such as `vegetation` or `water`' })),
    ),
    sensor: Type.Optional(Nullable(SensorId)),
  }),
  output: Closed({
    indices: Type.Array(IndexRecord, { description: 'Spectral indices, by category' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { category: 'vegetation', sensor: 'sentinel-2' }, output: { indices: [EXAMPLE_INDEX], total: 1 } },
}).handle({
  async execute(_context, { category, sensor: sensorId }) {
    const sensor = requireSensor(sensorId)
    const indices = formulas()
      .filter((formula) => category == null || formula.category === category)
      .filter(({ roles }) => sensor === null || roles.every((role) => sensor.bands.some((band) => band.role === role)))
      .map(toIndex)
    return { indices, total: indices.length }
  },
})
