import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import { ItemId } from '#wire/ids.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster } from '#services/processing/single.ts'
import { onCommonGrid } from '#services/processing/work.ts'

const PAN_KEY = 'pan'

/** Multispectral bands at the resolution of a panchromatic band. */
export default process({
  id: 'pansharpen',
  title: 'Pansharpen',
  description: 'Sharpens multispectral bands with a panchromatic band, by the weighted Brovey method. Both can be assets of one item.',
  version: '1',
  category: 'bands',
  input: Closed({
    item_id: Described(ItemId, 'ID of the item with the multispectral bands'),
    asset_key: AssetKey,
    pan_item_id: Type.Optional(Described(ItemId, 'ID of the item with the panchromatic band; defaults to the same item')),
    pan_asset_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Asset key of the panchromatic band; defaults to pan for the same item, else to its main raster',
      }),
    ),
    bands: Bands,
    weights: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 1_000 }), {
        minItems: 1,
        maxItems: 64,
        description: 'Weight of each band in the panchromatic band; equal by default',
      }),
    ),
    resampling: Method('cubic'),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.04, minimumCredits: 8 },
  timeoutMinutes: 120,
  example: { item_id: EXAMPLE_ITEM_ID, pan_asset_key: 'pan' },
}).handle({
  sources: ({ item_id, asset_key, pan_item_id, pan_asset_key }) => {
    const isSame = pan_item_id === undefined || pan_item_id === item_id
    const pan = pan_asset_key ?? (pan_item_id === undefined ? PAN_KEY : null)
    return [
      { field: 'pan_item_id', itemId: pan_item_id ?? item_id, assets: pan === null ? ('primary' as const) : [pan] },
      {
        field: 'item_id',
        itemId: item_id,
        assets: asset_key === undefined ? ('primary' as const) : [asset_key],
        // With one file per band, the panchromatic band is beside the others.
        ...(isSame && pan !== null ? { without: [pan] } : {}),
      },
    ]
  },
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ bands, weights }, [, multispectral]) {
    const count = bands?.length ?? multispectral!.info.bandCount
    if (weights && weights.length !== count) throw invalidField('weights', `must have ${count} values, one for each band`)
    const missing = bands?.find((band) => band > multispectral!.info.bandCount)
    if (missing !== undefined) throw invalidField('bands', `must be at most ${multispectral!.info.bandCount}, the number of bands`)
  },
  work({ bands, geometry }, sources) {
    const { bandCount, dataType } = sources[1]!.info
    return onCommonGrid(sources, { geometry }, [{ bandCount: bands?.length ?? bandCount, dataType }])
  },
  async run({ compute }, { bands, weights, resampling, geometry, output_name }, sources) {
    const request = {
      method: 'pansharpen',
      sources: sources.map(({ source }) => source),
      options: { bands, weights, resampling, geometry },
      outputs: ['data.tif'],
    }
    const { files } = await compute(request, { name: 'sharpening' })
    const multispectral = sources[1]!
    const bandNames = bands ? undefined : (multispectral.bandNames ?? undefined)
    return {
      items: [
        derivedRaster([multispectral], {
          name: output_name,
          suffix: 'pansharpened',
          path: files['data.tif']!.path,
          ...(bandNames ? { bandNames } : {}),
        }),
      ],
    }
  },
})
