// Goal: the browser's Back goes through scenes, tabs and panels before it leaves a screen, and a closed panel stays closed; a reload
// or a link to a screen has its area, filters, style and zoom.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'

const AREA = boxInAddress([2.27, 48.18, 2.33, 48.22])
const MAY = 'Loire valley, May'
const JUNE = 'Loire valley, June'

for (const { hands, name, options } of SEATS)
  test(`the console: the way back, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const org = await w.organization()
    await sceneItem(w, org, MAY, { datetime: '2025-05-12T10:40:00Z' })
    const june = await sceneItem(w, org, JUNE, { datetime: '2025-06-12T10:40:00Z' })
    const here = await seat(w, await browser(t, hands), options)
    await wayBack(w, org, here, june)
  })

async function wayBack(w: World, org: Org, here: Seat, item: string): Promise<void> {
  const { page } = here
  await journey('way-back', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/jobs`)
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
    await page.goto(`${w.baseUrl}/app/explore?scope=mine&aoi=${encodeURIComponent(AREA)}`)
    await throughScenes(page)
    await keptByReload(page)
    await page.goto(`${w.baseUrl}/app/view/${item}`)
    await throughTabs(page)
    await throughPanels(page, item)
    await keptStyle(page)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

const row = (page: Page, name: string) => page.getByRole('region', { name: 'Scenes' }).getByRole('button', { name })
const scene = (page: Page) => page.getByRole('complementary', { name: 'Scene' })
const parameter = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

// Goal: Back shows the scene before, then the list, then leaves; a scene that was closed does not come back, and filters stay.
async function throughScenes(page: Page): Promise<void> {
  await row(page, MAY).click()
  await scene(page).getByText(MAY).first().waitFor()
  const other = scene(page).getByRole('button', { name: /12 Jun/ })
  await other.click()
  await scene(page).getByText(JUNE).first().waitFor()
  await shot(page, 'way-back-scene')
  await page.goBack()
  await scene(page).getByText(MAY).first().waitFor()
  await page.goBack()
  await scene(page).waitFor({ state: 'detached' })
  assert.match(page.url(), /\/app\/explore\?.*aoi=/, 'still on the screen')
  await page.goForward()
  await scene(page).getByText(MAY).first().waitFor()
  await scene(page).getByRole('button', { name: 'Close scene' }).click()
  await scene(page).waitFor({ state: 'detached' })
  await row(page, MAY).waitFor()
  assert.equal(parameter(page, 'aoi'), AREA)
  await page.goBack()
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
  await page.goForward()
  await row(page, MAY).waitFor()
  assert.equal(await scene(page).count(), 0, 'a closed scene does not come back')
}

// Goal: what was chosen on the screen is in its URL; a reload and another tab show it.
async function keptByReload(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Area of interest' }).click()
  await page.waitForURL((url) => url.searchParams.has('map'))
  await page.getByRole('button', { name: 'Any cloud cover' }).click()
  await page.getByLabel(/At most/).press('ArrowLeft')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Cloud ≤ 95%' }).waitFor()
  await page.getByRole('combobox', { name: 'Sort' }).selectOption('clearest')
  const before = parameter(page, 'map')
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.waitForURL((url) => url.searchParams.get('map') !== before)
  const { href } = new URL(page.url())
  const scale = await scaleOf(page)
  const asBefore = async (other: Page) => {
    await row(other, MAY).waitFor()
    await other.getByRole('button', { name: 'Cloud ≤ 95%' }).waitFor()
    await other.getByRole('button', { name: 'Area of interest' }).waitFor()
    assert.equal(await other.getByRole('combobox', { name: 'Sort' }).inputValue(), 'clearest')
    await other.locator('.maplibregl-ctrl-scale', { hasText: scale }).waitFor()
    assert.equal(new URL(other.url()).search, new URL(href).search)
  }
  await page.reload()
  await asBefore(page)
  const second = await page.context().newPage()
  await second.goto(href)
  await asBefore(second)
  await second.close()
}

/** What a bar of the scale measures: another zoom has another one. */
const scaleOf = async (page: Page) => (await page.locator('.maplibregl-ctrl-scale').textContent())!

const tab = (page: Page, name: string) => page.getByRole('tab', { name, selected: true })

async function throughTabs(page: Page): Promise<void> {
  await page.getByRole('heading', { name: JUNE, level: 1 }).waitFor()
  await page.getByRole('tab', { name: 'Pixel' }).click()
  await tab(page, 'Pixel').waitFor()
  await page.getByRole('tab', { name: 'Metadata' }).click()
  await tab(page, 'Metadata').waitFor()
  await page.goBack()
  await tab(page, 'Pixel').waitFor()
  await page.goBack()
  await tab(page, 'Style').waitFor()
  await page.goForward()
  await page.goForward()
  await tab(page, 'Metadata').waitFor()
}

// Goal: a panel opens as an entry of the history: Back closes it, and after it was closed by hand Back does not open it again.
async function throughPanels(page: Page, item: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: /^Use/ })
  const open = page.getByRole('button', { name: 'Show URLs' })
  await open.click()
  await dialog.waitFor()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await tab(page, 'Metadata').waitFor()
  await open.click()
  await dialog.getByRole('button', { name: 'Leaflet' }).click()
  await page.waitForURL(/use=leaflet/)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.waitForURL((url) => url.pathname.endsWith(item) && !url.searchParams.has('use') && url.searchParams.get('tab') === 'metadata')
  await page.goBack()
  await tab(page, 'Pixel').waitFor()
  assert.equal(await dialog.count(), 0, 'a closed panel does not come back')
}

async function keptStyle(page: Page): Promise<void> {
  await page.goBack()
  await tab(page, 'Style').waitFor()
  await page.getByRole('button', { name: 'Expression' }).click()
  await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true }).click()
  await page.locator('.legend').getByText('NDVI', { exact: true }).waitFor()
  const before = parameter(page, 'map')
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.waitForURL((url) => url.searchParams.has('map') && url.searchParams.get('map') !== before)
  const scale = await scaleOf(page)
  const { search } = new URL(page.url())
  await page.reload()
  await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true, pressed: true }).waitFor()
  await page.locator('.legend').getByText('NDVI', { exact: true }).waitFor()
  await page.locator('.maplibregl-ctrl-scale', { hasText: scale }).waitFor()
  assert.equal(new URL(page.url()).search, search)
}
