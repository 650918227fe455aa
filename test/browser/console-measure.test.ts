// Goal: a file becomes a picture, the picture numbers, the numbers a table to take along, and a stranger sees it.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import convert from '../../src/domains/uploads/convert.task.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, watchedPage, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, saved, sceneBytes, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: measure and share, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    // Links end by the browser's clock: the service has the same.
    const w = await world(t, { startAt: new Date().toISOString() })
    await uploadToShare(w, await w.organization(), await browser(t, hands))
  })

/** As a person reads a cell: three digits behind the point. */
const close = (a: number, b: number) => Math.abs(a - b) < 1e-9 + Math.abs(b) * 1e-6

// Goal (J5, J7, J11): the numbers of a place are those of analytics.execute, in the table and in the file; the link opens for somebody
// who has no account, each time is counted, and it does not open after its end.
async function uploadToShare(w: World, org: Org, chromium: Browser): Promise<void> {
  const { bytes, scene } = await sceneBytes()
  const file = path.join(w.dataDir, 'Loire flight.tif')
  await writeFile(file, bytes)
  const here = await seat(w, chromium, { acceptDownloads: true })
  const { page } = here
  await journey('measure', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.locator('input[type=file]:enabled').setInputFiles([file])
    const open = page.getByRole('link', { name: 'Open', exact: true })
    const until = Date.now() + PATIENT_MS
    while (!(await open.isVisible()) && Date.now() < until) await w.drain(convert)
    await open.click()
    await page.waitForURL(/\/app\/view\//)
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    const bands = scene.bands.map(({ name }) => name)
    const number = (name: string) => bands.indexOf(name) + 1
    await page.getByRole('button', { name: 'Expression' }).click()
    const expression = `(b${number('nir') || 8} - b${number('red') || 4}) / (b${number('nir') || 8} + b${number('red') || 4})`
    await page.getByLabel(/^Expression/).fill(expression)
    await page.getByText('Valid', { exact: true }).waitFor()
    await page.locator('.stretch rect[fill="var(--c1)"]').first().waitFor({ state: 'attached' })
    await shot(page, 'stretch')

    await page.getByRole('tab', { name: 'Statistics' }).click()
    await page.getByRole('button', { name: 'Centre', exact: true }).click()
    await page.getByRole('rowheader', { name: 'Mean' }).waitFor()
    await page.getByRole('img', { name: /^Histogram of/ }).waitFor()
    await page.getByRole('button', { name: 'Centre', exact: true }).click()
    await page.getByRole('columnheader', { name: 'B', exact: true }).waitFor()
    await assertAccessible(page, 'statistics')
    await shot(page, 'statistics')
    const csv = await saved(page, () => page.getByRole('button', { name: 'Download CSV' }).click())
    const [head, mean] = csv.split('\r\n').map((line) => line.split(','))
    assert.deepEqual(head, ['result', 'measure', 'A', 'B'])
    await page.reload()
    await page.getByRole('columnheader', { name: 'B', exact: true }).waitFor()
    const asked = here.requests.findLast((url) => url.endsWith('analytics.execute'))
    assert.ok(asked, 'the numbers come from analytics.execute')
    const shapes = await zonesOf(page)
    const { result } = await w.ok(org.owner.token, 'analytics.execute', {
      operation: 'zonal_stats',
      params: { item_id: id, geometry: shapes[0], expression, statistics: ['mean'] },
    })
    assert.ok(close(Number(mean!.at(2)), result.zones[0].results[0].mean), `${mean!.at(2)} is ${result.zones[0].results[0].mean}`)

    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const password = await page.getByRole('dialog').getByRole('textbox', { name: 'Password' }).inputValue()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = (await page.getByLabel('Share link').textContent())!
    await assertAccessible(page, 'share dialog')
    for (const visits of ['1 time', '2 times']) {
      await visit(chromium, link, password)
      const looker = await page.context().newPage()
      await looker.goto(`${w.baseUrl}/app/shares`)
      await looker.getByText(`opened ${visits}, last`).waitFor({ timeout: PATIENT_MS })
      await looker.close()
    }
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('No active links.').waitFor()
    assert.equal((await w.post('/v1/op/share.link.validate', { token: link.split('/').at(-1), password })).status, 401)
  })
  assertOwnBusiness(w, here)
}

/** Somebody without an account opens the link, each time from a browser that has never seen it. */
async function visit(chromium: Browser, link: string, password: string): Promise<void> {
  const stranger = await watchedPage(chromium)
  stranger.page.setDefaultTimeout(PATIENT_MS)
  await stranger.page.goto(link)
  await stranger.page.getByLabel('Password', { exact: true }).fill(password)
  await stranger.page.getByRole('button', { name: 'Open', exact: true }).click()
  await stranger.page.getByRole('heading', { name: /Loire flight/ }).waitFor()
  await stranger.page.locator('#map[aria-busy="false"]').waitFor()
  assert.deepEqual(stranger.faults, [])
  await stranger.page.context().close()
}

/** The places as the page asked about them. */
async function zonesOf(page: Page): Promise<object[]> {
  const [request] = await Promise.all([
    page.waitForRequest((request) => request.url().endsWith('/v1/op/analytics.execute')),
    page.getByRole('button', { name: 'Centre', exact: true }).click(),
  ])
  const { params } = request.postDataJSON() as { params: { zones: { features: { geometry: object }[] } } }
  return params.zones.features.map(({ geometry }) => geometry)
}
