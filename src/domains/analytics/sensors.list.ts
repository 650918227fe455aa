import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { SENSORS } from '#raster/formulas/sensors.ts'

const Band = Closed({
  index: Type.Integer({ description: '1-based band number in the standard product' }),
  name: Type.String({ description: 'Band name used by the operator' }),
  role: Nullable(Type.String({ description: 'Band role used in formulas; null if it has none' })),
  wavelength_nm: Nullable(Type.Number({ description: 'Centre wavelength in nanometres; null if not optical' })),
})

/** Common sensors with their bands, in the order of the standard products. */
export default operation({
  id: 'analytics.sensors.list',
  scope: 'analytics:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    sensors: Type.Array(
      Closed(
        {
          id: Type.String({ description: 'Sensor ID' }),
          name: Type.String({ description: 'Display name of the sensor' }),
          kind: Type.String({ description: 'Sensor kind: `optical`, `radar` or `elevation`' }),
          reflectance_scale: Nullable(
            Type.Number({ description: 'Factor that converts pixel values to reflectance; null if not applicable' }),
          ),
          bands: Type.Array(Band, { description: 'Bands of the sensor, in order' }),
        },
        { $id: 'Sensor', description: 'A satellite sensor' },
      ),
      { description: 'Supported sensors' },
    ),
  }),
  example: {
    input: {},
    output: {
      sensors: [
        {
          id: 'skysat',
          name: 'SkySat',
          kind: 'optical',
          reflectance_scale: 0.0001,
          bands: [{ index: 1, name: 'Blue', role: 'BLUE', wavelength_nm: 480 }],
        },
      ],
    },
  },
}).handle({
  async execute() {
    return {
      sensors: SENSORS.map(({ id, name, kind, reflectanceScale, bands }) => ({
        id,
        name,
        kind,
        reflectance_scale: reflectanceScale,
        bands: bands.map((band, index) => ({ index: index + 1, name: band.name, role: band.role, wavelength_nm: band.wavelengthNm })),
      })),
    }
  },
})
