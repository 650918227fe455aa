import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

/** About a square metre. */
const TINY = {
  type: 'Polygon',
  coordinates: [
    [
      [151.1, -33.1],
      [151.10001, -33.1],
      [151.10001, -33.10001],
      [151.1, -33.10001],
      [151.1, -33.1],
    ],
  ],
}

// Goal: a job is priced by the area of its raster, whatever footprint an editor sets; a footprint can only increase the price.
test('row 44: prices and footprints', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 10_000, reason: 'for a test' })
  // 0.01 degrees a pixel: about 99,000 square kilometres.
  const { body } = await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 300, height: 300, degrees: 0.01 }) })
  const item_id: string = body.item_ids[0]
  const inputs = { item_id, expression: 'b1' }
  const estimate = (geometry?: object) =>
    w.ok(token, 'processing.catalog.estimate', { process_id: 'band_math', inputs: { ...inputs, ...(geometry ? { geometry } : {}) } })
  const reserve = async () => {
    const created = await w.call(
      token,
      'processing.create',
      { project_id: org.projectId, job_type_id: 'band_math', input_params: inputs },
      { 'idempotency-key': newId() },
    )
    assert.equal(created.status, 200, JSON.stringify(created.body))
    return created.body.job.reserved_credits
  }
  const before = await estimate()
  assert.ok(before.credits > 1_000, JSON.stringify(before))

  for (const [name, geometry] of [
    ['a footprint of one square metre', TINY],
    ['no footprint', null],
    ['a point', { type: 'Point', coordinates: [151.1, -33.1] }],
  ] as const)
    await t.test(`${name} does not change the price`, async () => {
      const changed = await w.call(token, 'items.update', { item_id, geometry, ...(geometry === null ? { bbox: null } : {}) })
      if (changed.status !== 200) return assert.ok(changed.status === 400 || changed.status === 422, String(changed.status))
      assert.equal((await estimate()).credits, before.credits)
      assert.equal(await reserve(), before.credits)
    })

  await t.test('a job on a part costs what the part covers', async () => {
    assert.equal((await estimate(TINY)).credits, 5)
  })

  await t.test('a footprint larger than the raster increases the price', async () => {
    const ring = [150, 156, 156, 150, 150].map((x, index) => [x, index === 0 || index === 1 || index === 4 ? -40 : -32])
    await w.ok(token, 'items.update', { item_id, geometry: { type: 'Polygon', coordinates: [ring] } })
    assert.ok((await estimate()).credits > before.credits)
  })

  await t.test('a thin line across a raster is charged for the pixels that it reads', async () => {
    const pixels = await scene({
      width: 8_000,
      height: 8_000,
      degrees: 1e-9,
      bandNames: Array.from({ length: 1 }, () => 'a'),
      value: () => 1,
    })
    const { body: uploaded } = await w.upload(token, org.projectId, { 'b.tif': pixels })
    const { credits } = await w.ok(token, 'processing.catalog.estimate', {
      process_id: 'zonal_stats',
      inputs: {
        item_id: uploaded.item_ids[0],
        zones: {
          type: 'FeatureCollection',
          features: Array.from({ length: 500 }, () => ({
            type: 'Feature',
            geometry: {
              type: 'Polygon',
              coordinates: [
                [
                  [150, -34],
                  [152, -34],
                  [152, -32],
                  [150, -32],
                  [150, -34],
                ],
              ],
            },
          })),
        },
      },
    })
    assert.ok(credits >= 32, `500 zones over 64,000,000 pixels for ${credits}`)
  })
})
