import Type from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import { AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** A readable GeoTIFF as a cloud-optimized one. */
export default process({
  id: 'cog_convert',
  title: 'Convert to COG',
  description: 'Converts a GeoTIFF to a cloud-optimized GeoTIFF with the same pixel values, mask, palette and georeference.',
  version: '1',
  category: 'conversion',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    compression: Type.Optional(
      Choice(['zstd', 'deflate'], { description: 'Compression: zstd reads faster, deflate works with older software' }),
    ),
    block_size: Type.Optional(
      Type.Unsafe<256 | 512>({ type: 'integer', enum: [256, 512], description: 'Block width and height in pixels' }),
    ),
    overviews: Type.Optional(Choice(['average', 'nearest', 'mode'], { description: 'Resampling of overviews; mode for categorical data' })),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.01, minimumCredits: 2 },
  timeoutMinutes: 120,
  example: { item_id: EXAMPLE_ITEM_ID, compression: 'deflate' },
}).handle({
  sources: singleSource,
  work: (_params, [source]) => onOwnGrid(source!, undefined, source!.info),
  async run({ compute }, { compression, block_size, overviews, output_name }, sources) {
    const [source] = sources
    const options = { compression, blockSize: block_size, overviews }
    const { files } = await compute(
      { method: 'convert', sources: [source!.source], options, outputs: ['data.tif'] },
      { name: 'converting' },
    )
    const isCategorical = source!.info.colorTable !== null || overviews === 'mode'
    const bandNames = source!.bandNames ?? undefined
    return {
      items: [
        derivedRaster(sources, {
          name: output_name,
          suffix: 'COG',
          path: files['data.tif']!.path,
          isCategorical,
          ...(bandNames ? { bandNames } : {}),
        }),
      ],
    }
  },
})
