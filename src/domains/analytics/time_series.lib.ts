import Type, { type Static } from 'typebox'
import { invalidField, Problem, problem } from '#core/problem.ts'
import { areaBounds } from '#core/area.ts'
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
import { findMeasure, measureOf, type Definition, type Measure } from './measure.lib.ts'
import { method } from './method.lib.ts'
import { sceneOf, type Scene } from './scene.lib.ts'
import { requireOneOrganization } from './report.lib.ts'
import {
  Area,
  bandFields,
  EXAMPLE_AREA,
  ExpressionText,
  IndexName,
  Item,
  optional,
  Percentiles,
  ReflectanceScale,
  Statistics,
  SeriesResult,
} from './wire.ts'
import { MAX_PIXELS, toResult } from './zonal_stats.lib.ts'

const MAX_SCENES = 500
/** Scenes per raster task, which computes what they share only once. */
const SCENES_PER_TASK = 50
/** Concurrent raster tasks per call, so that the pool can serve other callers. */
const CONCURRENT_TASKS = 2

const Params = Closed({
  collection_id: optional(Described(Uuid, 'ID of the collection to analyse')),
  item_ids: optional(
    Type.Array(Item, {
      minItems: 1,
      maxItems: MAX_SCENES,
      uniqueItems: true,
      description: 'IDs of the items to analyse, instead of a collection',
    }),
  ),
  geometry: Area,
  expression: optional(ExpressionText),
  index_name: optional(IndexName),
  reflectance_scale: optional(ReflectanceScale),
  datetime: optional(
    Type.String({
      maxLength: 100,
      description: 'Only scenes acquired in this interval, for example `2026-01-01T00:00:00Z/2026-12-31T23:59:59Z`',
    }),
  ),
  statistics: optional(Statistics),
  percentiles: optional(Percentiles),
  ...bandFields,
})
type Params = Static<typeof Params>

/** Statistics of one area in each of many scenes. */
export const timeSeries = method({
  name: 'time_series',
  title: 'Time series',
  description:
    'Statistics of an expression or an index over one area in every scene of a collection or a list, oldest first. Scenes that do ' +
    'not cover the area or cannot be read are listed with the reason.',
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
    const definition = await findMeasure(context, params)
    const layers = await scenesOf(context, params, geometry)
    if (layers.length === 0) throw problem('bad-request', 'No scene covers this area in this interval')
    return {
      organizationId: requireOneOrganization(layers, 'params.item_ids'),
      itemIds: layers.map(({ item }) => item.id),
      itemSeqs: layers.map(({ item }) => item.seq),
      run: async (running) => ({ result: await seriesOf(running, layers, { definition, geometry, params }), raster: null }),
    }
  },
})

/** Scenes in the requested interval, oldest first. */
async function scenesOf(context: Context, params: Params, geometry: AreaGeometry): Promise<Layer[]> {
  const { collection_id, item_ids, datetime, asset_key } = params
  if ((collection_id == null) === (item_ids == null))
    throw invalidField('params.collection_id', 'Send exactly one of collection_id and item_ids')
  const interval = datetime == null ? null : parseInterval(datetime, 'params.datetime')
  const choice = { assetKey: asset_key ?? null, profile: null }
  if (item_ids != null) {
    const layers = await Promise.all(item_ids.map((id) => context.layers.requireReader(context.principal, id, choice)))
    return oldestFirst(
      layers.filter(
        ({ item: { datetime: at } }) =>
          !interval || (at !== null && (!interval.from || at >= interval.from) && (!interval.to || at <= interval.to)),
      ),
    )
  }
  const { db, principal } = context
  const collection = await collections.requireReader(db, principal, collection_id!)
  const seqs = await searchSeqs(db, context.searchMemory, {
    organizationId: collection.organizationId,
    projectId: collection.projectId,
    hiddenProjectIds: [],
    bbox: areaBounds(geometry),
    interval,
    collectionIds: [collection.id],
    type: null,
    query: [],
    orders: [],
    limit: MAX_SCENES + 1,
    offset: 0,
  })
  if (seqs.length > MAX_SCENES) throw tooMany()
  return oldestFirst(await findMany(db, seqs, choice))
}

