import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { EXAMPLE_ITEM_ID, ItemsOutput, AssetKey, Item, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { singleSource } from '#services/processing/single.ts'
import { requireBand } from '#services/processing/terrain.ts'
import { derivedVector } from '#services/processing/vectors.ts'
import { vectorized } from '#services/processing/work.ts'

/** Lines of equal elevation. */
export default process({
  id: 'contour',
  title: 'Contour lines',
  description: 'Draws lines of equal elevation as GeoJSON, each with its elevation as `elev`. Lines run between pixel centres.',
  version: '1',
  category: 'vector',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    interval: Type.Number({ exclusiveMinimum: 0, description: 'Elevation difference between lines' }),
    base: Type.Optional(Type.Number({ description: 'Elevation of one of the lines; default 0' })),
    band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: '1-based number of the elevation band; default 1' })),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.03, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, interval: 10 },
}).handle({
  sources: singleSource,
  check: ({ band }, [source]) => requireBand(band, source!),
  work: (_params, [source]) => vectorized(source!),
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
