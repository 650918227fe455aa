// Goal: an item is shown as somebody wants it, and stays so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, SEATS, signIn } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: style an item, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await style(w, await w.organization(), await browser(t, hands), options)
  })

// Goal (J4): NDVI by preset, handles by keys, a wrong expression marked at its character, a profile, a formula for everybody; the
// copied address draws the same pixels.
async function style(w: World, org: Org, chromium: Browser, options: object): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const here = await seat(w, chromium, { ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = here
  await journey('style', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('button', { name: 'Expression' }).click()
    await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true }).click()
    await page.locator('.stretch rect[fill="var(--c1)"]').first().waitFor({ state: 'attached' })

    // Each press of an arrow moves a handle by a hundredth; the address has it once it is let go.
    const lowest = page.getByRole('slider', { name: 'Minimum' })
    const before = Number(await lowest.getAttribute('aria-valuenow'))
    await lowest.focus()
    await page.keyboard.press('PageUp')
    await page.waitForURL(/range=/)
    assert.ok(Number(await lowest.getAttribute('aria-valuenow')) > before)
    await page.getByRole('button', { name: 'Viridis', exact: true }).click()
    await page.waitForURL(/cmap=viridis/)
    const range = new URL(page.url()).searchParams.get('range')

    const expression = page.getByLabel(/^Expression/)
    await expression.fill('(b8 - b4) / (b8 + )')
    await page.getByRole('alert').getByText('at character 19').waitFor()
    assert.equal(await page.locator('mark.expression-field-invalid').textContent(), ')')
    await assertAccessible(page, 'a wrong expression')
    await expression.fill('(b8 - b5) / (b8 + b5)')
    await page.getByText('Valid', { exact: true }).waitFor()
    await shot(page, 'style')

    await page.getByRole('button', { name: 'Save formula' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Red edge')
    await assertAccessible(page, 'save a formula')
    await page.getByRole('dialog').getByRole('button', { name: 'Save formula' }).click()
    await page.getByRole('group', { name: 'Saved formulas' }).getByRole('button', { name: 'Red edge' }).waitFor()
    const { formulas } = await w.ok(org.owner.token, 'band_formulas.list', { category: 'custom' })
    assert.ok(formulas.some(({ name }: { name: string }) => name === 'Red edge'))

    await page.getByRole('button', { name: 'Save as profile' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Crop vigour')
    await page.getByRole('checkbox', { name: 'Use as the default style of this item' }).check()
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Saved profile “Crop vigour”').waitFor()
    await page.getByRole('button', { name: 'Copy tile URL' }).click()
    await page.getByText('Tile URL copied').waitFor()
    const address = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(range && address.includes('expression='), address)

    // Who opens the item next sees the profile, and its tiles are those of the copied address.
    await page.goto(`${w.baseUrl}/app/view/${id}`)
    await page.getByRole('button', { name: /^Crop vigour/, pressed: true }).waitFor()
    const { bbox } = (await w.ok(org.owner.token, 'items.get', { item_id: id })).item
    const headers = { authorization: `Bearer ${org.owner.token}` }
    const tile = (template: string) => fetch(template.replace('{z}/{x}/{y}', tileIn(bbox, 12)), { headers })
    const [copied, own] = await Promise.all([tile(address), tile(`${w.baseUrl}/api/v1/items/${id}/tiles/{z}/{x}/{y}.webp`)])
    assert.deepEqual([copied.status, own.status], [200, 200])
    assert.deepEqual(Buffer.from(await copied.arrayBuffer()), Buffer.from(await own.arrayBuffer()))
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

/** The tile at the middle of a box. */
function tileIn([west, south, east, north]: [number, number, number, number], zoom: number): string {
  const [longitude, latitude] = [(west + east) / 2, ((south + north) / 2 / 180) * Math.PI]
  const x = Math.floor(((longitude + 180) / 360) * 2 ** zoom)
  const y = Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * 2 ** zoom)
  return `${zoom}/${x}/${y}`
}
