import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, Item, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { warped } from '#services/processing/work.ts'

/** A raster with larger or smaller pixels. */
export default process({
  id: 'resample',
  title: 'Resample',
  description: 'Changes the resolution of a raster, in its own coordinate reference system.',
  version: '1',
  category: 'geometry',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    resolution: Type.Number({
      exclusiveMinimum: 0,
      description: 'Pixel size in units of the coordinate reference system: metres or degrees',
    }),
    resampling: Method('average'),
    bands: Bands,
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, resolution: 30, resampling: 'average' },
}).handle({
  sources: singleSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  work: (params, [source]) => warped(source!, params),
  async run({ compute }, { resolution, resampling, bands, geometry, output_name }, sources) {
    const [source] = sources
    const method = source!.info.colorTable ? 'nearest' : resampling
    const options = { resolution, resampling: method, bands, geometry }
    const { files } = await compute({ method: 'warp', sources: [source!.source], options, outputs: ['data.tif'] }, { name: 'resampling' })
    const bandNames = bands ? undefined : (source!.bandNames ?? undefined)
    const isCategorical = source!.info.colorTable !== null
    return {
      items: [
        derivedRaster(sources, {
          name: output_name,
          suffix: `resolution ${resolution}`,
          path: files['data.tif']!.path,
          isCategorical,
          ...(bandNames ? { bandNames } : {}),
        }),
      ],
    }
  },
})
