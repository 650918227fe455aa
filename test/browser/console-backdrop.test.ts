// Goal: every map has a switch between the built-in map, the operator's base maps and the organization's own imagery; the choice
// follows its member to other devices, a map that fails leaves the built-in one with a quiet notice, and no key reaches the browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { MAP_KEY, mapHost, type MapHost } from '../support/map-host.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'
import { pixelsOf } from './support/pixels.ts'

const PASSWORD = 'coral and sand'
/** Nothing else on a map has this colour. */
const VIOLET = '#8a2be2'
const FAR = 'map=-40,-30,4'

interface Stage {
  w: World
  org: Org
  item: string
  satellite: MapHost
  streets: MapHost
}

for (const { hands, name, options } of SEATS)
  test(`the console: what lies behind imagery, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const [satellite, streets] = [await mapHost(t, VIOLET), await mapHost(t, VIOLET)]
    streets.status = 403
    const w = await world(t, {
      baseMaps: [streets.setting('streets', 'Streets'), satellite.setting('satellite', 'Satellite')],
      egressAllow: [satellite.host, streets.host],
    })
    const org = await w.organization()
    const item = await sceneItem(w, org, 'Loire valley, June')
    const stage = { w, org, item, satellite, streets }
    const chromium = await browser(t, hands)
    const here = await seat(w, chromium, options)
    await journey('backdrop', here, async () => {
      await signIn(here, org.owner)
      await chosen(stage, here)
      await onOtherDevice(stage, chromium, options)
      await unavailable(stage, here.page)
      await ownImagery(stage, here)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
    await journey('backdrop-share', here, () => onSharePage(stage, chromium, options))
  })

const button = (page: Page) => page.getByRole('button', { name: /^Base map: / })

async function choose(page: Page, name: string): Promise<void> {
  await button(page).click()
  await page.getByRole('menu', { name: 'Base map' }).getByRole('menuitem', { name }).click()
}

/** The share of violet pixels in the part of the map that nothing covers. */
async function violet(page: Page): Promise<number> {
  const box = (await page.locator('.maplibregl-canvas').first().boundingBox())!
  const isPhone = box.width < 760
  const pixels = await pixelsOf(page, {
    x: box.x + box.width / 2 - 60,
    y: box.y + (isPhone ? 170 : box.height / 2 - 60),
    width: 120,
    height: 100,
  })
  let like = 0
  for (let at = 0; at < pixels.length; at += 3)
    if (Math.abs(pixels[at]! - 138) < 40 && pixels[at + 1]! < 90 && pixels[at + 2]! > 180) like++
  return like / (pixels.length / 3)
}

/** One choice for the maps of all screens; the attribution names whose map it is, and the layers of the viewer its name. */
async function chosen({ w, item, satellite }: Stage, { page, requests }: Seat): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?${FAR}`)
  await button(page).waitFor()
  await until(
    'the names of base maps',
    async () => {
      await button(page).click()
      const isThere = await page.getByRole('menuitem', { name: 'Satellite' }).isVisible()
      if (isThere) await assertAccessible(page, 'the menu of base maps')
      if (isThere) await shot(page, 'backdrop-menu')
      await page.keyboard.press('Escape')
      return isThere
    },
    PATIENT_MS,
  )
  await choose(page, 'Satellite')
  await until('the satellite map', async () => (await violet(page)) > 0.8, PATIENT_MS)
  await button(page)
    .and(page.getByRole('button', { name: 'Base map: Satellite' }))
    .waitFor()
  await shot(page, 'backdrop-satellite')
  await page.locator('.maplibregl-ctrl-attrib').getByText('© Satellite example').waitFor({ state: 'attached' })
  assert.ok(
    satellite.asked.every((url) => url.includes(MAP_KEY)),
    'the key is sent',
  )
  assert.ok(!requests.some((url) => url.includes(MAP_KEY) || url.includes(satellite.host)), 'by the service')
  await page.goto(`${w.baseUrl}/app/view/${item}`)
  await page.getByRole('button', { name: 'Base map: Satellite' }).waitFor()
  if (page.viewportSize()!.width > 760) await page.getByText('Satellite', { exact: true }).waitFor()
  await shot(page, 'backdrop-viewer')
  await page.goto(`${w.baseUrl}/app/library?view=map`)
}

