// Goal (J16): among ten thousand items a list grows as far as somebody reads, and what lies far down is found by its name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConsoleBuild } from '#start/console-build.ts'
import { world } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, LONG_MS, seat, settled, signIn } from './console.ts'

const ITEMS = 10_000
const BATCH = 2_500
const line = (n: number) => ({
  type: 'Feature',
  id: `parcel-${n}`,
  geometry: { type: 'Point', coordinates: [2.3 + n / 1000, 48.2] },
  properties: { datetime: '2025-06-12T10:40:00Z', title: n === 0 ? 'Weir at the old mill' : `Parcel ${n}` },
  assets: {},
})

for (const hands of HANDS)
  test(`the console: a long library, by ${hands}`, { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const org = await w.organization()
    for (let first = 0; first < ITEMS; first += BATCH) {
      const ndjson = Array.from({ length: BATCH }, (_, n) => JSON.stringify(line(first + n))).join('\n')
      await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
    }
    const here = await seat(w, await browser(t, hands))
    const { page } = here
    await journey('library', here, async () => {
      await signIn(here, org.owner)
      await page.goto(`${w.baseUrl}/app/library/${org.projectId}?view=table`)
      const rows = page.getByRole('checkbox', { name: /^Select / })
      const more = page.getByRole('button', { name: 'Load more' })
      await page.getByText('10,000 items').waitFor()
      assert.equal(await rows.count(), 60)
      await more.click()
      await rows.nth(119).waitFor()
      await more.click()
      await rows.nth(179).waitFor()
      assert.equal(await rows.count(), 180, 'each once')
      await assertAccessible(page, 'a long library')
      await shot(page, 'library-long')

      await page.reload()
      await page.getByLabel('Name or ID').fill('OLD MILL')
      await page.getByText('1 item', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Weir at the old mill' }).waitFor()
      await page.getByLabel('Name or ID').fill('Parcel 99')
      await page.getByText('111 items').waitFor()
      await more.click()
      await rows.nth(110).waitFor()
      await more.waitFor({ state: 'detached' })
      await page.getByLabel('Name or ID').fill('nothing of the kind')
      await page.getByText('No items match').waitFor()

      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Search places/ }).fill('Parcel 7')
      await page
        .getByRole('option', { name: /Items named/ })
        .first()
        .waitFor()
      await shot(page, 'palette-items')
      await page.keyboard.press('Escape')

      for (const address of [`/library/${org.projectId}?view=map`, '/explore?scope=mine', '/compare', '/lineage']) {
        await page.goto(`${w.baseUrl}/app${address}`)
        await settled(page)
      }
    })
    assertOwnBusiness(w, here)
  })
