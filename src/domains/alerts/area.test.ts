import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bandFile } from '../../../test/support/stack.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world } from '../../../test/support/world.ts'

/** 1,500 m to the east and 1,300 m to the south of the corner of the file. */
const FIELD = { longitude: 150.85589, latitude: -33.79326 }
const square = (halfM: number) => {
  const [dx, dy] = [halfM * 1.08e-5, halfM * 9.01e-6]
  const { longitude: x, latitude: y } = FIELD
  const [west, south, east, north] = [x - dx, y - dy, x + dx, y + dy]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

// Goal: a rule on an area much smaller than a pixel of the overviews has the value of its own pixels, the same as a time series; an area
// that is too large for that is measured on an overview, as a whole item is.
test('an alert rule on a small area of a large item', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const isField = (x: number, y: number) => Math.abs(x - 1_500) < 20 && Math.abs(y - 1_300) < 20
  const bytes = await bandFile({ width: 4_000, height: 4_000, pixelM: 10, value: (x, y) => (isField(x, y) ? 1_000 : 100) })
  const { id: collection_id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Fields' })
  const { id: item_id } = await w.ok(token, 'items.create', {
    project_id: org.projectId,
    collection_id,
    type: 'satellite_capture',
    geometry: square(20_000),
    datetime: '2029-06-01T00:00:00Z',
    name: 'Large',
  })
  await storeFile(w, item_id, { bytes, bandNames: ['level'] })
  const valueIn = async (halfM: number) => {
    const rule = { expression: 'level', comparison: 'gt', threshold: 0, aoi_geometry: square(halfM) }
    return (await w.ok(token, 'alerts.test_rule', { rule, item_id })).computed_value as number
  }
  assert.equal(await valueIn(12), 1_000)
  const params = { collection_id, geometry: square(40), expression: 'b1' }
  const { result } = await w.ok(token, 'analytics.execute', { operation: 'time_series', params })
  const inSeries = result.points[0].results?.[0]?.mean ?? result.points[0].mean
  assert.ok(Math.abs((await valueIn(40)) - inSeries) < 1e-9, `${await valueIn(40)} is not ${inSeries}`)
  const large = await valueIn(18_000)
  assert.ok(large > 99 && large < 101, String(large))
})
