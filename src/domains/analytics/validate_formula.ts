import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { ExpressionError, parseExpression } from '#raster/expression/index.ts'
import { noSuchBand } from '#raster/expression/bands.ts'
import { namesFor, readFormula } from '#raster/formulas/named.ts'
import { sensorNames } from '#raster/formulas/sensors.ts'
import { requireSensor } from './scene.lib.ts'
import { SensorId } from './wire.ts'

/** Checks that a formula is valid and that a sensor, or a file with this number of bands, has the bands it reads. */
export default operation({
  id: 'analytics.validate_formula',
  scope: 'analytics:read',
  tier: 'read',
  input: Closed({
    formula: Type.String({ maxLength: 5_000, description: 'Formula to validate, over band roles, names or numbers' }),
    sensor: Type.Optional(Nullable(SensorId)),
    band_count: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 64, description: 'Number of bands, if no sensor is given' }))),
  }),
  output: Closed(
    {
      formula: Type.String({ description: 'Formula, as sent' }),
      sensor: Nullable(Type.String({ description: 'Sensor ID, as sent; null if none' })),
      valid: Type.Boolean({ description: 'Whether the formula is valid' }),
      error: Nullable(Type.String({ description: 'Error with its character position; null if valid' })),
      errors: Type.Array(Type.String(), { description: 'All errors; empty if valid' }),
      required_bands: Type.Array(Type.String(), { description: 'Band roles and bands the formula reads' }),
      bands: Type.Array(Type.String(), { description: 'Same as `required_bands`' }),
      available_bands: Type.Array(Type.String(), { description: 'Bands of the sensor or file' }),
    },
    { description: 'Result of the validation' },
  ),
  example: {
    input: { formula: '(NIR - RED) / (NIR + RED)', sensor: 'skysat' },
    output: {
      formula: '(NIR - RED) / (NIR + RED)',
      sensor: 'skysat',
      valid: true,
      error: null,
      errors: [],
      required_bands: ['RED', 'NIR'],
      bands: ['RED', 'NIR'],
      available_bands: ['BLUE', 'GREEN', 'RED', 'NIR'],
    },
  },
}).handle({
  async execute(_context, { formula, sensor: sensorId, band_count }) {
    const sensor = requireSensor(sensorId)
    const count = sensor?.bands.length ?? band_count ?? null
    const numbers = count === null ? [] : Array.from({ length: count }, (_, index) => `b${index + 1}`)
    const available = sensor ? sensor.bands.flatMap(({ role }) => (role ? [role] : [])) : numbers
    const { required, error } = examine(formula, sensor ? sensorNames(sensor) : null, count)
    return {
      formula,
      sensor: sensorId ?? null,
      valid: error === null,
      error,
      errors: error === null ? [] : [error],
      required_bands: required,
      bands: required,
      available_bands: available,
    }
  },
})

function examine(
  formula: string,
  names: Record<string, number> | null,
  count: number | null,
): { required: string[]; error: string | null } {
  let required: string[] = []
  try {
    if (names === null) required = readFormula(formula).required
    const options = { ...(names ? { names: namesFor(formula, names) } : {}), ...(count === null ? {} : { bandCount: count }) }
    if (names !== null) {
      const { bands } = parseExpression(formula, options)
      const byNumber = new Map(Object.entries(names).map(([name, band]) => [band, name]))
      required = bands.map((band) => byNumber.get(band) ?? `b${band}`)
    } else if (count !== null) {
      const beyond = required.find((band) => /^b\d+$/.test(band) && Number(band.slice(1)) > count)
      if (beyond) return { required, error: noSuchBand(Number(beyond.slice(1)), count, {}) }
    }
    return { required, error: null }
  } catch (error) {
    if (error instanceof ExpressionError) return { required, error: error.message }
    throw error
  }
}
