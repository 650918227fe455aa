// Goal: areas are drawn with their size in view, changed corner by corner with mouse, keys and typed coordinates, imported from the files
// that people have, kept under a name, and searched together.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { typeArea } from './buying.ts'
import { browser, shot, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'

const AREA = boxInAddress([2.3, 48.2, 2.32, 48.212])
const SEARCH = { aoi: AREA, sources: 'sandbox-open', from: '2029-12-22', to: '2029-12-31', map: '2.31,48.206,13' }
const FILES = path.join(import.meta.dirname, '..', 'console', 'areas')

for (const { hands, name, options } of SEATS)
  test(`the console: areas, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const org = await w.organization()
    const here = await seat(w, await browser(t, hands), options)
    const isPhone = 'isMobile' in options
    await journey(`areas ${name}`, here, async () => {
      await signIn(here, org.owner)
      await corners(w, here, { hands, suffix: isPhone ? '-phone' : '' })
      await several(here.page)
      await imported(here.page)
      await kept(w, org, here.page)
      if (hands === 'mouse' && !isPhone) await drawn(w, here.page)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
  })

const sizeIn = async (page: Page) => await page.getByRole('region', { name: 'Edit area' }).getByRole('status').innerText()

/** One corner is moved in every way there is, and each can be undone. */
async function corners(w: World, { page }: Seat, { hands, suffix }: { hands: Hands; suffix: string }): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?${new URLSearchParams(SEARCH).toString()}`)
  await page.getByText('Area of interest').waitFor()
  await page.getByRole('button', { name: 'Move corners' }).click()
  const editor = page.getByRole('region', { name: 'Edit area' })
  await editor.waitFor()
  const corner = page.getByRole('button', { name: /^Corner 3 of 4/ })
  await corner.waitFor()
  const before = await sizeIn(page)
  assert.match(before, /^1\.98 km² of 50,000 km², 4 of 999 points$/)
  await corner.press('ArrowRight')
  await corner.press('ArrowUp')
  await until('a larger area', async () => (await sizeIn(page)) !== before, PATIENT_MS)
  await assertAccessible(page, 'the corners of an area')
  await shot(page, `areas-corners${suffix}`)
  await editor.getByRole('button', { name: 'Undo' }).click()
  await editor.getByRole('button', { name: 'Undo' }).click()
  assert.equal(await sizeIn(page), before)
  if (hands === 'mouse') {
    const box = (await corner.boundingBox())!
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 15, y - 10, { steps: 4 })
    await until('a size while it is dragged', async () => (await sizeIn(page)) !== before, PATIENT_MS)
    await page.mouse.up()
    await editor.getByRole('button', { name: 'Undo' }).click()
    await until('the size before', async () => (await sizeIn(page)) === before, PATIENT_MS)
  }
  const middle = page.getByRole('button', { name: 'Add a corner after corner 1' })
  await middle.focus()
  await middle.press('Enter')
  await until('five corners', async () => /5 of 999 points/.test(await sizeIn(page)), PATIENT_MS)
  const added = page.getByRole('button', { name: /^Corner 2 of 5/ })
  await added.focus()
  await editor.getByLabel('Corner 2: latitude, longitude').fill('48.19, 2.31')
  await editor.getByRole('button', { name: 'Move corner', exact: true }).click()
  await page.getByRole('button', { name: 'Corner 2 of 5: 48.19000, 2.31000' }).waitFor()
  const last = page.getByRole('button', { name: /^Corner 5 of 5/ })
  await last.focus()
  await last.press('Delete')
  await until('four corners', async () => /4 of 999 points/.test(await sizeIn(page)), PATIENT_MS)
  await editor.getByRole('button', { name: 'Apply changes' }).click()
  await editor.waitFor({ state: 'detached' })
  await until('another address', () => Promise.resolve(new URL(page.url()).searchParams.get('aoi') !== AREA), PATIENT_MS)
  await page.goBack()
  await until('the area before', () => Promise.resolve(new URL(page.url()).searchParams.get('aoi') === AREA), PATIENT_MS)
}

/** A second area is searched with the first, and removed again. */
async function several(page: Page): Promise<void> {
  await page.getByText(/from 1 of 1 source/).waitFor()
  await page.getByRole('button', { name: 'Add area' }).click()
  await page.getByText('The next area you draw, enter or import is added to the search.').waitFor()
  await typeArea(page, { West: 2.4, South: 48.3, East: 2.42, North: 48.31 })
  await page.getByText('2 areas of interest').waitFor()
  await page.getByRole('button', { name: /^Area 2, 1\.6 km²/ }).waitFor()
  await page.getByText(/from 1 of 1 source/).waitFor()
  await page.reload()
  await page.getByText('2 areas of interest').waitFor()
  await shot(page, 'areas-several')
  await page.getByRole('button', { name: 'Remove area 2' }).click()
  await page.getByText('Area of interest', { exact: true }).waitFor()
}

