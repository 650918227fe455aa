import { Closed } from '#core/shapes.ts'
import { EXAMPLE_ITEM_ID, ItemsOutput } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { singleSource } from '#services/processing/single.ts'
import { heightFields, requireBand, runTerrain } from '#services/processing/terrain.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** Direction that the terrain faces. */
export default process({
  id: 'aspect',
  title: 'Aspect',
  description:
    'Computes the direction a slope faces (Horn 1981, as in gdaldem), in degrees clockwise from north; -9999 is flat or no data.',
  version: '1',
  category: 'terrain',
  input: Closed(heightFields),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID },
}).handle({
  sources: singleSource,
  check: ({ band }, [source]) => requireBand(band, source!),
  work: (_params, [source]) => onOwnGrid(source!, undefined, { bandCount: 1, dataType: 'float32' }),
  run(context, { band, scale, output_name }, sources) {
    const style = { name: 'Aspect', config: { bands: [1], colormap: 'hsv', rescale: '0,360' } }
    return runTerrain(context, { kind: 'aspect', output_name, options: { band, scale }, style }, sources)
  },
})
