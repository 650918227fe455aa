import Type from 'typebox'
import { newId } from '#core/ids.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { evaluate, EvaluationResult, openSource, requireColormap, sourceFields } from './evaluate.lib.ts'
import { findMeasure, measureOf } from './measure.lib.ts'
import { recordRun, tilesOf } from './report.lib.ts'
import { EXAMPLE_RASTER, EXAMPLE_REPORT_ID, IndexName } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/**
 * A published index, or a formula saved by the organization, over an item or a COG. Bands are matched by name, by sensor or by
 * `band_mapping`; the error lists those that are missing.
 */
export default operation({
  id: 'analytics.calculate_index',
  scope: 'analytics:process',
  tier: 'compute',
  produces: ['report:derived_from>item'],
  events: ['analytics.executed'],
  input: Closed({
    index_name: IndexName,
    ...sourceFields,
    colormap: Type.Optional(Nullable(Type.String({ maxLength: 100, description: "Colormap name; defaults to the index's colormap" }))),
  }),
  output: EvaluationResult,
  example: {
    input: { item_id: EXAMPLE_IDS.item, index_name: 'ndvi' },
    output: {
      id: EXAMPLE_REPORT_ID,
      operation: 'calculate_index',
      result: { expression: '(b4 - b3) / (b4 + b3)', reflectance_scale: 1, level: 0, pixel_count: 10_000, statistics: { mean: 0.42 } },
      raster: EXAMPLE_RASTER,
      image: null,
    },
  },
}).handle({
  async check(context, input) {
    const colormap = requireColormap(input.colormap)
    const { scene, area } = await openSource(context, input)
    const measure = measureOf(await findMeasure(context, { index_name: input.index_name }), scene, input)
    return { scene, area, measure: { ...measure, colormap: colormap ?? measure.colormap } }
  },
  async prepare(context, { max_size, output_format }, facts) {
    return await evaluate(context, { ...facts, maxSize: max_size, withImage: output_format === 'png' })
  },
  async execute(context, _input, { scene, measure }, { result, image }) {
    const head = { operation: 'calculate_index', result, image }
    if (!scene.item) {
      context.lineage.nothingProduced()
      return { id: null, raster: null, ...head }
    }
    const id = newId()
    const { organizationId, id: itemId, seq } = scene.item
    recordRun(context, { id, operation: 'calculate_index', organizationId, itemIds: [itemId], itemSeqs: [seq] })
    return { id, raster: tilesOf(context, scene, measure), ...head }
  },
})
