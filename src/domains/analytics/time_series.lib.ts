import Type, { type Static } from 'typebox'
import { invalidField, Problem, problem } from '#core/problem.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { parseInterval } from '#core/interval.ts'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import { findMany, type Layer } from '#model/imagery/item-layer.ts'
import { searchSeqs } from '#model/imagery/item-search.ts'
import type { Context } from '#operation.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import type { Failure } from '#raster/zonal/series.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { findMeasure, measureOf, type Known, type Measure } from './measure.lib.ts'
import { method } from './method.lib.ts'
import { sceneOf, type Scene } from './scene.lib.ts'
import { oneOrganization } from './report.lib.ts'
import {
  Area,
  bandFields,
  EXAMPLE_AREA,
  ExpressionText,
  IndexName,
  Item,
  maybe,
  Percentiles,
  ReflectanceScale,
  Statistics,
  SeriesResult,
} from './wire.ts'
import { MAX_PIXELS, toResult } from './zonal_stats.lib.ts'

const MAX_SCENES = 500
/** Scenes that one child of the pool is given at once, which share what they have in common. */
const SCENES_A_TASK = 50
/** Tasks at the same time; the pool has other work to do. */
const TASKS_TOGETHER = 2

const Params = Closed({
  collection_id: maybe(Described(Uuid, 'All items of a collection')),
  item_ids: maybe(Type.Array(Item, { minItems: 1, maxItems: MAX_SCENES, uniqueItems: true, description: 'Or these items' })),
  geometry: Area,
  expression: maybe(ExpressionText),
  index_name: maybe(IndexName),
  reflectance_scale: maybe(ReflectanceScale),
  datetime: maybe(Type.String({ maxLength: 100, description: 'Only scenes of this time: 2026-01-01T00:00:00Z/2026-12-31T23:59:59Z' })),
  statistics: maybe(Statistics),
  percentiles: maybe(Percentiles),
  ...bandFields,
})
type Params = Static<typeof Params>

/** One value of one area, scene after scene. */
export const timeSeries = method({
  name: 'time_series',
  title: 'Time series',
  description:
    'Statistics of an expression or an index over one area in every scene of a collection, or of a list, in the order of time. Scenes ' +
    'that do not show the area, or cannot be read, are named with the reason.',
  dataTypes: ['raster'],
  params: Params,
  result: SeriesResult,
  process: 'composite',
  example: {
    collection_id: EXAMPLE_IDS.project,
    geometry: EXAMPLE_AREA,
    index_name: 'ndvi',
    datetime: '2026-01-01T00:00:00Z/2026-12-31T23:59:59Z',
  },
  async check(context, params) {
    const geometry = requireArea(params.geometry, 'params.geometry')
    const known = await findMeasure(context, params)
    const layers = await scenesOf(context, params, geometry)
    if (layers.length === 0) throw problem('bad-request', 'No scene shows this area in this time')
    return {
      organizationId: oneOrganization(layers, 'params.item_ids'),
      itemIds: layers.map(({ item }) => item.id),
      itemSeqs: layers.map(({ item }) => item.seq),
      run: async (running) => ({ result: await seriesOf(running, layers, { known, geometry, params }), raster: null }),
    }
  },
})

/** Scenes of the time asked for, oldest first. */
async function scenesOf(context: Context, params: Params, geometry: AreaGeometry): Promise<Layer[]> {
  const { collection_id, item_ids, datetime, asset_key } = params
  if ((collection_id == null) === (item_ids == null))
    throw invalidField('params.collection_id', 'give a collection_id or item_ids, one of them')
  const interval = datetime == null ? null : parseInterval(datetime, 'params.datetime')
  const choice = { assetKey: asset_key ?? null, profile: null }
  if (item_ids != null) {
    const layers = await Promise.all(item_ids.map((id) => context.layers.requireReader(context.principal, id, choice)))
    return inOrder(
      layers.filter(
        ({ item: { datetime: at } }) =>
          !interval || (at !== null && (!interval.from || at >= interval.from) && (!interval.to || at <= interval.to)),
      ),
    )
  }
  const { db, principal } = context
  const found = await collections.requireReader(db, principal, collection_id!)
  const seqs = await searchSeqs(db, {
    organizationId: found.organizationId,
    projectId: found.projectId,
    hiddenProjectIds: [],
    bbox: boxOf(geometry),
    interval,
    collectionIds: [found.id],
    type: null,
    query: [],
    orders: [],
    limit: MAX_SCENES + 1,
    offset: 0,
  })
  if (seqs.length > MAX_SCENES) throw tooMany()
  return inOrder(await findMany(db, seqs, choice))
}

