import { Closed } from '#core/shapes.ts'
import { parseExpression } from '#raster/expression/index.ts'
import { namesOf, requireExpression } from '#services/processing/names.ts'
import { Area, AssetKey, EXAMPLE_ITEM_ID, Expression, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process } from '#services/processing/process.ts'
import { derivedRaster, singleSource } from '#services/processing/single.ts'
import { onOwnGrid } from '#services/processing/work.ts'

/** An expression over the bands of an item, evaluated for each pixel. */
export default process({
  id: 'band_math',
  title: 'Band math',
  description:
    'Evaluates an expression over the bands of an item. Results are 32-bit floats; a pixel is NaN if a band it uses has no data ' +
    'or the result is not a number. Several expressions, separated by semicolons, give several bands.',
  version: '1',
  category: 'bands',
  input: Closed({ item_id: Item, asset_key: AssetKey, expression: Expression, geometry: Area, output_name: OutputName }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID, expression: '(b4-b3)/(b4+b3)' },
}).handle({
  sources: singleSource,
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  check({ expression }, [source]) {
    requireExpression(expression, source!, 'expression')
  },
  work({ expression, geometry }, [source]) {
    const { results } = parseExpression(expression, { names: namesOf(source!) })
    return onOwnGrid(source!, geometry, { bandCount: results.length, dataType: 'float32' })
  },
  async run({ compute }, { expression, geometry, output_name }, sources) {
    const [source] = sources
    const names = namesOf(source!)
    const { results } = parseExpression(expression, { names })
    const resultNames = results.map((_, index) => (results.length === 1 ? 'result' : `result_${index + 1}`))
    const options = { expression, names, geometry, resultNames }
    const { files } = await compute(
      { method: 'expression', sources: [source!.source], options, outputs: ['data.tif'] },
      { name: 'computing' },
    )
    const properties = { expression }
    return {
      items: [
        derivedRaster(sources, {
          name: output_name,
          suffix: 'band math',
          path: files['data.tif']!.path,
          bandNames: resultNames,
          properties,
        }),
      ],
    }
  },
})
