import Type from 'typebox'
import { Closed, Defaulted } from '#core/shapes.ts'
import { cloudClassRequest, cloudRequest } from '#services/processing/clouds.ts'
import { AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process, type OpenSource } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** A mask of clouds. */
export default process({
  id: 'cloud_mask',
  title: 'Cloud mask',
  description:
    'Detects clouds by reflectance (1 cloud, 0 clear, 255 no data), after Zhu and Woodcock 2012 without the thermal band. ' +
    'Thin clouds may be missed. If the vendor delivered a mask, `mask_asset_key` uses that instead.',
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
    mask_asset_key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Asset key of a mask that came with the scene, used instead of detection' }),
    ),
    mask_band: Defaulted(Type.Integer({ minimum: 1, maximum: 100 }), 1, { description: 'Band of the mask' }),
    mask_cloud_values: Defaulted(Type.Array(Type.Integer({ minimum: 0, maximum: 65_535 }), { minItems: 1, maxItems: 100 }), [1], {
      description: 'Values of the mask that mean cloud',
    }),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID },
}).handle({
  sources: ({ item_id, asset_key, mask_asset_key }) => {
    const key = mask_asset_key ?? asset_key
    return singleSource({ item_id, ...(key === undefined ? {} : { asset_key: key }) })
  },
  check(params, [source]) {
    requestOf(params, source!)
  },
  work: (_params, [source]) => onOwnGrid(source!, undefined, { bandCount: 1, dataType: 'uint8' }),
  async run({ compute }, params, sources) {
    const { output_name } = params
    const { files, result } = await compute(requestOf(params, sources[0]!), { name: 'detecting clouds' })
    const cover = coverOf(result['clearPixels'] as number, result['cloudPixels'] as number)
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

/** In percent; null without data. */
const coverOf = (clear: number, cloudy: number): number | null => (clear + cloudy === 0 ? null : (100 * cloudy) / (clear + cloudy))

interface CloudMaskParams {
  readonly reflectance_scale?: number
  readonly brightness?: number
  readonly mask_asset_key?: string
  readonly mask_band: number
  readonly mask_cloud_values: readonly number[]
}

/** 422 if the scene or its mask lacks a band. */
function requestOf(params: CloudMaskParams, source: OpenSource) {
  const { reflectance_scale, brightness, mask_asset_key, mask_band, mask_cloud_values } = params
  return mask_asset_key === undefined
    ? cloudRequest(source, 'item_id', { scale: reflectance_scale, brightness })
    : cloudClassRequest(source, 'mask_band', { band: mask_band, values: mask_cloud_values })
}
