import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOverlays } from '#adapters/overlays/overlays.ts'
import { square } from '../../../test/orders/support.ts'
import { assessDelivery, requireOrdered } from './delivery.lib.ts'

// Goal: a delivery is assessed by the area it covers, exactly or, if its outline is too complex, by sampled points.
test('coverage of a delivery', async (t) => {
  const run = { hostName: 'host', organizationId: 'a', captures: null, area: square(2, 48, 0.1), reservedCredits: 1_000 }
  const vendorOrder = { files: [], captures: [], reason: null } as never
  for (const [method, maxCrossings] of [
    ['exactly', 2_000],
    ['by sampling', 0],
  ] as const)
    await t.test(method, async () => {
      const overlays = createOverlays({ maxCrossings })
      t.after(() => overlays.close())
      const creditsFor = async (...geometries: object[]) =>
        (
          await assessDelivery(
            { overlays },
            run,
            vendorOrder,
            geometries.map((geometry) => ({ geometry })),
          )
        ).credits
      assert.equal(await creditsFor(square(1.95, 47.95, 0.2)), 1_000, 'all of it')
      const quarter = await creditsFor(square(2.05, 48.05, 0.1))
      assert.ok(Math.abs(quarter - 250) <= 10, String(quarter))
      assert.equal(await creditsFor(square(3, 48, 0.1)), 0, 'nothing')
    })
})

// Goal: a vendor that delivers more files than anybody orders is refused before the first byte is downloaded.
test('files of a delivery', () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `file-${n}`, sceneId: 'scene', itemKey: `item-${n}`, assetKey: 'data', role: 'data' }))
  const ordered = { hostName: 'host', captures: null }
  requireOrdered(ordered as never, files(2_000) as never)
  assert.throws(() => requireOrdered(ordered as never, files(2_001) as never), /delivered 2001 files; the maximum is 2000/)
})
