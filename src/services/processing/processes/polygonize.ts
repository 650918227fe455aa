import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { Area, AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { oneSource } from '#services/processing/single.ts'
import { requireBand } from '#services/processing/terrain.ts'
import { derivedVector } from '#services/processing/vectors.ts'
import { drawn } from '#services/processing/work.ts'

/** Areas of one value as polygons. */
export default process({
  id: 'polygonize',
  title: 'Polygonize',
  description:
    'Turns areas of pixels with the same value, which touch along a side, into GeoJSON polygons with that `value`. ' +
    'What is no data gives none.',
  version: '1',
  category: 'vector',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: 'The band with the classes; 1 by default' })),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.03, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, band: 1 },
}).handle({
  sources: oneSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check: ({ band }, [source]) => requireBand(band, source!),
  work: ({ geometry }, [source]) => drawn(source!, geometry),
  async run({ compute }, { band, geometry, output_name }, sources) {
    const request = { method: 'polygonize', sources: [sources[0]!.source], options: { band, geometry }, outputs: ['polygons.geojson'] }
    const { files, result } = await compute(request, { name: 'tracing areas' })
    const path = files['polygons.geojson']!.path
    const summary = { feature_count: result['featureCount'] }
    return derivedVector(sources, { name: output_name, suffix: 'polygons', path, title: 'Polygons', properties: {}, summary })
  },
})
