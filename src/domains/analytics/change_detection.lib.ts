import Type, { type Static } from 'typebox'
import { areaBounds } from '#core/area.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import type { Context } from '#operation.ts'
import { CHANGE_PERCENTILES, type Change } from '#raster/zonal/change.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'
import { findMeasure, measureOf, type Measure } from './measure.lib.ts'
import { method } from './method.lib.ts'
import { storeRaster, requireOneOrganization } from './report.lib.ts'
import { openItem, type Scene } from './scene.lib.ts'
import { Area, bandFields, ChangeResult, EXAMPLE_AREA, ExpressionText, IndexName, optional, ReflectanceScale } from './wire.ts'

const MAX_PIXELS = 2 ** 23
const M2_PER_HA = 10_000
/** The image shows differences up to this multiple of the threshold, in both directions. */
const SHOWN_THRESHOLDS = 4

const Params = Closed({
  before_item_id: Described(ItemId, 'ID of the earlier scene; the result uses its pixel grid'),
  after_item_id: Described(ItemId, 'ID of the later scene'),
  geometry: Area,
  index_name: optional(IndexName),
  expression: optional(ExpressionText),
  reflectance_scale: optional(ReflectanceScale),
  change_threshold: Defaulted(Type.Number({ exclusiveMinimum: 0 }), 0.1, {
    description: 'Minimum difference, up or down, that counts as a change',
  }),
  ...bandFields,
})
type Params = Static<typeof Params>

/** Gain and loss between two scenes. */
export const changeDetection = method({
  name: 'change_detection',
  title: 'Change detection',
  description:
    'Compares an index or an expression between two scenes over one area: gain and loss in pixels and hectares, with a raster and ' +
    'an image of the difference. The scenes can have different grids.',
  dataTypes: ['raster'],
  params: Params,
  result: ChangeResult,
  process: 'change_detection',
  example: {
    before_item_id: EXAMPLE_IDS.item,
    after_item_id: EXAMPLE_IDS.asset,
    geometry: EXAMPLE_AREA,
    index_name: 'ndvi',
    change_threshold: 0.2,
  },
  async check(context, params) {
    const geometry = requireArea(params.geometry, 'params.geometry')
    const definition = await findMeasure(context, params)
    const [before, after] = [await openItem(context, params.before_item_id, params), await openItem(context, params.after_item_id, params)]
    const organizationId = requireOneOrganization([before, after], 'params.after_item_id')
    const comparison = {
      geometry,
      threshold: params.change_threshold ?? 0.1,
      before,
      after,
      measures: [measureOf(definition, before, params), measureOf(definition, after, params)] as const,
    }
    const items = [...new Map([before, after].map(({ item }) => [item!.id, item!])).values()]
    return {
      organizationId,
      itemIds: items.map(({ id }) => id),
      itemSeqs: items.map(({ seq }) => seq),
      run: (running, reportId) => compare(running, comparison, { organizationId, reportId }),
    }
  },
})

interface Comparison {
  geometry: AreaGeometry
  threshold: number
  before: Scene
  after: Scene
  measures: readonly [Measure, Measure]
}

async function compare(context: Context, comparison: Comparison, report: { organizationId: string; reportId: string }) {
  const { geometry, threshold, before, after, measures } = comparison
  const change = await context.raster.change(
    before.source,
    after.source,
    {
      geometry,
      threshold,
      maxPixels: MAX_PIXELS,
      before: { expression: measures[0].expression },
      after: { expression: measures[1].expression },
    },
    context.signal,
  )
  const maxDifference = SHOWN_THRESHOLDS * threshold
  const raster = await storeRaster(context, {
    ...report,
    projectIds: [...new Set([before, after].map(({ item }) => item!.projectId))],
    cog: change.cog,
    bounds: areaBounds(geometry),
    colormap: 'change',
    range: [-maxDifference, maxDifference],
  })
  return { result: toResult(comparison, change), raster }
}

function toResult({ before, after, threshold, measures }: Comparison, change: Change): Record<string, unknown> {
  const { count, gain, loss, pixelAreaM2 } = change
  const part = (pixels: number) => ({
    pixels,
    area_ha: (pixels * pixelAreaM2) / M2_PER_HA,
    fraction: count > 0 ? pixels / count : 0,
  })
  return {
    before: {
      item_id: before.item!.id,
      datetime: before.item!.datetime?.toISOString() ?? null,
      expression: measures[0].expression,
      mean: change.before,
    },
    after: {
      item_id: after.item!.id,
      datetime: after.item!.datetime?.toISOString() ?? null,
      expression: measures[1].expression,
      mean: change.after,
    },
    change_threshold: threshold,
    gain: part(gain),
    loss: part(loss),
    unchanged: part(count - gain - loss),
    compared: { ...part(count), fraction: change.covered > 0 ? count / change.covered : 0 },
    difference: {
      mean: change.mean,
      std: change.std,
      min: change.min,
      max: change.max,
      percentiles: CHANGE_PERCENTILES.map((percentile, index) => ({ percentile, value: change.percentiles[index] ?? null })),
      histogram: change.histogram,
    },
  }
}
