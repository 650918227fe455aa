import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { SENSORS } from '#raster/formulas/sensors.ts'

const Band = Closed({
  index: Type.Integer({ description: 'Number of the band in the usual product, from 1' }),
  name: Type.String({ description: "The operator's name for it" }),
  role: Nullable(Type.String({ description: 'What formulas call it; null for a band that none uses' })),
  wavelength_nm: Nullable(Type.Number({ description: 'Centre in nanometres' })),
})

/** Common sensors with their bands, in the order in which their products hold them. */
export default operation({
  id: 'analytics.sensors.list',
  scope: 'analytics:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    sensors: Type.Array(
      Closed(
        {
          id: Type.String({ description: 'Name by which operations take it' }),
          name: Type.String({ description: 'Name as people read it' }),
          kind: Type.String({ description: 'optical, radar or elevation' }),
          reflectance_scale: Nullable(Type.Number({ description: 'What turns samples of the usual product into reflectances' })),
          bands: Type.Array(Band, { description: 'Its bands in order' }),
        },
        { $id: 'Sensor' },
      ),
      { description: 'The sensors' },
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
