import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { EXAMPLE_ITEM_ID, ItemsOutput } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { singleSource } from '#services/processing/single.ts'
import { heightFields, requireBand, runTerrain } from '#services/processing/terrain.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** Shaded relief of elevations. */
export default process({
  id: 'hillshade',
  title: 'Hillshade',
  description: 'Computes shaded relief (Horn 1981, as in gdaldem). Brightness is 1 to 255; 0 is no data.',
  version: '1',
  category: 'terrain',
  input: Closed({
    ...heightFields,
    azimuth: Type.Optional(
      Type.Number({ minimum: 0, maximum: 360, description: 'Direction of the light in degrees clockwise from north; default 315' }),
    ),
    altitude: Type.Optional(
      Type.Number({ minimum: 0, maximum: 90, description: 'Angle of the light above the horizon in degrees; default 45' }),
    ),
    z_factor: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description: 'Vertical exaggeration; default 1' })),
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, azimuth: 315, altitude: 45 },
}).handle({
  sources: singleSource,
  check: ({ band }, [source]) => requireBand(band, source!),
  work: (_params, [source]) => onOwnGrid(source!, undefined, { bandCount: 1, dataType: 'uint8' }),
  run(context, { band, scale, azimuth, altitude, z_factor, output_name }, sources) {
    const options = { band, scale, azimuth, altitude, zFactor: z_factor }
    const style = { name: 'Hillshade', config: { bands: [1], colormap: 'gray', rescale: '1,255' } }
    return runTerrain(context, { kind: 'hillshade', output_name, options, style }, sources)
  },
})
