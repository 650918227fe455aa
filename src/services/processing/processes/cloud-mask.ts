import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { cloudBandsOf, cloudRequest } from '#services/processing/clouds.ts'
import { AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** A mask of clouds. */
export default process({
  id: 'cloud_mask',
  title: 'Cloud mask',
  description:
    'Detects clouds by reflectance (1 cloud, 0 clear, 255 no data), after Zhu and Woodcock 2012 without the thermal band. ' +
    'Thin clouds may be missed.',
  version: '1',
  category: 'bands',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    reflectance_scale: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description: 'Factor from pixel values to reflectance; default 0.0001 for 16-bit data',
      }),
    ),
    brightness: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Minimum blue reflectance of clouds; default 0.24, lower values include thin clouds',
      }),
    ),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID },
}).handle({
  sources: singleSource,
  check(_params, [source]) {
    cloudBandsOf(source!, 'item_id')
  },
  work: (_params, [source]) => onOwnGrid(source!, undefined, { bandCount: 1, dataType: 'uint8' }),
  async run({ compute }, { reflectance_scale, brightness, output_name }, sources) {
    const request = cloudRequest(sources[0]!, 'item_id', { scale: reflectance_scale, brightness })
    const { files, result } = await compute(request, { name: 'detecting clouds' })
    const cover = result['cloudCover'] as number | null
    const style = { name: 'Clouds', type: 'singleband' as const, config: { bands: [1], color_table: true, colormap: 'tab20' } }
    const item = derivedRaster(sources, {
      name: output_name,
      suffix: 'cloud mask',
      path: files['data.tif']!.path,
      bandNames: ['cloud_mask'],
      isCategorical: true,
      cloudCover: cover,
      style,
    })
    return { items: [item], summary: { cloud_cover: cover } }
  },
})
