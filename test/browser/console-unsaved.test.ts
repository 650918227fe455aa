// Goal: a user's last action takes effect: a deletion survives its tab, and invalid text is never submitted as the last valid value.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConsoleBuild } from '#start/console-build.ts'
import { grant } from '../orders/support.ts'
import { until } from '../support/service.ts'
import { world } from '../support/world.ts'
import { browser, HANDS, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

const ZONES = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { name: 'one' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [2.299, 48.199],
            [2.301, 48.199],
            [2.301, 48.201],
            [2.299, 48.201],
            [2.299, 48.199],
          ],
        ],
      },
    },
  ],
}

for (const hands of HANDS)
  test(`the console: nothing done is lost, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const chromium = await browser(t, hands)
    const org = await w.organization()
    await grant(w, org, 10_000)
    const [kept, left, hidden] = [
      await sceneItem(w, org, 'Loire, kept'),
      await sceneItem(w, org, 'Loire, tab closed'),
      await sceneItem(w, org, 'Loire, tab hidden'),
    ]
    const isThere = async (item_id: string) => (await w.call(org.owner.token, 'items.get', { item_id })).status === 200

    await t.test('a deletion is made when its tab closes, and not when it was taken back', async () => {
      const here = await seat(w, chromium)
      const { page } = here
      const remove = async (item: string) => {
        await page.goto(`${w.baseUrl}/app/view/${item}?tab=metadata`)
        await page.getByRole('button', { name: 'Delete item' }).click()
        await page.getByRole('button', { name: 'Undo' }).waitFor()
      }
      await journey('deletions', here, async () => {
        await signIn(here, org.owner)
        await remove(kept)
        await page.getByRole('button', { name: 'Undo' }).click()
        await remove(hidden)
        // As when a person looks at another tab: the browser may end this one without another word.
        await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
          document.dispatchEvent(new Event('visibilitychange')); delete document.visibilityState`)
        await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
        await until('the item is gone with the view', async () => !(await isThere(hidden)))
        await remove(left)
        assert.ok(await isThere(left), 'as long as it can be taken back it is there')
        await page.close({ runBeforeUnload: true })
        await until('the item is gone with the tab', async () => !(await isThere(left)))
        assert.ok(await isThere(kept))
      })
      await page.context().close()
      assertOwnBusiness(w, here)
    })

    await t.test('a field whose text is no JSON keeps the form from being sent', async () => {
      const here = await seat(w, chromium)
      const { page } = here
      await journey('broken-json', here, async () => {
        await signIn(here, org.owner)
        const inputs = encodeURIComponent(JSON.stringify({ item_id: kept, zones: ZONES }))
        await page.goto(`${w.baseUrl}/app/processes/zonal_stats?in=${inputs}`)
        const run = page.getByRole('button', { name: /^Run, A\$/ })
        await run.waitFor()
        const zones = page.getByLabel('Zones', { exact: true })
        await zones.fill(`${JSON.stringify(ZONES).slice(0, -1)},`)
        await run.waitFor({ state: 'detached' })
        await page.getByText('Enter a JSON object or array.').waitFor()
        await zones.fill(JSON.stringify(ZONES))
        await run.waitFor()
      })
      await page.context().close()
      assertOwnBusiness(w, here)
    })
  })
