import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { EXAMPLE_ITEM_ID, ItemsOutput, AssetKey, Item, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { oneSource } from '#services/processing/single.ts'
import { requireBand } from '#services/processing/terrain.ts'
import { derivedVector } from '#services/processing/vectors.ts'
import { drawn } from '#services/processing/work.ts'

/** Lines of equal height. */
export default process({
  id: 'contour',
  title: 'Contour lines',
  description: 'Draws lines of equal height as GeoJSON, each with its height as `elev`. Lines run between the centres of pixels.',
  version: '1',
  category: 'vector',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    interval: Type.Number({ exclusiveMinimum: 0, description: 'Height between two lines' }),
    base: Type.Optional(Type.Number({ description: 'A height that has a line; 0 by default' })),
    band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: 'The band with the heights; 1 by default' })),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.03, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, interval: 10 },
}).handle({
  sources: oneSource,
  check: ({ band }, [source]) => requireBand(band, source!),
  work: (_params, [source]) => drawn(source!),
  async run({ compute }, { interval, base, band, output_name }, sources) {
    const request = { method: 'contour', sources: [sources[0]!.source], options: { interval, base, band }, outputs: ['contours.geojson'] }
    const { files, result } = await compute(request, { name: 'drawing lines' })
    const path = files['contours.geojson']!.path
    const summary = { feature_count: result['featureCount'] }
    return derivedVector(sources, {
      name: output_name,
      suffix: `contours every ${interval}`,
      path,
      title: 'Contour lines',
      properties: { interval },
      summary,
    })
  },
})
