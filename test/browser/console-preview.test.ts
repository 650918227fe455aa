// Goal: before anything is bought, several previews are on the map at their true place, two of them are compared by swiping, open
// scenes are shown in any style, and the cart says how much of the area it covers, as the service computes it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, PHONE, seat, SEATS, signIn, type Seat } from './console.ts'
import { EARTH_SEARCH, EDGES, openImagery } from './open-imagery.ts'
import { boxInAddress } from './support/address.ts'
import { colours, difference, pixelsOf } from './support/pixels.ts'

const BOX: [number, number, number, number] = [2.3, 48.2, 2.41, 48.26]
const SEARCH = { aoi: boxInAddress(BOX), sources: 'sandbox-vhr.sandbox-open', from: '2029-12-30' }
const MIN_COLOURS = 250
const MIN_DIFFERENCE = 15

for (const { hands, name, options } of SEATS)
  test(`the console: previews before a purchase, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const org = await w.organization()
    const here = await seat(w, await browser(t, hands), options)
    const { page } = here
    await journey('preview', here, async () => {
      await signIn(here, org.owner)
      await page.goto(`${w.baseUrl}/app/explore?${new URLSearchParams(SEARCH).toString()}`)
      await page.getByText(/from 2 of 2 sources/).waitFor()
      await several(here)
      await swipe(page)
      await cart(w, org, page)
      await anyStyle(here)
    })
    await page.context().close()
    assertOwnBusiness(w, here)
  })

const list = (page: Page) => page.getByRole('region', { name: 'Scenes' })
const panel = (page: Page) => page.getByRole('region', { name: 'Previews on the map' })
const isPhone = (page: Page) => page.viewportSize()!.width === PHONE.viewport.width

/** What panels leave of the map. */
async function mapPixels(page: Page, part: 'all' | 'left' | 'right' = 'all'): Promise<Buffer> {
  const box = (await page.locator('.maplibregl-canvas').first().boundingBox())!
  const half = isPhone(page) ? 60 : 110
  const centre = box.x + box.width / 2
  const x = part === 'right' ? centre + 30 : part === 'left' ? centre - 30 - half : centre - half
  return await pixelsOf(page, {
    x,
    y: box.y + (isPhone(page) ? 215 : 130),
    width: part === 'all' ? 2 * half : half,
    height: isPhone(page) ? 60 : 160,
  })
}

/** A group at once; each picture is read through the service, and what is on the map is in the address. */
async function several({ page, requests }: Seat): Promise<void> {
  const heading = list(page)
    .getByRole('heading', { level: 3 })
    .filter({ hasText: /very high resolution/i })
    .first()
  const before = colours(await mapPixels(page))
  await heading.getByRole('button', { name: 'Preview this group on the map' }).click()
  await panel(page)
    .getByText(/^\d+ previews$/)
    .waitFor()
  const shown = new URL(page.url()).searchParams.get('show')!.split(' ')
  assert.ok(shown.length > 2 && shown.length <= 12, `${shown.length} previews`)
  await until('previews on the map', async () => colours(await mapPixels(page)) > Math.max(MIN_COLOURS, 2 * before), PATIENT_MS)
  assert.ok(requests.filter((url) => url.endsWith('/quicklook')).length >= shown.length)
  await shot(page, 'preview-several')
  await assertAccessible(page, 'previews on the map')
  await page.reload()
  await panel(page).getByText(`${shown.length} previews`).waitFor()
  await panel(page).getByRole('button', { name: 'Clear' }).click()
  await panel(page).waitFor({ state: 'detached' })
}

/** Two days of one place, with the divider moved by keys. */
async function swipe(page: Page): Promise<void> {
  await page.goto(page.url().replace(/&(?:sources|from)=[^&]*/g, '') + '&sources=sandbox-open&from=2029-12-01&cloud=100')
  await page.getByText(/from 1 of 1 source/).waitFor()
  const previews = list(page).getByRole('button', { name: /^Preview on the map, / })
  await previews.nth(0).click()
  await previews.nth(1).click()
  await panel(page).getByText('2 previews').waitFor()
  await panel(page).getByRole('button', { name: 'Swipe' }).click()
  const divider = page.getByRole('slider', { name: 'Divider between the scenes' })
  await divider.waitFor()
  assert.match(page.url(), /swipe=/)
  // The day on the right is cloudy, the one on the left is clear.
  const differs = async () => difference(await mapPixels(page, 'left'), await mapPixels(page, 'right')) > MIN_DIFFERENCE
  await until('different scenes on both sides', differs, PATIENT_MS)
  await page.locator('[aria-busy="false"]:has(> .maplibregl-canvas-container)').first().waitFor()
  const right = await mapPixels(page, 'right')
  await shot(page, 'preview-swipe')
  await divider.focus()
  for (let step = 0; step < 5; step++) await page.keyboard.press('Shift+ArrowRight')
  assert.equal(await divider.getAttribute('aria-valuenow'), '100')
  await until('only the left scene', async () => difference(right, await mapPixels(page, 'right')) > MIN_DIFFERENCE, PATIENT_MS)
  await assertAccessible(page, 'two scenes with a divider')
  await panel(page).getByRole('button', { name: 'End swipe' }).click()
  await divider.waitFor({ state: 'detached' })
  await panel(page).getByRole('button', { name: 'Clear' }).click()
}

/** The share grows with each scene and is the service's. */
async function cart(w: World, org: Org, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?${new URLSearchParams({ ...SEARCH, sources: 'sandbox-vhr' }).toString()}`)
  await page.getByText(/from 1 of 1 source/).waitFor()
  await list(page).getByRole('heading', { level: 3 }).getByRole('button').first().click()
  const ticks = list(page).getByRole('checkbox', { name: /^Order / })
  const status = page.getByRole('status').filter({ hasText: 'of your area' })
  const shares: number[] = []
  for (const index of [0, 1, 2]) {
    await ticks.nth(index).check()
    await until(
      'a share that counts the scene',
      async () => {
        const share = Number(/([\d.]+)%/.exec(await status.innerText().catch(() => ''))?.[1])
        if (!(share > (shares.at(-1) ?? 0))) return false
        shares[index] = share
        return true
      },
      PATIENT_MS,
    )
  }
  await shot(page, 'preview-coverage')
  await assertAccessible(page, 'the coverage of a cart')
  const chosen = (await page.evaluate('localStorage.getItem("gt-cart")')) as string
  const footprints = (JSON.parse(chosen) as { geometry: object }[]).map(({ geometry }) => geometry)
  const [west, south, east, north] = BOX
  const area = {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
  const { covered_percent } = await w.ok(org.owner.token, 'catalog.coverage', { area, footprints })
  assert.ok(Math.abs(covered_percent - shares[2]!) < 0.2, `${covered_percent} is shown as ${shares[2]}`)
}

