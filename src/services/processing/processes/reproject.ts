import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { RasterError } from '#raster/types.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, Item, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { warped } from '#services/processing/work.ts'

/** A raster in another coordinate reference system. */
export default process({
  id: 'reproject',
  title: 'Reproject',
  description: 'Reprojects a raster to another coordinate reference system, at its own resolution or a given one.',
  version: '1',
  category: 'geometry',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    epsg: Type.Integer({
      minimum: 1_000,
      maximum: 999_999,
      description: 'EPSG code of the target coordinate reference system, for example 3857',
    }),
    resolution: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Pixel size in units of the target system; defaults to the resolution of the raster',
      }),
    ),
    resampling: Method('bilinear'),
    bands: Bands,
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 120,
  example: { item_id: EXAMPLE_ITEM_ID, epsg: 3857, resampling: 'bilinear' },
}).handle({
  sources: singleSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ epsg }) {
    try {
      crsFromEpsg(epsg)
    } catch (error) {
      if (!(error instanceof RasterError)) throw error
      throw invalidField('epsg', error.message)
    }
  },
  work: (params, [source]) => warped(source!, params),
  async run({ compute }, { epsg, resolution, resampling, bands, geometry, output_name }, sources) {
    const [source] = sources
    const method = source!.info.colorTable ? 'nearest' : resampling
    const options = { epsg, resolution, resampling: method, bands, geometry }
    const { files } = await compute({ method: 'warp', sources: [source!.source], options, outputs: ['data.tif'] }, { name: 'reprojecting' })
    const bandNames = bands ? undefined : (source!.bandNames ?? undefined)
    const isCategorical = source!.info.colorTable !== null
    return {
      items: [
        derivedRaster(sources, {
          name: output_name,
          suffix: `EPSG:${epsg}`,
          path: files['data.tif']!.path,
          isCategorical,
          ...(bandNames ? { bandNames } : {}),
        }),
      ],
    }
  },
})
