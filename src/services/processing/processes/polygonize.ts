import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { Area, AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { singleSource } from '#services/processing/single.ts'
import { requireBand } from '#services/processing/terrain.ts'
import { derivedVector } from '#services/processing/vectors.ts'
import { vectorized } from '#services/processing/work.ts'

/** Areas of equal value as polygons. */
export default process({
  id: 'polygonize',
  title: 'Polygonize',
  description: 'Converts connected pixels of the same value to GeoJSON polygons with that `value`. Pixels without data are skipped.',
  version: '1',
  category: 'vector',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: '1-based number of the band with the classes; default 1' })),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.03, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, band: 1 },
}).handle({
  sources: singleSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check: ({ band }, [source]) => requireBand(band, source!),
  work: ({ geometry }, [source]) => vectorized(source!, geometry),
  async run({ compute }, { band, geometry, output_name }, sources) {
    const request = { method: 'polygonize', sources: [sources[0]!.source], options: { band, geometry }, outputs: ['polygons.geojson'] }
    const { files, result } = await compute(request, { name: 'tracing areas' })
    const path = files['polygons.geojson']!.path
    const summary = { feature_count: result['featureCount'] }
    return derivedVector(sources, { name: output_name, suffix: 'polygons', path, title: 'Polygons', properties: {}, summary })
  },
})
