// Goal: the tools on the map of an item measure, draw and compare with mouse, keys and finger; one at a time, in the address, said aloud.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, saved, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'

const DATES = ['2025-06-12T10:40:00Z', '2025-10-12T10:40:00Z']

for (const { hands, name, options } of SEATS)
  test(`the console: tools, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
    const [june, october] = [
      await sceneItem(w, org, 'Loire, June', { datetime: DATES[0]!, collection_id }),
      await sceneItem(w, org, 'Loire, October', { datetime: DATES[1]!, collection_id }),
    ]
    const here = await seat(w, await browser(t, hands), { acceptDownloads: true, ...options })
    const isPhone = 'isMobile' in options
    const at: Place = { w, org, here, hands, isPhone, june, october }
    await journey(`tools ${name}`, here, async () => {
      await signIn(here, org.owner)
      await distance(at)
      await areaAndZone(at)
      await profile(at)
      await swipe(at)
      await coordinates(at)
      await exported(at)
      if (!isPhone) await oneAtATime(at)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
  })

interface Place {
  w: World
  org: Org
  here: Seat
  hands: Hands
  isPhone: boolean
  june: string
  october: string
}

const suffix = ({ isPhone }: Place) => (isPhone ? '-phone' : '')
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const statusOf = async (page: Page, name: string) => (await panel(page, name).getByRole('status').textContent())!

/** Opens the item with the middle of the image in the middle of the map. */
async function open({ w, here: { page }, hands, isPhone, june }: Place, query = '', centre = '2.3,48.2'): Promise<void> {
  // Off the map, where the pointer has no position.
  if (hands === 'mouse' && !isPhone) await page.mouse.move(2, 2)
  await page.goto(`${w.baseUrl}/app/view/${june}?map=${centre},14${query}`)
  await page.getByRole('toolbar', { name: 'Map tools' }).waitFor()
  await page.locator('.map-slot-sharedMap[aria-busy="false"]').waitFor()
}

async function type(page: Page, name: string, text: string): Promise<void> {
  const field = panel(page, name).getByLabel('Latitude, longitude')
  // On a phone the form is folded.
  if (!(await field.isVisible())) await panel(page, name).getByText('Enter coordinates').click()
  await field.fill(text)
  await panel(page, name).getByRole('button', { name: 'Add point' }).click()
}

/** A point of the map, in pixels from its centre; on a phone, from the centre of what the sheet leaves. */
async function press({ here: { page }, isPhone }: Place, x: number, y: number): Promise<void> {
  const map = (await page.getByRole('application').boundingBox())!
  const [left, top] = [map.x + map.width / 2 + x, isPhone ? map.y + map.height * 0.36 + y : map.y + map.height / 2 + y]
  await (isPhone ? page.touchscreen.tap(left, top) : page.mouse.click(left, top))
}

/** By text the figures are those of GeographicLib; by hand, points are set, moved and removed, and the figure follows. */
async function distance(place: Place): Promise<void> {
  const { here, hands, isPhone } = place
  const { page } = here
  // On a phone, the sheet covers the lower part of the map.
  await open(place, '', isPhone ? '2.3,48.197' : undefined)
  await page.getByRole('button', { name: 'Measure distance (M)' }).click()
  await panel(page, 'Distance').waitFor()
  assert.match(page.url(), /tool=distance/)
  await type(page, 'Distance', '48.2, 2.3')
  await until('the first point', async () => (await statusOf(page, 'Distance')) === '1 point', PATIENT_MS)
  await type(page, 'Distance', '48.212, 2.32')
  // Geodesic.WGS84.Inverse(48.2, 2.3, 48.212, 2.32): 1997.57 m, 48.08 degrees.
  await until('a distance', async () => (await statusOf(page, 'Distance')) === '2.00 km, bearing 48.1°, 2 points', PATIENT_MS)
  assert.match(page.url(), /line=2\.3%2C48\.2%3B2\.32%2C48\.212/)
  await page.reload()
  await until('the same distance', async () => (await statusOf(page, 'Distance')) === '2.00 km, bearing 48.1°, 2 points', PATIENT_MS)
  await page.getByRole('button', { name: 'Point 2 of 2: 48.21200, 2.32000' }).waitFor()
  await assertAccessible(page, 'a distance')
  await shot(page, `tools-distance${suffix(place)}`)
  if (isPhone) await folded(page)
  const second = page.getByRole('button', { name: /^Point 2 of 2/ })
  await second.focus()
  await page.keyboard.press('ArrowRight')
  await until('a longer distance', async () => !(await statusOf(page, 'Distance')).startsWith('2.00 km'), PATIENT_MS)
  await page.keyboard.press('Delete')
  await until('one point', async () => (await statusOf(page, 'Distance')) === '1 point', PATIENT_MS)
  await panel(page, 'Distance').getByRole('button', { name: 'Clear' }).click()
  await until('no point', async () => (await statusOf(page, 'Distance')) === 'No points yet', PATIENT_MS)
  if (hands === 'keyboard') {
    await page.getByRole('application').focus()
    await page.keyboard.press('Enter')
    await until('the centre', async () => (await statusOf(page, 'Distance')) === '1 point', PATIENT_MS)
    await page.keyboard.press('ArrowRight')
    await until('a map that moved', () => Promise.resolve(!/map=2\.3(?:000)?%2C48\.2/.test(page.url())), PATIENT_MS)
    await page.keyboard.press('Enter')
    await until('two points', async () => /2 points/.test(await statusOf(page, 'Distance')), PATIENT_MS)
    await shot(page, 'tools-keyboard')
    await page.keyboard.press('Backspace')
    await until('one point again', async () => (await statusOf(page, 'Distance')) === '1 point', PATIENT_MS)
  } else {
    await press(place, -40, -10)
    await until('a first press', async () => (await statusOf(page, 'Distance')) === '1 point', PATIENT_MS)
    await press(place, 60, 20)
    await until('a second press', async () => /2 points/.test(await statusOf(page, 'Distance')), PATIENT_MS)
    await press(place, 60, 20)
    await panel(page, 'Distance').getByRole('button', { name: 'Finish' }).waitFor({ state: 'detached' })
  }
  if (isPhone) await panel(page, 'Distance').getByRole('button', { name: 'Close distance' }).click()
  else await page.keyboard.press('Escape')
  await panel(page, 'Distance').waitFor({ state: 'detached' })
  assert.doesNotMatch(page.url(), /tool=|line=/)
}

const heightOf = async (locator: Locator) => (await locator.boundingBox())!.height

/** The sheet of a tool leaves more than half of the map, and all but its figures when it is folded. */
async function folded(page: Page): Promise<void> {
  const map = await heightOf(page.getByRole('application'))
  const sheet = panel(page, 'Distance')
  assert.ok((await heightOf(sheet)) <= map * 0.45, 'the map has more than half of the height')
  await sheet.getByRole('button', { name: 'Hide details' }).click()
  await sheet.getByRole('button', { name: 'Remove last point' }).waitFor({ state: 'detached' })
  assert.ok((await heightOf(sheet)) <= 120, 'folded')
  assert.match(await statusOf(page, 'Distance'), /2 points/)
  await assertAccessible(page, 'a folded sheet')
  await sheet.getByRole('button', { name: 'Show details' }).click()
  await sheet.getByRole('button', { name: 'Remove last point' }).waitFor()
}

/** The area is that of the service, and a zone is measured in Statistics. */
async function areaAndZone(place: Place): Promise<void> {
  const { page } = place.here
  const corners = '&line=2.29,48.195;2.31,48.195;2.31,48.205;2.29,48.205'
  await open(place, `&tool=area${corners}`)
  await until('an area', async () => /^1\.65 km², perimeter 5\.20 km, 4 points$/.test(await statusOf(page, 'Area')), PATIENT_MS)
  await assertAccessible(page, 'an area')
  await shot(page, `tools-area${suffix(place)}`)
  await open(place)
  await page.getByRole('button', { name: 'Draw zone (Z)' }).click()
  // On a phone, the sheet of the tool is in place of the inspector.
  if (!place.isPhone) await page.getByRole('tab', { name: 'Statistics', selected: true }).waitFor()
  for (const text of ['48.195, 2.29', '48.195, 2.31', '48.205, 2.31']) await type(page, 'New zone', text)
  await panel(page, 'New zone').getByRole('button', { name: 'Add zone' }).click()
  await panel(page, 'New zone').waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Statistics', selected: true }).waitFor()
  await page.getByText('A, 82.7 ha').waitFor()
  await page.getByRole('rowheader', { name: 'Mean' }).waitFor()
}

/** The chart, the table and the file have the values of items.point. */
async function profile(place: Place): Promise<void> {
  const { w, org, here, june, isPhone } = place
  const { page } = here
  await open(place, '&expr=b8-b4&tool=profile&line=2.29,48.2;2.31,48.2')
  const values = panel(page, 'Profile values')
  const chart = values.getByRole('slider', { name: /^Profile of b8-b4 from/ })
  await chart.waitFor()
  await chart.focus()
  await page.keyboard.press('End')
  await until('a value at the end', async () => (await chart.getAttribute('aria-valuetext'))!.startsWith('1.49 km: b8-b4 '), PATIENT_MS)
  await assertAccessible(page, 'a profile')
  await shot(page, `tools-profile${suffix(place)}`)
  const legend = (await page.getByText('viridis').first().boundingBox())!
  const lower = (await (isPhone ? panel(page, 'Profile') : values).boundingBox())!
  assert.ok(legend.y + legend.height < lower.y, 'the legend is above the chart')
  const csv = await saved(page, () => values.getByRole('button', { name: 'CSV' }).click())
  const [head, ...rows] = csv.split('\r\n').map((line) => line.split(','))
  assert.deepEqual(head, ['distance_m', 'longitude', 'latitude', 'b8-b4'])
  assert.equal(rows.length, 300)
  for (const row of [rows[0]!, rows[150]!, rows[299]!]) {
    const { results } = await w.ok(org.owner.token, 'items.point', {
      item_id: june,
      longitude: Number(row[1]),
      latitude: Number(row[2]),
      expression: 'b8-b4',
    })
    assert.equal(Number(row[3]), results[0].value)
  }
  await values.getByRole('button', { name: 'Table' }).click()
  await values.getByRole('rowheader', { name: '0 m', exact: true }).waitFor()
  if (!isPhone) {
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`)
    await values.getByRole('button', { name: 'Chart' }).click()
    await shot(page, 'tools-profile-dark')
    await assertAccessible(page, 'a profile in the dark')
  }
}

