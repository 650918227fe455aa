// Goal: found scenes are limited by coverage of the area and by price, in the list and in the URL; how many are hidden is said, and one
// click shows them again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'

const AREA = boxInAddress([2.3, 48.2, 2.31, 48.206])
const SEARCH = { aoi: AREA, sources: 'sandbox-hr.sandbox-open', from: '2029-12-22', to: '2029-12-31' }

for (const { hands, name, options } of SEATS)
  test(`the console: filters of the list, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    await filters(w, await w.organization(), await seat(w, await browser(t, hands), options))
  })

const rows = (page: Page) => page.getByRole('region', { name: 'Scenes' }).getByRole('listitem')
const free = (page: Page) => rows(page).filter({ hasText: 'Free' })

async function filters(w: World, org: Org, here: Seat): Promise<void> {
  const { page } = here
  await journey('filters', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/explore?${new URLSearchParams(SEARCH).toString()}`)
    await page.getByText(/from 2 of 2 sources/).waitFor()
    await until('prices', async () => (await rows(page).filter({ hasText: '…' }).count()) === 0, PATIENT_MS)
    const [all, open] = [await rows(page).count(), await free(page).count()]
    assert.ok(open > 0 && open < all, `${open} of ${all} scenes are free`)

    await page.getByRole('button', { name: 'Any price' }).click()
    await page.getByLabel('Maximum price (A$)').fill('0')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText(`, ${all - open} hidden`).waitFor()
    assert.deepEqual([await rows(page).count(), await free(page).count()], [open, open])
    await shot(page, 'filters')
    await assertAccessible(page, 'filters')
    await page.reload()
    await page.getByText(`, ${all - open} hidden`).waitFor()
    await page.getByRole('button', { name: '≤ A$0' }).click()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await until('all scenes', async () => (await rows(page).count()) === all, PATIENT_MS)

    // What is left covers the whole area.
    await page.getByRole('button', { name: 'Any coverage' }).click()
    await page.getByLabel(/Covers at least/).press('End')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.waitForURL(/cover=100/)
    const whole = rows(page).filter({ hasText: '100% of area' })
    assert.equal(await rows(page).count(), await whole.count())
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}
