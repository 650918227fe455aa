import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOverlays } from '#adapters/overlays/overlays.ts'
import { square } from '../../../test/orders/support.ts'
import { judge } from './delivery.lib.ts'

// Goal: a delivery is judged by what it shows, exactly or, where its outline is too intricate for that, from places in it.
test('what a delivery shows', async (t) => {
  const run = { hostName: 'host', organizationId: 'a', captures: null, area: square(2, 48, 0.1), reservedCredits: 1_000 }
  const there = { files: [], captures: [], reason: null } as never
  for (const [how, maxCrossings] of [
    ['exactly', 2_000],
    ['from places', 0],
  ] as const)
    await t.test(how, async () => {
      const overlays = createOverlays({ maxCrossings })
      t.after(() => overlays.close())
      const creditsFor = async (...geometries: object[]) =>
        (
          await judge(
            { overlays },
            run,
            there,
            geometries.map((geometry) => ({ geometry })),
          )
        ).credits
      assert.equal(await creditsFor(square(1.95, 47.95, 0.2)), 1_000, 'all of it')
      const quarter = await creditsFor(square(2.05, 48.05, 0.1))
      assert.ok(Math.abs(quarter - 250) <= 10, String(quarter))
      assert.equal(await creditsFor(square(3, 48, 0.1)), 0, 'nothing')
    })
})
