// Goal: a file becomes a picture, the picture numbers, the numbers a table to take along; a stranger sees it, a viewer changes nothing.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import type { Browser, Download, Page } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import convert from '../../src/domains/uploads/convert.task.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneBytes, sceneItem, seat, signIn } from './console.ts'

test('the console: measure and share', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  // Links end by the browser's clock: the service has the same.
  const w = await world(t, { startAt: new Date().toISOString() })
  const chromium = await browser(t)
  await t.test('upload, NDVI, statistics, share', async () => uploadToShare(w, await w.organization(), chromium))
  await t.test('a time series', async () => timeSeries(w, await w.organization(), chromium))
  await t.test('a viewer', async () => viewer(w, await w.organization(), chromium))
})

const saved = async (page: Page, press: () => Promise<void>): Promise<string> => {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return await readFile(await (download as Download).path(), 'utf8')
}

/** As a person reads a cell: three digits behind the point. */
const close = (a: number, b: number) => Math.abs(a - b) < 1e-9 + Math.abs(b) * 1e-6

// Goal (J5, J7, J11): the numbers of a place are those of analytics.execute, in the table and in the file; the link opens for somebody
// who has no account, and not after its end.
async function uploadToShare(w: World, org: Org, chromium: Browser): Promise<void> {
  const { bytes, scene } = await sceneBytes()
  const file = path.join(w.dataDir, 'Loire flight.tif')
  await writeFile(file, bytes)
  const here = await seat(w, chromium, { acceptDownloads: true })
  const { page } = here
  await journey('measure', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.locator('input[type=file]').setInputFiles([file])
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
    await page.getByText('valid', { exact: true }).waitFor()
    await page.locator('.stretch rect[fill="var(--c1)"]').first().waitFor({ state: 'attached' })
    await shot(page, 'stretch')

    await page.getByRole('tab', { name: 'Statistics' }).click()
    await page.getByRole('button', { name: 'The middle' }).click()
    await page.getByRole('rowheader', { name: 'Mean' }).waitFor()
    await page.getByRole('img', { name: /^Histogram of/ }).waitFor()
    await page.getByRole('button', { name: 'The middle' }).click()
    await page.getByRole('columnheader', { name: 'B', exact: true }).waitFor()
    await assertAccessible(page, 'statistics')
    await shot(page, 'statistics')
    const csv = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click())
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
    const password = await page.getByRole('dialog').getByLabel('Password').inputValue()
    await page.getByRole('button', { name: 'Make the link' }).click()
    const link = (await page.getByLabel('Share link').textContent())!
    await assertAccessible(page, 'share dialog')
    const stranger = await watchedPage(chromium)
    await stranger.page.goto(link)
    await stranger.page.getByLabel('Password', { exact: true }).fill(password)
    await stranger.page.getByRole('button', { name: 'Open', exact: true }).click()
    await stranger.page.getByRole('heading', { name: /Loire flight/ }).waitFor({ timeout: PATIENT_MS })
    await stranger.page.locator('#map[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })
    assert.deepEqual(stranger.faults, [])
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByText('Not shared.').waitFor()
    assert.equal((await w.post('/v1/op/share.link.validate', { token: link.split('/').at(-1), password })).status, 401)
  })
  assertOwnBusiness(w, here)
}

/** The places as the page asked about them. */
async function zonesOf(page: Page): Promise<object[]> {
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().endsWith('/v1/op/analytics.execute')),
    page.getByRole('button', { name: 'The middle' }).click(),
  ])
  const { params } = request.postDataJSON() as { params: { zones: { features: { geometry: object }[] } } }
  return params.zones.features.map(({ geometry }) => geometry)
}

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
    await page.getByRole('button', { name: 'The middle' }).click()
    await page.getByRole('button', { name: 'Over time, in this collection' }).click()
    await page.getByRole('img', { name: /^Mean of/ }).waitFor()
    await assertAccessible(page, 'time series')
    await shot(page, 'series')
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
    await series.getByRole('link', { name: 'Alert' }).click()
    await page.getByRole('heading', { name: 'New alert' }).waitFor()
    await page.getByText(/of 4/).waitFor()
    assert.equal(await page.locator('#alert-expression').inputValue(), '(b8-b4)/(b8+b4)')
    await page.getByText(/an area of/).waitFor()
  })
  assertOwnBusiness(w, here)
}

// Goal (J13): a viewer sees what there is, and no button that may not be pressed.
async function viewer(w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const { alert_rule } = await w.ok(org.owner.token, 'alerts.create_rule', {
    name: 'Green again',
    expression: '(b8-b4)/(b8+b4)',
    comparison: 'gt',
    threshold: -0.9,
  })
  await w.ok(org.owner.token, 'items.update', { item_id: id, name: 'Loire valley in June' })
  const who = await w.member(org, 'viewer')
  const here = await seat(w, chromium)
  const { page } = here
  const none = async (...names: string[]) => {
    for (const name of names) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
      assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name)
    }
  }
  await journey('viewer', here, async () => {
    await signIn(here, who)
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('button', { name: 'Copy tile address' }).waitFor()
    await none('Save as profile', 'Share')
    await page.goto(`${w.baseUrl}/app/view/${id}?tab=metadata`)
    await page.getByRole('tab', { name: 'Metadata', selected: true }).waitFor()
    await none('Delete the item', 'Save')
    await page.goto(`${w.baseUrl}/app/library`)
    await page.getByText('Loire valley in June').first().waitFor()
    await none('Upload', 'New collection')
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.getByText('You may look, not upload').waitFor()
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByText('Billing is for owners and admins').waitFor()
    await page.goto(`${w.baseUrl}/app/alerts`)
    await page.getByRole('link', { name: 'Green again' }).waitFor()
    await none('New alert')
    assert.equal(await page.getByRole('switch').count(), 0)
    await page.goto(`${w.baseUrl}/app/alerts/${alert_rule.id}`)
    await page.getByRole('heading', { name: 'Green again' }).waitFor()
    await none('Change', 'Delete', 'Acknowledge')
    await page.goto(`${w.baseUrl}/app/alerts/new`)
    await page.getByText('Viewers see alerts and cannot change them').waitFor()
    await page.goto(`${w.baseUrl}/app/develop/webhooks`)
    await page.getByText('No endpoint yet').waitFor()
    await none('Add endpoint', 'Send test')
  })
  assertOwnBusiness(w, here)
}
