// Goal: several images are put together as a map, in an order, in groups and blended; the map is saved, shared and found again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, watchedPage, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, LONG_MS, PATIENT_MS, sceneItem, seat, settled, signIn } from './console.ts'
import { difference, pixelsOf } from './support/pixels.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const SHAPES = JSON.stringify({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', properties: { name: HOSTILE }, geometry: { type: 'Point', coordinates: [2.3, 48.2] } }],
})

for (const hands of HANDS)
  test(`the console: named maps, by ${hands}`, { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await maps(w, await w.organization(), await browser(t, hands), hands)
  })

/** The middle of the map, right of the panel. */
async function middle(page: Page): Promise<Buffer> {
  const { width, height } = page.viewportSize()!
  return await pixelsOf(page, { x: width / 2 + 130, y: height / 2 - 60, width: 120, height: 120 })
}

const order = (page: Page) =>
  page
    .getByRole('list', { name: 'Layers, from top to bottom' })
    .getByRole('button', { name: /^Move / })
    .evaluateAll((handles) => handles.map((handle) => (handle as unknown as { ariaLabel: string }).ariaLabel))

/** The map has the focus: Enter sets its centre, the arrow keys move it, and the same place twice ends the line. */
async function drawByKeys(page: Page): Promise<void> {
  const canvas = page.locator('canvas.maplibregl-canvas').first()
  await until('the map has the focus', async () => await canvas.evaluate((element) => element.matches(':focus')))
  await page.keyboard.press('Enter')
  await page
    .getByRole('status')
    .filter({ hasText: /^1 point$/ })
    .waitFor()
  const before = new URL(page.url()).searchParams.get('map')
  await page.keyboard.press('ArrowRight')
  await page.waitForURL((url) => url.searchParams.get('map') !== before)
  await settled(page)
  await page.keyboard.press('Enter')
  await page
    .getByRole('status')
    .filter({ hasText: /^2 points$/ })
    .waitFor()
  await page.keyboard.press('Enter')
}

