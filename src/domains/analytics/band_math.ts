import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { evaluate, EvaluationResult, openSource, requireColormap, sourceFields } from './evaluate.lib.ts'
import { findMeasure, measureOf } from './measure.lib.ts'
import { recordRun, tilesOf } from './report.lib.ts'
import { EXAMPLE_RASTER, EXAMPLE_REPORT_ID, ExpressionText } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const bound = (description: string) => Type.Optional(Nullable(Type.Number({ description })))

/**
 * Band math over an item or a COG, within a bounding box or an area, or over the whole raster: statistics, a histogram and, on
 * request, an image. For an item, a report is recorded and the item's tiles show the same result.
 */
export default operation({
  id: 'analytics.band_math',
  scope: 'analytics:process',
  tier: 'compute',
  produces: ['report:derived_from>item'],
  events: ['analytics.executed'],
  input: Closed({
    formula: ExpressionText,
    ...sourceFields,
    colormap: Defaulted(Type.String({ maxLength: 100 }), 'viridis', { description: 'Colormap name from `cog.colormaps`' }),
    vmin: bound('Value of the first colour; defaults to the 2nd percentile'),
    vmax: bound('Value of the last colour; defaults to the 98th percentile'),
  }),
  output: EvaluationResult,
  example: {
    input: { item_id: EXAMPLE_IDS.item, formula: '(NIR - RED) / (NIR + RED)' },
    output: {
      id: EXAMPLE_REPORT_ID,
      operation: 'band_math',
      result: { expression: '(b4 - b3) / (b4 + b3)', reflectance_scale: 1, level: 0, pixel_count: 10_000, statistics: { mean: 0.42 } },
      raster: EXAMPLE_RASTER,
      image: null,
    },
  },
}).handle({
  async check(context, input) {
    const colormap = requireColormap(input.colormap)
    const { vmin, vmax } = input
    if ((vmin == null) !== (vmax == null)) throw invalidField('vmin', 'Send both vmin and vmax, or neither')
    if (vmin != null && vmax != null && !(vmin < vmax)) throw invalidField('vmin', 'must be less than vmax')
    const { scene, area } = await openSource(context, input)
    const definition = await findMeasure(context, { expression: input.formula })
    const range = vmin != null && vmax != null ? ([vmin, vmax] as const) : null
    return { scene, area, measure: { ...measureOf(definition, scene, {}), colormap, range } }
  },
  async prepare(context, { max_size, output_format }, facts) {
    return await evaluate(context, { ...facts, maxSize: max_size, withImage: output_format === 'png' })
  },
  async execute(context, _input, { scene, measure }, { result, image }) {
    const head = { operation: 'band_math', result, image }
    if (!scene.item) {
      context.lineage.nothingProduced()
      return { id: null, raster: null, ...head }
    }
    const id = newId()
    const { organizationId, id: itemId, seq } = scene.item
    recordRun(context, { id, operation: 'band_math', organizationId, itemIds: [itemId], itemSeqs: [seq] })
    return { id, raster: tilesOf(context, scene, measure), ...head }
  },
})
