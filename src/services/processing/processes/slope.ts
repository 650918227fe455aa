import Type from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import { EXAMPLE_ITEM_ID, ItemsOutput } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { singleSource } from '#services/processing/single.ts'
import { heightFields, requireBand, runTerrain } from '#services/processing/terrain.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** Steepness of the terrain. */
export default process({
  id: 'slope',
  title: 'Slope',
  description: 'Computes the slope of a terrain (Horn 1981, as in gdaldem), in degrees or percent; -9999 is no data.',
  version: '1',
  category: 'terrain',
  input: Closed({
    ...heightFields,
    unit: Type.Optional(Choice(['degree', 'percent'], { description: 'Unit of the slope; default degree' })),
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, unit: 'degree' },
}).handle({
  sources: singleSource,
  check: ({ band }, [source]) => requireBand(band, source!),
  work: (_params, [source]) => onOwnGrid(source!, undefined, { bandCount: 1, dataType: 'float32' }),
  run(context, { band, scale, unit, output_name }, sources) {
    const style = { name: 'Slope', config: { bands: [1], colormap: 'magma', rescale: unit === 'percent' ? '0,100' : '0,45' } }
    return runTerrain(context, { kind: 'slope', output_name, options: { band, scale, unit }, style }, sources)
  },
})
