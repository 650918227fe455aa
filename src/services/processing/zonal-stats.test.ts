import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { tasks } from '#registry.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const run = tasks.find(({ name }) => name === 'processing.run')!
const strip = (k: number) => ({
  type: 'Feature',
  id: k === 3 ? '=evil()' : `row ${k}`,
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [151.0004 + k * 0.001, -33.1],
        [151.0009 + k * 0.001, -33.1],
        [151.0009 + k * 0.001, -33.05],
        [151.0004 + k * 0.001, -33.05],
        [151.0004 + k * 0.001, -33.1],
      ],
    ],
  },
})

// Goal: statistics of many zones become a table, in two formats with the same values.
test('the process zonal_stats', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const { body } = await w.upload(org.owner.token, org.projectId, { 'field.tif': await scene({ value: (band, x) => 100 * band + x }) })
  const features = Array.from({ length: 200 }, (_, k) => strip(k))
  const start = (input_params: object) =>
    w.call(
      org.owner.token,
      'processing.create_and_dispatch',
      { project_id: org.projectId, job_type_id: 'zonal_stats', input_params: { item_id: body.item_ids[0], ...input_params } },
      { 'idempotency-key': newId() },
    )
  const zones = { type: 'FeatureCollection', features }

  await t.test('a table with a row for each zone, exact and safe to open', async () => {
    const { status, body: created } = await start({ zones, expression: 'nir - RED', statistics: ['count', 'mean'], percentiles: [50] })
    assert.equal(status, 200, JSON.stringify(created))
    await w.drain(run)
    const { job } = await w.ok(org.owner.token, 'processing.job.get', { job_id: created.job.id })
    assert.equal(job.status, 'completed', JSON.stringify(job))
    assert.deepEqual([job.output_artifacts.zone_count, job.output_artifacts.empty_zone_count], [200, 0])
    const item_id = job.output_item_ids[0]
    const download = async (asset_id: string) => {
      const { url } = await w.ok(org.owner.token, 'items.asset.download', { item_id, asset_id })
      return Buffer.from(await (await fetch(url)).arrayBuffer())
    }
    const lines = (await download('csv')).toString().split('\r\n')
    assert.equal(lines[0], 'zone,band,count,mean,p50,valid_fraction')
    assert.equal(lines.length, 202)
    const [zone, , count, mean] = lines[8]!.split(',')
    assert.deepEqual([zone, mean], ['row 7', '100'])
    assert.ok(Math.abs(Number(count) - 25) < 1e-6, count)
    assert.match(lines[4]!, /^'=evil\(\),/)
    const parquet = await download('parquet')
    assert.deepEqual([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()], ['PAR1', 'PAR1'])
  })

  await t.test('errors name the invalid parameter', async () => {
    assert.equal((await start({ zones, bands: [9] })).status, 422)
    assert.equal((await start({ zones, bands: [1], expression: 'b1' })).status, 422)
    assert.equal((await start({ zones: { type: 'FeatureCollection', features: [] } })).status, 422)
    assert.equal(
      (
        await start({
          zones: { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } }] },
        })
      ).status,
      422,
    )
  })
})
