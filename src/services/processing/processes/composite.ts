import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, Timestamp } from '#core/shapes.ts'
import { Epsg, Items, manySources, Resolution, acquiredAt } from '#services/processing/many.ts'
import { Area, AssetKey, Bands, EXAMPLE_ITEM_ID, ItemsOutput, Method, OutputName } from '#services/processing/params.ts'
import { process, type OpenSource } from '#services/processing/process.ts'
import { derivedRaster } from '#services/processing/single.ts'
import { onCommonGrid } from '#services/processing/work.ts'

/** A statistic of each band over time. */
export default process({
  id: 'composite',
  title: 'Composite over time',
  description:
    'Computes the median, mean, maximum or minimum of each band over many items, for each pixel. Results are 32-bit floats; NaN is no data.',
  version: '1',
  category: 'time',
  input: Closed({
    item_ids: Items,
    asset_key: AssetKey,
    statistic: Defaulted(Choice(['median', 'mean', 'max', 'min']), 'median', { description: 'Statistic of the values of a pixel' }),
    start_datetime: Type.Optional(Described(Timestamp, 'Only items acquired at or after this time')),
    end_datetime: Type.Optional(Described(Timestamp, 'Only items acquired at or before this time')),
    bands: Bands,
    epsg: Epsg,
    resolution: Resolution,
    resampling: Method('nearest'),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.01, minimumCredits: 10 },
  timeoutMinutes: 240,
  example: { item_ids: [EXAMPLE_ITEM_ID], statistic: 'median' },
}).handle({
  sources: manySources,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check(params, sources) {
    const other = sources.findIndex(({ info }) => info.bandCount !== sources[0]!.info.bandCount)
    if (other > 0) throw invalidField(`item_ids.${other}`, 'must have as many bands as the first item')
    if (within(params, sources).length === 0) throw invalidField('start_datetime', 'excludes all items, together with end_datetime')
  },
  work(params, sources) {
    const chosen = within(params, sources)
    const { bands, epsg, resolution, geometry } = params
    const bandCount = bands?.length ?? chosen[0]!.info.bandCount
    return onCommonGrid(
      chosen,
      { ...(epsg === undefined ? {} : { epsg }), ...(resolution === undefined ? {} : { resolution }), geometry },
      [{ bandCount, dataType: 'float32' }],
    )
  },
  async run({ compute }, params, sources) {
    const chosen = within(params, sources)
    const { statistic, bands, epsg, resolution, resampling, geometry, output_name } = params
    const options = { statistic, bands, epsg, resolution, resampling, geometry }
    const { files } = await compute(
      { method: 'composite', sources: chosen.map(({ source }) => source), options, outputs: ['data.tif'] },
      { name: 'compositing' },
    )
    const bandNames = bands ? undefined : (chosen[0]!.bandNames ?? undefined)
    const suffix = `${statistic} of ${chosen.length} items`
    const properties = { statistic, source_scene_count: chosen.length }
    return {
      items: [
        derivedRaster(chosen, {
          name: output_name,
          suffix,
          path: files['data.tif']!.path,
          properties,
          ...(bandNames ? { bandNames } : {}),
        }),
      ],
    }
  },
})

function within(
  { start_datetime, end_datetime }: { start_datetime?: string; end_datetime?: string },
  sources: readonly OpenSource[],
): OpenSource[] {
  const [from, to] = [start_datetime ? Date.parse(start_datetime) : -Infinity, end_datetime ? Date.parse(end_datetime) : Infinity]
  return sources.filter((source) => acquiredAt(source) >= from && acquiredAt(source) <= to)
}