async function anyStyle({ page, requests }: Seat): Promise<void> {
  await page.goto(page.url().replace('sandbox-vhr', 'sandbox-open'))
  await page.getByText(/from 1 of 1 source/).waitFor()
  await list(page).getByRole('listitem').getByRole('button').first().click()
  const style = page.getByRole('region', { name: 'Scene on the map' })
  const more = style.getByRole('combobox', { name: 'More styles' })
  await more.waitFor()
  const others = await more.locator('option:not([disabled])').allTextContents()
  assert.ok(others.length > 3, others.join())
  await more.selectOption({ label: others[0]! })
  await page.waitForURL(/style=/)
  const chosen = new URL(page.url()).searchParams.get('style')!
  await until('tiles in that style', () => requests.some((url) => url.includes(`visualization=${chosen}`)), PATIENT_MS)
  await style.getByRole('button', { name: 'Expression' }).click()
  await style.getByRole('textbox', { name: 'Expression' }).fill('(nir-red)/(nir+red)')
  await style.getByRole('button', { name: 'Apply' }).click()
  await until('tiles of the expression', () => requests.some((url) => url.includes('expression=%28nir-red%29')), PATIENT_MS)
  await until('an image', async () => colours(await mapPixels(page)) > 40, PATIENT_MS)
  await shot(page, 'preview-expression')
  await assertAccessible(page, 'a style of an open scene')
}

for (const hands of HANDS)
  test(`the console: clouds over the area, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    const w = await openImagery(t)
    const org = await w.organization()
    const here = await seat(w, await browser(t, hands))
    const { page } = here
    await journey('preview-clouds', here, async () => {
      await signIn(here, org.owner)
      const area = boxInAddress([EDGES.West, EDGES.South, EDGES.East, EDGES.North])
      const search = new URLSearchParams({ aoi: area, sources: EARTH_SEARCH, from: '2029-11-01', sensors: 'optical' })
      await page.goto(`${w.baseUrl}/app/explore?${search.toString()}`)
      await page.getByText(/from 1 of 1 source/).waitFor()
      await list(page)
        .getByRole('button', { name: /Sentinel-2/ })
        .first()
        .click()
      await page
        .getByRole('complementary', { name: 'Scene' })
        .getByText(/^\d+% over your area/)
        .waitFor()
      await page
        .getByRole('complementary', { name: 'Scene' })
        .getByText(/% of the scene$/)
        .waitFor()
      await shot(page, 'preview-clouds')
    })
    await page.context().close()
    assertOwnBusiness(w, here)
  })
