import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { indexExpression, requireFormula } from '#services/processing/names.ts'
import { Area, AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** A spectral index by its name. */
export default process({
  id: 'index',
  title: 'Spectral index',
  description: 'Computes a published spectral index, such as NDVI, by its name. Bands are matched by name; you can override them.',
  version: '1',
  category: 'bands',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    index_name: Type.String({ minLength: 1, maxLength: 50, description: 'Index ID from analytics.indices.list, for example ndvi' }),
    band_mapping: Type.Optional(
      Type.Record(Type.String({ pattern: '^.{1,60}$' }), Type.Integer({ minimum: 1, maximum: 512 }), {
        maxProperties: 50,
        description: 'Band role, such as nir, to 1-based band number',
      }),
    ),
    geometry: Area,
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, index_name: 'ndvi' },
}).handle({
  sources: singleSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ index_name, band_mapping }, [source]) {
    indexExpression(index_name, source!, { mapping: band_mapping, field: 'index_name' })
  },
  work: ({ geometry }, [source]) => onOwnGrid(source!, geometry, { bandCount: 1, dataType: 'float32' }),
  async run({ compute }, { index_name, band_mapping, geometry, output_name }, sources) {
    const [source] = sources
    const { id, name, colormap, range } = requireFormula(index_name, 'index_name')
    const expression = indexExpression(index_name, source!, { mapping: band_mapping, field: 'index_name' })
    const options = { expression, geometry, resultNames: [id] }
    const { files } = await compute(
      { method: 'expression', sources: [source!.source], options, outputs: ['data.tif'] },
      { name: `computing ${id}` },
    )
    const style = { name, type: 'singleband' as const, config: { bands: [1], colormap, rescale: range.join(',') } }
    const properties = { index_name: id, expression }
    return {
      items: [
        derivedRaster(sources, {
          name: output_name,
          suffix: id.toUpperCase(),
          path: files['data.tif']!.path,
          bandNames: [id],
          style,
          properties,
        }),
      ],
    }
  },
})
