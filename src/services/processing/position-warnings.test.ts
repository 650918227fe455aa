import assert from 'node:assert/strict'
import { test } from 'node:test'
import { striped } from '../../../test/support/tiff.ts'
import { world } from '../../../test/support/world.ts'
import run from '../../domains/processing/run.task.ts'

const small = { width: 32, height: 32, rowsPerStrip: 32 }

// Goal: a job that converts positions less accurately than a pixel adds a warning to its outputs and item; other jobs do not.
test('accuracy of positions in jobs', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  const upload = async (degrees: number, epsg: number): Promise<string> =>
    (await w.upload(token, org.projectId, { 'a.tif': striped({ ...small, west: 145, north: -37, degrees, epsg }) })).body.item_ids[0]
  const fine = await upload(0.000001, 4283) // GDA94 with pixels of 10 cm
  const coarse = await upload(0.001, 4283)

  const make = async (id: string, params: object) => {
    const input = { project_id: org.projectId, job_type_id: id, input_params: params }
    const { job } = await w.ok(token, 'processing.create_and_dispatch', input)
    await w.drain(run)
    const { job: done } = await w.ok(token, 'processing.job.get', { job_id: job.id })
    assert.equal(done.status, 'completed', `${id}: ${done.error}`)
    const { item } = await w.ok(token, 'items.get', { item_id: done.output_item_ids[0] })
    return { warnings: done.output_artifacts.warnings, note: item.properties.position_note }
  }

  await t.test('reproject and mosaic from GDA94 to Web Mercator, at pixels finer than the accuracy of the datum', async () => {
    const text = /^Positions were converted from GDA94 to WGS 84 \/ Pseudo-Mercator .* about 3 m, which is more than a pixel of 0\.1?\d* m$/
    for (const [id, params] of [
      ['reproject', { item_id: fine, epsg: 3857 }],
      ['mosaic', { item_ids: [fine], epsg: 3857 }],
    ] as const) {
      const { warnings, note } = await make(id, params)
      assert.equal(warnings?.length, 1, id)
      assert.match(warnings[0], text)
      assert.equal(note, warnings[0])
    }
  })

  await t.test("no warning for published parameters, large pixels, or the raster's own coordinates", async () => {
    for (const [id, params] of [
      ['reproject', { item_id: fine, epsg: 7844 }],
      ['reproject', { item_id: coarse, epsg: 3857 }],
      ['reproject', { item_id: fine, epsg: 28355 }],
      ['resample', { item_id: fine, resolution: 0.000002 }],
    ] as const)
      assert.deepEqual(await make(id, params), { warnings: undefined, note: undefined }, JSON.stringify(params))
  })
})