/** The choice belongs to the member, not to the browser. */
async function onOtherDevice({ w, org }: Stage, chromium: Browser, options: object): Promise<void> {
  const there = await seat(w, chromium, options)
  await signIn(there, org.owner)
  await there.page.goto(`${w.baseUrl}/app/explore?${FAR}`)
  await there.page.getByRole('button', { name: 'Base map: Satellite' }).waitFor()
  await until('the satellite map on another device', async () => (await violet(there.page)) > 0.8, PATIENT_MS)
  await there.page.context().close()
  assert.deepEqual(there.faults, [])
}

async function unavailable({ w, streets }: Stage, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?${FAR}`)
  await page.getByRole('button', { name: 'Base map: Satellite' }).waitFor()
  await choose(page, 'Streets')
  await page.getByText('Streets is unavailable. Showing the built-in map.').waitFor()
  await until('the built-in map', async () => (await violet(page)) < 0.05, PATIENT_MS)
  assert.ok(streets.asked.length > 0)
  await assertAccessible(page, 'a base map that is unavailable')
  await shot(page, 'backdrop-unavailable')
  await choose(page, 'Built-in map')
  await page.getByText('Streets is unavailable').waitFor({ state: 'detached' })
}

async function ownImagery({ w, org, item }: Stage, { page, requests }: Seat): Promise<void> {
  await choose(page, 'Choose imagery')
  const dialog = page.getByRole('dialog', { name: 'Imagery behind all maps' })
  await dialog.getByRole('button', { name: 'Loire valley, June' }).waitFor()
  await assertAccessible(page, 'imagery to choose')
  await shot(page, 'backdrop-imagery')
  await dialog.getByRole('button', { name: 'Loire valley, June' }).click()
  await page.getByRole('button', { name: 'Base map: Loire valley, June' }).waitFor()
  await page.goto(`${w.baseUrl}/app/explore?map=2.3,48.2,12&aoi=&scope=mine`)
  const before = requests.length
  await page.reload()
  await until('tiles of the item', () => requests.slice(before).some((url) => url.includes(`/items/${item}/tiles/`)), PATIENT_MS)
  const { backdrop } = await w.ok(org.owner.token, 'visualization.backdrop.get', {})
  assert.deepEqual(backdrop, { kind: 'item', id: item, name: 'Loire valley, June' })
}

/** Visitors of a share link have the switch too, after the imagery. */
async function onSharePage({ w, org, item, satellite }: Stage, chromium: Browser, options: object): Promise<void> {
  const { token } = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id: item,
    password: PASSWORD,
    expires_at: '2031-01-01T00:00:00Z',
  })
  const { page, requests, faults } = await watchedPage(chromium, { viewport: { width: 1440, height: 900 }, ...options })
  page.setDefaultTimeout(PATIENT_MS)
  await page.goto(`${w.baseUrl}/s/${token}`)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  const choice = page.getByRole('combobox', { name: 'Base map' })
  await choice.waitFor()
  const first = (part: string) => requests.findIndex((url) => url.includes(part))
  assert.ok(first('/tiles/') < first('share-base-map.ts') && first('/tiles/') < first('/basemap/'), 'imagery comes before the base map')
  await until('tiles of the base map', () => requests.some((url) => url.includes('/basemap/world/')), PATIENT_MS)
  await shot(page, 'backdrop-share')
  await choice.selectOption({ label: 'Satellite' })
  await until('tiles of the satellite map', () => requests.some((url) => url.includes('/assets/maps/satellite/tiles/')), PATIENT_MS)
  await choice.selectOption({ label: 'Streets' })
  await page.getByText('Streets is unavailable.').waitFor()
  await assertAccessible(page, 'the share page with base maps')
  assert.ok(!requests.some((url) => url.includes(MAP_KEY) || url.includes(satellite.host)))
  await page.context().close()
  assert.deepEqual(faults, [])
}
