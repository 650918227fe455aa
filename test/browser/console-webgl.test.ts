// Goal: the map follows a handle without a request, as the service would render it, and where a style cannot be applied in the browser
// the service renders it, without anybody noticing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, sceneItem, seat, signIn, type Seat } from './console.ts'

for (const hands of HANDS)
  test(`the console: stretch an item without requests, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await stretch(w, await w.organization(), await browser(t, hands), hands === 'mouse')
  })

test('the console: where a style cannot be applied, the service renders it', { skip: WITHOUT_TIME }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { startAt: new Date().toISOString() })
  const org = await w.organization()
  const chromium = await browser(t)
  const id = await sceneItem(w, org, 'Loire valley, June')
  await t.test('without samples', () => fallback(w, org, chromium, id, (page) => page.route('**/*.bin*', (route) => route.abort())))
  await t.test('on a processor without floats', () => fallback(w, org, chromium, id, (page) => page.addInitScript(WITHOUT_FLOATS)))
  await t.test('after the graphics processor was lost', () => contextLost(w, org, chromium, id))
})

/** As some drivers do: no error, and nothing in the texture. */
const WITHOUT_FLOATS = `{
  const { texSubImage2D } = WebGL2RenderingContext.prototype
  WebGL2RenderingContext.prototype.texSubImage2D = function (...args) {
    if (!args.includes(this.FLOAT)) texSubImage2D.apply(this, args)
  }
}`

const LIVE = '[data-live="item"]'
const isTile = (url: string) => /\/tiles\/\d+\/\d+\/\d+/.test(url)
const isData = (url: string) => isTile(url) && url.includes('.bin')

/** A part of the map that nothing lies over. */
async function mapPicture(page: Page): Promise<Buffer> {
  const { data } = await sharp(await page.screenshot({ clip: { x: 640, y: 300, width: 240, height: 200 } }))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return data
}

/** The mean difference of two pictures, in steps. */
const difference = (a: Buffer, b: Buffer) => a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0) / a.length

const quiet = (page: Page) => page.locator('[aria-busy="false"] canvas').first().waitFor()

async function openStyle(w: World, org: Org, here: Seat, id: string): Promise<void> {
  await signIn(here, org.owner)
  await here.page.goto(`${w.baseUrl}/app/view/${id}`)
  await here.page.locator('.stretch rect[fill="var(--c1)"]').first().waitFor({ state: 'attached' })
  await quiet(here.page)
}

// Goal: samples are requested only when somebody is about to change the range; then a handle is followed without a request, its
// release changes the address and requests nothing, and the picture is the service's own.
async function stretch(w: World, org: Org, chromium: Browser, hasMouse: boolean): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const here = await seat(w, chromium)
  const { page, requests } = here
  await journey('webgl', here, async () => {
    await openStyle(w, org, here, id)
    assert.ok(requests.some((url) => isTile(url) && url.includes('.webp')))
    assert.ok(!requests.some(isData), 'images are enough to look at')
    await page.getByRole('button', { name: 'Single band' }).click()
    await page.waitForURL(/bands=1/)
    await page.getByRole('button', { name: 'Magma', exact: true }).click()
    await page.waitForURL(/cmap=magma/)
    const lowest = page.getByRole('slider', { name: 'Minimum' })
    await lowest.focus()
    await page.locator(LIVE).waitFor()
    await quiet(page)
    assert.ok(requests.some(isData))
    const before = await mapPicture(page)
    const asked = requests.length
    if (hasMouse) await drag(page)
    else for (let press = 0; press < 3; press++) await page.keyboard.press('PageUp')
    await page.waitForURL(/range=/)
    const colors = page.waitForResponse((response) => response.url().includes('cog.colormaps'))
    await page.getByRole('button', { name: 'Viridis', exact: true }).click()
    await page.waitForURL(/cmap=viridis/)
    await colors
    await quiet(page)
    const live = await mapPicture(page)
    assert.deepEqual(requests.slice(asked).filter(isTile), [], 'no tile was requested')
    assert.ok(difference(before, live) > 3, 'the map shows the new range and colours')
    await shot(page, 'webgl')

    // The service's own tiles are back when the range is no longer at hand.
    await page.getByRole('tab', { name: 'Metadata' }).click()
    await page.locator('[data-live=""]').waitFor()
    await quiet(page)
    assert.ok(requests.slice(asked).some((url) => isTile(url) && url.includes('rescale=') && url.includes('viridis')))
    const rendered = await mapPicture(page)
    assert.ok(difference(live, rendered) < 3, `${difference(live, rendered)} steps from the service's image, which is compressed`)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

/** The map follows while the handle is held. */
async function drag(page: Page): Promise<void> {
  const box = (await page.getByRole('slider', { name: 'Minimum' }).boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const before = await mapPicture(page)
  await page.mouse.move(x, y)
  await page.mouse.down()
  for (let step = 1; step <= 12; step++) await page.mouse.move(x + step * 2.5, y)
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  assert.ok(difference(before, await mapPicture(page)) > 1, 'the map changes before the handle is let go')
  assert.ok(!page.url().includes('range='))
  await page.mouse.up()
}

// Goal: the layer of the service stays, and what is changed is requested from it.
async function fallback(w: World, org: Org, chromium: Browser, id: string, prepare: (page: Page) => Promise<unknown>): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await prepare(page)
  await journey('fallback', here, async () => {
    await openStyle(w, org, here, id)
    const tried = page.waitForRequest((request) => isData(request.url()))
    await page.getByRole('slider', { name: 'Minimum' }).focus()
    await tried
    await page.locator('[data-live=""]').waitFor({ state: 'attached' })
    await renderedByService(here)
  })
  await page.context().close()
}

async function renderedByService({ page, requests }: Seat): Promise<void> {
  await quiet(page)
  const before = await mapPicture(page)
  const asked = requests.length
  await page.getByRole('slider', { name: 'Minimum' }).focus()
  for (let press = 0; press < 3; press++) await page.keyboard.press('PageUp')
  await page.waitForURL(/range=/)
  await quiet(page)
  assert.equal(await page.locator('[data-live=""]').count(), 1)
  const tiles = requests.slice(asked).filter(isTile)
  assert.ok(tiles.length > 0 && tiles.every((url) => url.includes('.webp') && url.includes('rescale=')), tiles.join('\n'))
  assert.ok(difference(before, await mapPicture(page)) > 3, 'the map shows the new range')
}

// Goal: what was on the graphics processor is gone with it; the map comes back with the service's images.
async function contextLost(w: World, org: Org, chromium: Browser, id: string): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('context lost', here, async () => {
    await openStyle(w, org, here, id)
    await page.getByRole('slider', { name: 'Minimum' }).focus()
    await page.locator(LIVE).waitFor()
    await quiet(page)
    await page.evaluate(`new Promise((resolve) => {
      const canvas = document.querySelector('[data-live="item"] canvas')
      const extension = canvas.getContext('webgl2').getExtension('WEBGL_lose_context')
      canvas.addEventListener('webglcontextlost', () => requestAnimationFrame(() => extension.restoreContext()))
      canvas.addEventListener('webglcontextrestored', () => resolve(0))
      extension.loseContext()
    })`)
    await page.locator('[data-live=""]').waitFor({ state: 'attached' })
    await renderedByService(here)
  })
  await page.context().close()
}