/** Another date or the base map lies right of the divider, which keys and pointer move. */
async function swipe(place: Place): Promise<void> {
  const { page } = place.here
  await open(place)
  await page.getByRole('button', { name: 'Swipe (S)' }).click()
  const side = panel(page, 'Swipe').getByLabel('Right of the divider')
  await side.getByRole('option', { name: '12 Oct 2025, Loire, October' }).waitFor({ state: 'attached' })
  assert.equal(await side.inputValue(), place.october)
  await until(
    'tiles of the other date',
    () => Promise.resolve(place.here.requests.some((url) => url.includes(`${place.october}/tiles/`))),
    PATIENT_MS,
  )
  const divider = page.getByRole('slider', { name: 'Divider', exact: true })
  await divider.focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await page.waitForURL(/at=40/)
  await side.selectOption('base')
  await page.waitForURL(/against=base/)
  await assertAccessible(page, 'swipe')
  await shot(page, `tools-swipe${suffix(place)}`)
  await panel(page, 'Swipe').getByRole('button', { name: 'Close swipe' }).click()
  await divider.waitFor({ state: 'detached' })
}

/** The position in the system that was chosen, copied with a click; grid lines in that system. */
async function coordinates(place: Place): Promise<void> {
  const { w, here, isPhone } = place
  const { page } = here
  await open(place)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: w.baseUrl })
  const bar = page.getByRole('group', { name: 'Coordinates' })
  const position = bar.getByRole('button', { name: /^Copy/ })
  await bar.getByRole('button', { name: 'Copy centre: 48.200000, 2.300000' }).waitFor()
  await bar.getByRole('button', { name: 'Coordinate system' }).click()
  await page.getByRole('menuitem', { name: 'UTM zone of the position' }).click()
  // By gdaltransform: 447985.43 5338766.65.
  await bar.getByRole('button', { name: 'Copy centre: UTM 31N 447985.4, 5338766.7' }).waitFor()
  await position.click()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'UTM 31N 447985.4, 5338766.7')
  await bar.getByRole('button', { name: 'Grid lines' }).click()
  await bar.getByRole('button', { name: 'Grid lines', pressed: true }).waitFor()
  await page.locator('[aria-busy="false"]:has(> .maplibregl-canvas-container)').first().waitFor()
  await assertAccessible(page, 'coordinates')
  await shot(page, `tools-grid${suffix(place)}`)
  await bar.getByRole('button', { name: 'Coordinate system' }).click()
  await page.getByRole('menuitem', { name: 'MGRS' }).click()
  await bar.getByRole('button', { name: 'Copy centre: 31U DP 47985 38767' }).waitFor()
  await page.reload()
  await bar.getByRole('button', { name: 'Copy centre: 31U DP 47985 38767' }).waitFor()
  if (place.hands === 'mouse' && !isPhone) {
    const map = (await page.getByRole('application').boundingBox())!
    await page.mouse.move(map.x + map.width / 2 + 90, map.y + map.height / 2)
    await bar.getByRole('button', { name: /^Copy pointer: 31U DP/ }).waitFor()
    await page.keyboard.press('Escape')
  }
  await bar.getByRole('button', { name: 'Grid lines' }).click()
  await bar.getByRole('button', { name: 'Grid lines', pressed: false }).waitFor()
}