const tooMany = () =>
  problem(
    'raster-too-demanding',
    `More than ${MAX_SCENES} scenes show this area. Say a shorter time with datetime, or run the process 'composite' for each stretch`,
    { members: { process_id: 'composite' } },
  )

const inOrder = (layers: Layer[]): Layer[] =>
  layers.toSorted(({ item: a }, { item: b }) => (a.datetime?.getTime() ?? Infinity) - (b.datetime?.getTime() ?? Infinity) || a.seq - b.seq)

function boxOf(geometry: AreaGeometry): [number, number, number, number] {
  const points = (geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat()).flat()
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

interface Question {
  known: Known
  geometry: AreaGeometry
  params: Params
}

async function seriesOf(context: Context, layers: readonly Layer[], question: Question): Promise<Record<string, unknown>> {
  const points: Record<string, unknown>[] = []
  const skipped: Record<string, unknown>[] = []
  for (let start = 0; start < layers.length; start += SCENES_A_TASK * TASKS_TOGETHER) {
    const tasks = Array.from({ length: TASKS_TOGETHER }, (_, index) => start + index * SCENES_A_TASK)
    const answers = await Promise.all(tasks.map((first) => pointsOf(context, layers.slice(first, first + SCENES_A_TASK), question)))
    for (const [index, answer] of answers.flat().entries()) {
      const { item } = layers[start + index]!
      const head = { item_id: item.id, datetime: item.datetime?.toISOString() ?? null }
      if ('reason' in answer) skipped.push({ ...head, reason: answer.reason })
      else points.push({ ...head, ...answer })
    }
  }
  if (points.length === 0) throw problem('bad-request', `No scene could be used; the first of them: ${String(skipped[0]?.['reason'])}`)
  return { points, skipped }
}

type Answer = object & { reason?: string }

/** Some scenes of the series in one task of the pool: each has its values, or why it has none. A fault of ours is not a reason. */
async function pointsOf({ raster, signal }: Context, layers: readonly Layer[], question: Question): Promise<Answer[]> {
  const { known, geometry, params } = question
  const found = await raster.describeMany(
    layers.map(({ asset }) => rasterSourceOf(asset)),
    signal,
  )
  const measured = found.map((each, index) => ('failure' in each ? toReason(each) : measuredIn(layers[index]!, each.info, known, params)))
  const wishes = measured.flatMap((each) => ('reason' in each ? [] : [{ source: each.source, expression: each.expression }]))
  const { statistics, percentiles } = params
  const options = { geometry, ...(statistics ? { statistics } : {}), ...(percentiles ? { percentiles } : {}), maxPixels: MAX_PIXELS }
  const points = (await raster.series(wishes, options, signal)).values()
  return measured.map((each) => {
    if ('reason' in each) return each
    const point = points.next().value!
    if ('failure' in point) return toReason(point)
    const { summary } = point
    if (summary.count === 0) return { reason: summary.covered > 0 ? 'it has no data there' : 'it does not reach the area' }
    return toResult(each.label, summary, percentiles ?? [])
  })
}

const toReason = ({ failure }: { failure: Failure }): { reason: string } => ({ reason: failure.message })

/** What to compute of a scene, or why it has not the bands for it. */
function measuredIn(layer: Layer, info: RasterInfo, known: Known, params: Params): { reason: string } | (Measure & Pick<Scene, 'source'>) {
  try {
    const scene = sceneOf(layer, info, params)
    return { ...measureOf(known, scene, params), source: scene.source }
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return { reason: error.message }
    if (!(error instanceof RasterError)) throw error
    return { reason: error.message }
  }
}
