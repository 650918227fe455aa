// Goal: the scenes of a collection become a line, and the line a rule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, saved, sceneItem, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: a time series, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await timeSeries(w, await w.organization(), await browser(t, hands))
  })

// Goal (J5): a place over the scenes of a collection is a line, a table and a file, and all three say the same.
async function timeSeries(w: World, org: Org, chromium: Browser): Promise<void> {
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
  let id = ''
  for (const month of ['03', '05', '07', '09'])
    id = await sceneItem(w, org, `Loire, month ${month}`, { datetime: `2025-${month}-12T10:40:00Z`, collection_id })
  const here = await seat(w, chromium, { acceptDownloads: true })
  const { page } = here
  await journey('series', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/view/${id}?expr=${encodeURIComponent('(b8-b4)/(b8+b4)')}&tab=statistics`)
    await page.getByRole('button', { name: 'Centre', exact: true }).click()
    await page.getByRole('button', { name: 'Show time series' }).click()
    await page.getByRole('img', { name: /^Mean of/ }).waitFor()
    await assertAccessible(page, 'time series')
    await shot(page, 'series')
    const legend = (await page.getByText('viridis').first().boundingBox())!
    const chart = (await page.getByRole('region', { name: 'Time series' }).boundingBox())!
    assert.ok(legend.y + legend.height < chart.y, 'the legend is above the chart')
    await page.reload()
    await page.getByRole('img', { name: /^Mean of/ }).waitFor()
    const series = page.getByRole('region', { name: 'Time series' })
    await series.getByRole('button', { name: 'Table' }).click()
    const cells = await series.getByRole('cell').allTextContents()
    assert.equal(cells.length, 4)
    const csv = await saved(page, () => series.getByRole('button', { name: 'CSV' }).click())
    const rows = csv.split('\r\n').map((line) => line.split(','))
    assert.deepEqual(rows[0], ['datetime', 'item_id', 'A'])
    assert.deepEqual(
      rows.slice(1).map(([, , mean]) => Number(mean).toFixed(3)),
      cells.map((cell) => Number(cell).toFixed(3)),
    )
    assert.deepEqual(
      rows.slice(1).map(([datetime]) => datetime!.slice(0, 7)),
      ['2025-03', '2025-05', '2025-07', '2025-09'],
    )
    await series.getByRole('link', { name: 'Create alert' }).click()
    await page.getByRole('heading', { name: 'New alert' }).waitFor()
    await page.getByText(/of 4/).waitFor()
    assert.equal(await page.locator('#alert-expression').inputValue(), '(b8-b4)/(b8+b4)')
    await page.getByText(/an area of/).waitFor()
  })
  assertOwnBusiness(w, here)
}
