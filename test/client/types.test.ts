// Goal: the compiler knows what the client knows: what a wait ends with, which operations have a price, what a geometry is, and what each
// method of analytics finds; and a missing file or an abort is told from every other failure. `npm run check` compiles this file.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import {
  AbortError,
  Groundtrack,
  MissingFileError,
  type AnalyticsExecuteOutput,
  type Geometry,
  type Item,
  type Order,
  type ProcessingJob,
  type Upload,
} from '../../packages/client/src/index.ts'
import { openFile } from '../../packages/client/src/node.ts'
import { METHODS } from '#domains/analytics/methods.lib.ts'
import { examine } from '#core/validate.ts'
import { sceneItem } from '../browser/console.ts'
import { world } from '../support/world.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles where both are the same. */
const same = <A, B>(_isSame: Same<A, B>) => {}
const AREA = {
  type: 'Polygon' as const,
  coordinates: [
    [
      [2.299, 48.199],
      [2.301, 48.199],
      [2.301, 48.201],
      [2.299, 48.201],
      [2.299, 48.199],
    ],
  ],
}

/** Never called: it is compiled. */
export async function compiled(gt: Groundtrack, order: Order): Promise<void> {
  const ordered = await gt.waitFor({ order: 'id' })
  const same1 = await gt.waitFor(order)
  const job = await gt.waitFor({ job: 'id' }, { onChange: ({ status }) => status satisfies string })
  const upload = await gt.waitFor({ upload: 'id' })
  same<typeof ordered, Order>(true)
  same<typeof same1, Order>(true)
  same<typeof job, ProcessingJob>(true)
  same<typeof upload, Upload>(true)
  // @ts-expect-error: nothing of the kind can be waited for.
  await gt.waitFor({ item: 'id' })

  await gt.price('orders.place', {})
  // @ts-expect-error: an operation that costs nothing has no price.
  await gt.price('items.list', {})
  // @ts-expect-error: a misspelt id is no operation.
  await gt.price('orders.plce', {})

  same<Item['geometry'], Geometry | null>(true)
  // @ts-expect-error: a geometry is GeoJSON.
  await gt.items.create({ project_id: 'p', name: 'n', type: 'external_reference', geometry: { kind: 'Polygon' } })

  const zonal = await gt.analytics.execute({ operation: 'zonal_stats', params: { item_id: 'id', geometry: AREA } })
  same<(typeof zonal)['operation'], 'zonal_stats'>(true)
  zonal.result.zones[0]!.results[0]!.valid_fraction satisfies number
  // @ts-expect-error: that is what another method finds.
  void zonal.result.points
  const any = zonal as AnalyticsExecuteOutput
  if (any.operation === 'change_detection') any.result.gain.area_ha satisfies number
  // @ts-expect-error: there is no such method.
  await gt.analytics.execute({ operation: 'zonal_stat', params: { item_id: 'id' } })
}

test('results of analytics methods match their types', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const [before, after] = [await sceneItem(w, org, 'June'), await sceneItem(w, org, 'August', { datetime: '2025-08-12T10:40:00Z' })]
  const { token, refreshToken } = org.owner
  const session = { accessToken: token, refreshToken, expiresAt: Date.now() + 900_000, organizationId: org.id }
  const gt = new Groundtrack({ baseUrl: w.baseUrl, session })
  const answers = [
    await gt.analytics.execute({
      operation: 'zonal_stats',
      params: { item_id: before, geometry: AREA, index_name: 'ndvi', percentiles: [50] },
    }),
    await gt.analytics.execute({ operation: 'time_series', params: { item_ids: [before, after], geometry: AREA, index_name: 'ndvi' } }),
    await gt.analytics.execute({
      operation: 'change_detection',
      params: { before_item_id: before, after_item_id: after, geometry: AREA, index_name: 'ndvi' },
    }),
  ]
  assert.deepEqual(answers.map(({ operation }) => operation).toSorted(), METHODS.map(({ name }) => name).toSorted())
  for (const { operation, result } of answers) {
    const { errors } = examine(METHODS.find(({ name }) => name === operation)!.result, result)
    assert.deepEqual(errors, [], operation)
  }
})

test('a missing file and an abort have their own errors', async () => {
  const missing = path.join(import.meta.dirname, 'no-such.tif')
  await assert.rejects(openFile(missing), (error) => error instanceof MissingFileError && error.path === missing)
  await assert.rejects(openFile(import.meta.dirname), MissingFileError)
  const gt = new Groundtrack({ baseUrl: 'http://127.0.0.1:9', maxRetries: 3 })
  const reason = new Error('enough')
  const isOurs = (error: unknown) => error instanceof AbortError && error.name === 'AbortError' && error.cause === reason
  await assert.rejects(gt.projects.list({}, { signal: AbortSignal.abort(reason) }).all(), isOurs)
  const stop = new AbortController()
  const waiting = gt.waitFor({ job: 'id' }, { signal: stop.signal })
  stop.abort(reason)
  await assert.rejects(waiting, isOurs)
})