const tooMany = () =>
  problem(
    'raster-too-demanding',
    `More than ${MAX_SCENES} scenes cover this area. Send a shorter datetime interval, or run the process 'composite' for each interval`,
    { members: { process_id: 'composite' } },
  )

const oldestFirst = (layers: Layer[]): Layer[] =>
  layers.toSorted(({ item: a }, { item: b }) => (a.datetime?.getTime() ?? Infinity) - (b.datetime?.getTime() ?? Infinity) || a.seq - b.seq)

interface SeriesQuery {
  definition: Definition
  geometry: AreaGeometry
  params: Params
}

async function seriesOf(context: Context, layers: readonly Layer[], query: SeriesQuery): Promise<Record<string, unknown>> {
  const points: Record<string, unknown>[] = []
  const skipped: Record<string, unknown>[] = []
  for (let start = 0; start < layers.length; start += SCENES_PER_TASK * CONCURRENT_TASKS) {
    const tasks = Array.from({ length: CONCURRENT_TASKS }, (_, index) => start + index * SCENES_PER_TASK)
    const results = await Promise.all(tasks.map((first) => pointsOf(context, layers.slice(first, first + SCENES_PER_TASK), query)))
    for (const [index, result] of results.flat().entries()) {
      const { item } = layers[start + index]!
      const head = { item_id: item.id, datetime: item.datetime?.toISOString() ?? null }
      if ('reason' in result) skipped.push({ ...head, reason: result.reason })
      else points.push({ ...head, ...result })
    }
  }
  if (points.length === 0) throw problem('bad-request', `No scene could be used. The first: ${String(skipped[0]?.['reason'])}`)
  return { points, skipped }
}

type SceneResult = object & { reason?: string }

/** Some scenes of the series in one raster task: for each its values, or the reason that it has none. An internal error is thrown. */
async function pointsOf({ raster, signal }: Context, layers: readonly Layer[], query: SeriesQuery): Promise<SceneResult[]> {
  const { definition, geometry, params } = query
  const described = await raster.describeMany(
    layers.map(({ asset }) => rasterSourceOf(asset)),
    signal,
  )
  const measures = described.map((scene, index) =>
    'failure' in scene ? toReason(scene) : measureIn(layers[index]!, scene.info, definition, params),
  )
  const requests = measures.flatMap((measure) => ('reason' in measure ? [] : [{ source: measure.source, expression: measure.expression }]))
  const { statistics, percentiles } = params
  const options = { geometry, ...(statistics ? { statistics } : {}), ...(percentiles ? { percentiles } : {}), maxPixels: MAX_PIXELS }
  const points = (await raster.series(requests, options, signal)).values()
  return measures.map((measure) => {
    if ('reason' in measure) return measure
    const point = points.next().value!
    if ('failure' in point) return toReason(point)
    const { summary } = point
    if (summary.count === 0) return { reason: summary.covered > 0 ? 'no data in the area' : 'does not cover the area' }
    return toResult(measure.label, summary, percentiles ?? [])
  })
}

const toReason = ({ failure }: { failure: Failure }): { reason: string } => ({ reason: failure.message })

/** What to compute for a scene, or the reason that its bands do not allow it. */
function measureIn(
  layer: Layer,
  info: RasterInfo,
  definition: Definition,
  params: Params,
): { reason: string } | (Measure & Pick<Scene, 'source'>) {
  try {
    const scene = sceneOf(layer, info, params)
    return { ...measureOf(definition, scene, params), source: scene.source }
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return { reason: error.message }
    if (!(error instanceof RasterError)) throw error
    return { reason: error.message }
  }
}