// Goal: a comment is written as text, about an annotation, and is changed, resolved and opened again; a deletion can be undone.
async function comments(page: Page): Promise<void> {
  const section = page.getByRole('region', { name: 'Comments' })
  await section.getByLabel('About').selectOption('Track')
  await section.getByLabel('New comment').fill(HOSTILE)
  await section.getByRole('button', { name: 'Comment', exact: true }).click()
  const entry = section.getByRole('listitem')
  await entry.getByText(HOSTILE).waitFor()
  await entry.getByRole('button', { name: 'About Track' }).waitFor()
  assert.equal(await section.locator('img').count(), 0, 'markup stays text')
  await entry.getByRole('button', { name: 'Edit' }).click()
  await entry.getByLabel('Text of the comment').fill('Is this the new track?')
  await entry.getByRole('button', { name: 'Save comment' }).click()
  await entry.getByText('Is this the new track?').waitFor()
  await entry.getByText(', edited').waitFor()
  await entry.getByRole('button', { name: 'Resolve' }).click()
  await section.getByText('No open comments.').waitFor()
  await section.getByLabel('Show resolved').check()
  await entry.getByText('Resolved', { exact: true }).waitFor()
  await entry.getByRole('button', { name: 'Reopen' }).click()
  await entry.getByRole('button', { name: 'Resolve' }).waitFor()
  await entry.getByRole('button', { name: /^Delete the comment by/ }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.reload()
  await entry.getByText('Is this the new track?').waitFor()
}

async function maps(w: World, org: Org, chromium: Browser, hands: Hands): Promise<void> {
  const june = await sceneItem(w, org, 'Loire valley, June')
  await sceneItem(w, org, 'Loire valley, July', { datetime: '2025-07-12T10:40:00Z' })
  const here = await seat(w, chromium)
  const { page } = here
  const link = { url: '', password: '' }
  await journey('maps', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/view/${june}?expr=${encodeURIComponent('(b8-b4)/(b8+b4)')}&cmap=rdylgn`)
    await page.getByRole('button', { name: 'Save as map' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Valley in summer')
    await page.getByRole('dialog').getByRole('button', { name: 'Save map' }).click()
    await page.getByRole('heading', { name: 'Valley in summer' }).waitFor()
    await page.getByRole('button', { name: /^Loire valley, June/ }).waitFor()
    await settled(page)

    await page.getByRole('button', { name: 'Add layer' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Loire valley, July/ })
      .click()
    await until('both layers', async () => (await order(page)).length === 2)
    await page.getByRole('button', { name: 'Add layer' }).click()
    await page.getByLabel('Vector layer from a file').setInputFiles({
      name: 'fields.geojson',
      mimeType: 'application/geo+json',
      buffer: Buffer.from(SHAPES),
    })
    await until('the shapes above', async () => (await order(page))[0] === 'Move fields')
    await settled(page)
    await assertAccessible(page, 'a map')

    const july = page.getByRole('button', { name: 'Move Loire valley, July' })
    if (hands === 'mouse') await july.dragTo(page.getByRole('button', { name: 'Move fields' }))
    else await july.press('ArrowUp')
    assert.deepEqual(await order(page), ['Move Loire valley, July', 'Move fields', 'Move Loire valley, June'])
    await july.press('ArrowDown')
    assert.deepEqual(await order(page), ['Move fields', 'Move Loire valley, July', 'Move Loire valley, June'])

    await page.getByRole('button', { name: /^Loire valley, July/ }).click()
    assert.match(page.url(), /layer=/, 'the layer is in the address')
    await settled(page)
    const normal = await middle(page)
    await page.getByLabel('Blending').selectOption('multiply')
    await until('the layers multiplied', async () => difference(normal, await middle(page)) > 5)
    await shot(page, 'map-multiplied')
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByRole('button', { name: 'Hide group Group 1' }).waitFor()
    await page.getByRole('button', { name: 'Point at the centre' }).click()
    await page.getByLabel('Point: text').fill(HOSTILE)
    await page.getByRole('button', { name: 'Line', exact: true }).click()
    await drawByKeys(page)
    await page.getByLabel('Line: text').fill('Track')
    await page.getByRole('region', { name: 'Legend' }).getByText('fields').waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save view' }).waitFor()
    await page.goBack()
    assert.doesNotMatch(page.url(), /layer=/, 'Back closes the layer')

    await page.reload()
    await until('the same order', async () => (await order(page)).join() === 'Move fields,Move Loire valley, July,Move Loire valley, June')
    await page.getByText('Item, multiply').waitFor()
    await page.getByRole('button', { name: 'Hide group Group 1' }).waitFor()
    assert.equal(await page.getByLabel('Point: text').inputValue(), HOSTILE)

    assert.equal(await page.getByLabel('Line: text').inputValue(), 'Track')
    await comments(page)

    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog')
    link.password = await dialog.getByLabel('Password', { exact: true }).inputValue()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    link.url = (await dialog.getByRole('status', { name: 'Share link' }).textContent())!
    const code = (await dialog.getByRole('status', { name: 'Embed code' }).textContent())!
    assert.ok(code.startsWith(`<iframe src="${link.url}/embed" title="Valley in summer" `), code)
    await shot(page, 'map-shared')
    await page.keyboard.press('Escape')

    for (const [theme, viewport] of [
      ['light', { width: 1440, height: 900 }],
      ['dark', { width: 1440, height: 900 }],
      ['dark', { width: 390, height: 844 }],
    ] as const) {
      if (theme === 'dark' && viewport.width > 760) await page.getByRole('button', { name: 'Use the dark theme' }).click()
      await page.setViewportSize(viewport)
      await settled(page)
      await assertAccessible(page, `a map, ${theme}, ${viewport.width}`)
      await shot(page, `map-${theme}-${viewport.width}`)
    }

    await page.goto(`${w.baseUrl}/app/maps`)
    await page.getByRole('link', { name: 'Valley in summer' }).waitFor()
    await page.getByText('1 comment (1 open)').waitFor()
    await assertAccessible(page, 'the list of maps on a phone')
    await shot(page, 'maps-phone')
    await page.setViewportSize({ width: 1440, height: 900 })
    await shot(page, 'maps')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('The valley')
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'The valley' }).waitFor()
    await page.getByRole('button', { name: 'Delete The valley' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.reload()
    await page.getByRole('link', { name: 'The valley' }).waitFor()
  })
  assertOwnBusiness(w, here)
  await visit(w, chromium, link)
}

// Goal: a visitor with the link and its password sees all layers with switches, and what people wrote as text.
async function visit(w: World, chromium: Browser, { url, password }: { url: string; password: string }): Promise<void> {
  const { page, requests, faults } = await watchedPage(chromium)
  page.setDefaultTimeout(PATIENT_MS)
  await page.goto(url)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('heading', { name: 'The valley' }).waitFor()
  await page.getByRole('checkbox', { name: 'fields' }).waitFor()
  const group = page.getByRole('checkbox', { name: 'Group 1' })
  await page.locator('#map[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })
  const all = await middle(page)
  await shot(page, 'shared-map')
  await group.uncheck()
  await until('without the group', async () => difference(all, await middle(page)) > 5)
  await page.setViewportSize({ width: 390, height: 844 })
  await assertAccessible(page, 'a shared map on a phone')
  await shot(page, 'shared-map-phone')
  assert.deepEqual(faults, [])
  assert.ok(requests.every((address) => address.startsWith(w.baseUrl) || address.startsWith('blob:') || address.startsWith('data:')))
}