async function upload(page: Page, file: string | { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
  await page.getByRole('button', { name: 'Enter, paste or upload an area (I)' }).click()
  const dialog = page.getByRole('dialog', { name: 'Area' })
  await dialog.getByText('Paste or upload').click()
  await dialog.getByLabel('Or upload a file').setInputFiles(typeof file === 'string' ? path.join(FILES, file) : file)
}

/** The same two areas, one with a hole, from three formats; what cannot be read says why. */
async function imported(page: Page): Promise<void> {
  for (const file of ['two-areas-utm.zip', 'two-areas.kmz', 'two-areas-gpkg.zip']) {
    await upload(page, file)
    await page.getByRole('dialog', { name: 'Area' }).waitFor({ state: 'detached' })
    await page.getByText('2 areas of interest').waitFor()
    await page.getByRole('button', { name: /^Area 1, 33\.\d km², 1 hole/ }).waitFor()
    if (file !== 'two-areas-gpkg.zip') await page.getByRole('button', { name: 'Remove area', exact: true }).click()
  }
  await upload(page, { name: 'notes.zip', mimeType: 'application/zip', buffer: Buffer.from('PK not a zip') })
  const dialog = page.getByRole('dialog', { name: 'Area' })
  await dialog.getByText('The ZIP archive is damaged. Create it again.').waitFor()
  await assertAccessible(page, 'a file that cannot be read')
  await shot(page, 'areas-import')
  const entities = '<!DOCTYPE kml [<!ENTITY a "aaaa">]><kml><coordinates>&a;</coordinates></kml>'
  await dialog
    .getByLabel('Or upload a file')
    .setInputFiles({ name: 'a.kml', mimeType: 'application/vnd.google-earth.kml+xml', buffer: Buffer.from(entities) })
  await dialog.getByText('The file declares XML entities, which are not supported. Export it again.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

/** An area is saved, opened after a reload, renamed, added and deleted. */
async function kept(w: World, org: Org, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save area' }).click()
  const form = page.getByRole('dialog', { name: 'Save area' })
  await form.getByLabel('Name').fill('Harbour & bay')
  await form.getByRole('button', { name: 'Save area' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove area', exact: true }).click()
  await page.getByText('No area yet').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Saved areas' }).click()
  const list = page.getByRole('dialog', { name: 'Saved areas' })
  await list.getByText(/^2 polygons, /).waitFor()
  await assertAccessible(page, 'saved areas')
  await shot(page, 'areas-saved')
  await list.getByRole('button', { name: 'Rename Harbour & bay' }).click()
  await list.getByLabel('New name').fill('Harbour')
  await list.getByRole('button', { name: 'Save name' }).click()
  await list.getByRole('button', { name: 'Use Harbour' }).click()
  await page.getByText('2 areas of interest').waitFor()
  const { features } = await w.ok(org.owner.token, 'items.search_org', { type: 'user_vector' })
  assert.deepEqual(
    features.map(({ properties }: { properties: Record<string, unknown> }) => properties['svc:name']),
    ['Harbour'],
  )
  await page.getByRole('button', { name: 'Saved areas' }).click()
  await page.getByRole('dialog', { name: 'Saved areas' }).getByRole('button', { name: 'Delete Harbour' }).click()
  await page.getByText('Deleting Harbour').waitFor()
  await page.keyboard.press('Escape')
}

/** The size is there before the last corner is. */
async function drawn(w: World, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?map=2.31,48.206,12`)
  await page.getByRole('button', { name: 'Draw polygon (P)' }).click()
  const hint = page.getByText(/Click to add corners/)
  await hint.waitFor()
  const map = (await page.getByRole('application').boundingBox())!
  const at = (x: number, y: number) => [map.x + map.width / 2 + x, map.y + map.height / 2 + y] as const
  await page.mouse.click(...at(-80, -60))
  await page.mouse.move(...at(0, -60), { steps: 3 })
  await page.mouse.click(...at(80, -60))
  await page.mouse.move(...at(60, 20), { steps: 5 })
  await until('a size', async () => /^[\d.,]+ (?:km²|ha), \d points\./.test(await hint.innerText()), PATIENT_MS)
  const early = await hint.innerText()
  await page.mouse.move(...at(80, 60), { steps: 5 })
  await until('a larger size', async () => (await hint.innerText()) !== early, PATIENT_MS)
  await shot(page, 'areas-drawing')
  await page.mouse.click(...at(80, 60))
  await page.keyboard.press('Enter')
  await page.getByText('Area of interest', { exact: true }).waitFor()
}
