import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { ItemId } from '#wire/ids.ts'
import { indexExpression } from '#services/processing/names.ts'
import { Area, AssetKey, EXAMPLE_ITEM_ID, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster } from '#services/processing/single.ts'
import { onCommonGrid } from '#services/processing/work.ts'

const Mapping = Type.Optional(
  Type.Record(Type.String({ pattern: '^.{1,60}$' }), Type.Integer({ minimum: 1, maximum: 512 }), {
    maxProperties: 50,
    description: 'Band role, such as nir, to 1-based band number, for both items; derived from band names by default',
  }),
)

/** The change of an index between two dates. */
export default process({
  id: 'change_detection',
  title: 'Change between two dates',
  description:
    'Computes the difference of an index between two items, and classifies pixels by a threshold (1 decrease, 2 unchanged, 3 increase).',
  version: '1',
  category: 'time',
  input: Closed({
    before_item_id: Described(ItemId, 'ID of the earlier item'),
    after_item_id: Described(ItemId, 'ID of the later item, which is resampled to the grid of the earlier one'),
    asset_key: AssetKey,
    index_name: Defaulted(Type.String({ minLength: 1, maxLength: 50 }), 'ndvi', { description: 'Index ID from analytics.indices.list' }),
    change_threshold: Defaulted(Type.Number({ exclusiveMinimum: 0, maximum: 1e6 }), 0.1, {
      description: 'Minimum difference that counts as a change',
    }),
    band_mapping: Mapping,
    resampling: Method('bilinear'),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 8 },
  timeoutMinutes: 120,
  example: { before_item_id: EXAMPLE_ITEM_ID, after_item_id: EXAMPLE_ITEM_ID, index_name: 'ndvi', change_threshold: 0.2 },
}).handle({
  sources: ({ before_item_id, after_item_id, asset_key }) => {
    const assets = asset_key === undefined ? ('primary' as const) : [asset_key]
    return [
      { field: 'before_item_id', itemId: before_item_id, assets },
      { field: 'after_item_id', itemId: after_item_id, assets },
    ]
  },
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ index_name, band_mapping }, sources) {
    for (const source of sources) indexExpression(index_name, source, { mapping: band_mapping, field: 'index_name' })
  },
  work: ({ geometry }, sources) =>
    onCommonGrid(sources, { geometry }, [
      { bandCount: 1, dataType: 'float32' },
      { bandCount: 1, dataType: 'uint8' },
    ]),
  async run({ compute }, { index_name, change_threshold, band_mapping, resampling, geometry, output_name }, sources) {
    const expressions = sources.map((source) => indexExpression(index_name, source, { mapping: band_mapping, field: 'index_name' }))
    const options = { expressions, threshold: change_threshold, resampling, geometry }
    const rasters = sources.map(({ source }) => source)
    const { files, result } = await compute(
      { method: 'change', sources: rasters, options, outputs: ['data.tif', 'classes.tif'] },
      { name: 'comparing' },
    )
    const classes = {
      key: 'classes',
      title: '1 decrease, 2 unchanged, 3 increase',
      roles: ['data'],
      mediaType: COG_TYPE,
      path: files['classes.tif']!.path,
      isCategorical: true,
    }
    const style = {
      name: 'Difference',
      type: 'singleband' as const,
      config: { bands: [1], colormap: 'rdylgn', rescale: `${-3 * change_threshold},${3 * change_threshold}` },
    }
    const suffix = `change of ${index_name.toUpperCase()}`
    const properties = { index_name, change_threshold }
    const item = derivedRaster(sources, {
      name: output_name,
      suffix,
      path: files['data.tif']!.path,
      bandNames: ['difference'],
      style,
      properties,
      more: [classes],
    })
    const { pixelsLost, pixelsSame, pixelsGained, meanDifference } = result
    return {
      items: [item],
      summary: { pixels_lost: pixelsLost, pixels_same: pixelsSame, pixels_gained: pixelsGained, mean_difference: meanDifference },
    }
  },
})