async function download(page: Page, format: string): Promise<{ name: string; file: string; bytes: Buffer }> {
  await page.getByRole('button', { name: 'Export view' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export view' })
  await dialog.getByRole('button', { name: format, exact: true }).click()
  if (format === 'PDF') {
    await dialog.getByLabel('Title').fill('Loire, été')
    await assertAccessible(page, 'export of the view')
    await shot(page, 'tools-export')
  }
  const [saving] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: `Download ${format}` }).click()])
  const file = await saving.path()
  await dialog.waitFor({ state: 'detached' })
  return { name: saving.suggestedFilename(), file, bytes: await readFile(file) }
}

const WORLD_M = 40_075_016.685_578_488

/** What is seen, as a picture with its legend, as a page, and where it is. */
async function exported(place: Place): Promise<void> {
  const { page } = place.here
  await open(place, '&expr=b8-b4')
  await page.getByText('viridis').first().waitFor()
  const canvas = (await page.getByRole('application').boundingBox())!
  const png = await download(page, 'PNG')
  assert.equal(png.name, 'Loire_ June.png')
  const image = sharp(png.bytes)
  const { width, height } = await image.metadata()
  assert.equal(width % Math.round(canvas.width), 0)
  const scale = width / Math.round(canvas.width)
  assert.ok(height > Math.round(canvas.height) * scale, 'the legend and the attribution are below')
  const centre = await sharp(png.bytes)
    .extract({ left: Math.round(width / 2) - 40, top: Math.round((canvas.height * scale) / 2) - 40, width: 80, height: 80 })
    .stats()
  assert.ok(
    centre.channels.some(({ stdev }) => stdev > 2),
    'the imagery is in the picture',
  )
  const pdf = await download(page, 'PDF')
  assert.equal(pdf.name, 'Loire_ June.pdf')
  const text = pdf.bytes.toString('latin1')
  assert.ok(text.startsWith('%PDF-1.7'))
  for (const shown of ['Loire, été', 'Acquired 12 Jun 2025. ', 'DVI', 'N'])
    assert.ok(text.includes(Buffer.from(shown, 'latin1').toString('hex')), `${shown} is on the page`)
  const tif = await download(page, 'GeoTIFF')
  assert.equal(tif.name, 'Loire_ June.tif')
  if (spawnSync('gdalinfo', ['--version']).error) return
  const info = JSON.parse(execFileSync('gdalinfo', ['-json', tif.file], { encoding: 'utf8' })) as {
    geoTransform: number[]
    size: number[]
    stac: Record<string, unknown>
  }
  const pixelM = WORLD_M / (512 * 2 ** 14) / scale
  const [west, xM, , north, , yM] = info.geoTransform as [number, number, number, number, number, number]
  assert.equal(info.stac['proj:epsg'], 3857)
  for (const [actual, expected] of [
    [xM, pixelM],
    [yM, -pixelM],
    [west + (xM * info.size[0]!) / 2, 256_034.8288],
    [north + (yM * info.size[1]!) / 2, 6_140_192.4393],
  ] as const)
    assert.ok(Math.abs(actual - expected) < 1e-3, `${actual} is not ${expected}`)
}

/** Letters choose tools while the map has the focus, nowhere else; choosing one ends the other. */
async function oneAtATime(place: Place): Promise<void> {
  const { page } = place.here
  await open(place)
  const isPressed = (name: string) => page.getByRole('button', { name, pressed: true })
  await page.getByRole('application').focus()
  await page.keyboard.press('m')
  await isPressed('Measure distance (M)').waitFor()
  await page.keyboard.press('x')
  await isPressed('Inspect pixels (X)').waitFor()
  await page.getByRole('tab', { name: 'Pixel', selected: true }).waitFor()
  await panel(page, 'Distance').waitFor({ state: 'detached' })
  await page.keyboard.press('a')
  await isPressed('Measure area (A)').waitFor()
  assert.equal(await page.getByRole('toolbar', { name: 'Map tools' }).getByRole('button', { pressed: true }).count(), 1)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Style', selected: true }).waitFor()
  await page.keyboard.press('?')
  await page.getByText('On the map of an item: inspect, zone').waitFor()
  await page.keyboard.press('Escape')
}
