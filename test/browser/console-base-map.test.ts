// Goal: imagery never waits for the base map: while its files are held back, areas, footprints and tiles are drawn. Details follow later:
// land, water, borders, relief and names near by, and places that are found by name in any script.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, PATIENT_MS, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'
import { colours, pixelsOf } from './support/pixels.ts'

/** Around the scene, so that both outlines are in view. */
const AREA = encodeURIComponent(boxInAddress([2.27, 48.18, 2.33, 48.22]))
const BASE_MAP = /\/assets\/(?:world-\w+\.json|basemap\/)/
const PASSWORD = 'coral and sand'
/** The outline of the area, and the tint of a footprint on the light map without land; thin lines are blended with what is below them. */
const ORANGE: Colour = (red, green, blue) => red > 200 && green > 120 && green < 200 && blue < 110
const TINT: Colour = (red, green, blue) => red > 130 && red < 200 && green > 165 && green < 215 && blue > 150 && blue < 220 && red < green
const MIN_PIXELS = 40
const MIN_COLOURS = 300
/** Land, water, the shades of slopes and the edges of letters. */
const MIN_BASE_COLOURS = 60

type Colour = (red: number, green: number, blue: number) => boolean

for (const { hands, name, options } of SEATS)
  test(`the console: imagery before the base map, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const org = await w.organization()
    const item = await sceneItem(w, org, 'Loire valley, June')
    const chromium = await browser(t, hands)
    await t.test('on the maps of the console', async () => onConsole(w, org, await seat(w, chromium, options), item))
    await t.test('on a share page', async () => onSharePage(w, org, chromium, item, options))
  })

/** No file of the base map arrives until it is released. */
async function holdBaseMap(page: Page): Promise<() => Promise<void>> {
  const released = Promise.withResolvers<void>()
  await page.route(BASE_MAP, async (route) => {
    await released.promise
    await route.continue().catch(() => undefined) // Its page may have closed.
  })
  return async () => released.resolve()
}

async function onConsole(w: World, org: Org, here: Seat, item: string): Promise<void> {
  const { page, requests } = here
  await journey('base-map', here, async () => {
    await signIn(here, org.owner)
    const release = await holdBaseMap(page)
    await page.goto(`${w.baseUrl}/app/explore?scope=mine&aoi=${AREA}`)
    await page.getByRole('region', { name: 'Scenes' }).getByRole('button', { name: 'Loire valley, June' }).waitFor()
    await page.getByRole('button', { name: 'Area of interest' }).click()
    await until('the area', async () => (await pixelsLike(page, ORANGE)) > MIN_PIXELS, PATIENT_MS)
    await until('the footprint', async () => (await pixelsLike(page, TINT)) > MIN_PIXELS, PATIENT_MS)
    await shot(page, 'base-map-held-explore')
    await page.goto(`${w.baseUrl}/app/view/${item}`)
    await until('tiles of the item', async () => colours(await mapPixels(page)) > MIN_COLOURS, PATIENT_MS)
    assert.ok(requests.some((url) => url.includes(`/items/${item}/tiles/`)))
    assert.ok(
      requests.some((url) => url.endsWith('/world-coarse.json')),
      'coarse land was requested',
    )
    assert.ok(!requests.some((url) => url.endsWith('/world-land.json') || url.includes('/basemap/')), 'details wait until the map is idle')
    await shot(page, 'base-map-held-viewer')
    await release()
    const details = (name: string) => until(name, () => requests.some((url) => url.endsWith(`/world-${name}.json`)), PATIENT_MS)
    await Promise.all([details('land'), details('borders')])
    await page.locator('[aria-busy="false"] > .maplibregl-canvas-container').waitFor({ state: 'attached' })
    await shot(page, 'base-map-released')
    await findPlace(page, requests)
  })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
  assertOwnBusiness(w, here)
}

/** A place is found by a name in another script, and the map there shows more than land. */
async function findPlace(page: Page, requests: readonly string[]): Promise<void> {
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: /^Search places/ })
  await field.fill('zuri')
  await page.getByRole('option', { name: /Zürich Switzerland/ }).waitFor()
  await field.fill('القاهرة')
  await page.getByRole('option', { name: /القاهرة Cairo/ }).waitFor()
  await shot(page, 'base-map-places')
  await page.keyboard.press('Enter')
  await page.waitForURL(/explore\?.*map=31\.\d+%2C30\.\d+%2C10/)
  await page.getByRole('toolbar', { name: 'Area' }).waitFor() // The map has moved to Explore, which has these tools.
  for (const set of ['world', 'relief'])
    await until(`tiles of ${set}`, () => requests.some((url) => url.includes(`/basemap/${set}/`)), PATIENT_MS)
  await page.locator('[aria-busy="false"] > .maplibregl-canvas-container').waitFor({ state: 'attached' })
  await until('a map with names', async () => colours(await mapPixels(page)) > MIN_BASE_COLOURS, PATIENT_MS)
  await shot(page, 'base-map-near')
}

// Goal: visitors of a share link see its imagery as early.
async function onSharePage(w: World, org: Org, chromium: Browser, item: string, options: object): Promise<void> {
  const { token } = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id: item,
    password: PASSWORD,
    expires_at: '2031-01-01T00:00:00Z',
  })
  const context = await chromium.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENT_MS)
  const release = await holdBaseMap(page)
  await page.goto(`${w.baseUrl}/s/${token}`)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await until('tiles of the shared item', async () => colours(await mapPixels(page)) > MIN_COLOURS, PATIENT_MS)
  await shot(page, 'base-map-held-share')
  await Promise.all([page.waitForRequest(/world-names/), release()])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
}

/** The middle of the map; on a phone, what the sheet leaves of it. */
async function mapPixels(page: Page): Promise<Buffer> {
  const box = (await page.locator('.maplibregl-canvas').first().boundingBox())!
  const isPhone = box.width < 760
  const top = box.y + (isPhone ? 70 : 60)
  return await pixelsOf(page, { x: box.x + 10, y: top, width: box.width - 80, height: isPhone ? 240 : box.height - 260 })
}

async function pixelsLike(page: Page, isLike: Colour): Promise<number> {
  const pixels = await mapPixels(page)
  let like = 0
  for (let at = 0; at < pixels.length; at += 3) if (isLike(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)) like++
  return like
}
