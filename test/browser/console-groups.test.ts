// Goal: a long list is read as groups by source and day that open and close; rows show resolution and coverage in full; altimetry is
// apart; sensors can be chosen; list and map highlight each other; the timeline starts at 90 days, zooms and is brushed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, PHONE, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'

/** As large as several scenes of very high resolution. */
const SEARCH = { aoi: boxInAddress([2.3, 48.2, 2.41, 48.26]), sources: 'sandbox-vhr.sandbox-open.sandbox-altimetry', from: '2029-12-30' }
const DAY_MS = 86_400_000

for (const { hands, name, options } of SEATS)
  test(`the console: groups of scenes, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    await groups(w, await w.organization(), hands, await seat(w, await browser(t, hands), options))
  })

const list = (page: Page) => page.getByRole('region', { name: 'Scenes' })
const rows = (page: Page) => list(page).getByRole('listitem')
const headings = (page: Page) => list(page).getByRole('heading', { level: 3 }).getByRole('button')
const isPhone = (page: Page) => page.viewportSize()!.width === PHONE.viewport.width

async function groups(w: World, org: Org, hands: Hands, here: Seat): Promise<void> {
  const { page } = here
  await journey('groups', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/explore?${new URLSearchParams(SEARCH).toString()}`)
    await page.getByText(/from 3 of 3 sources/).waitFor()
    await openAndClose(page)
    await assertWhole(page)
    await shot(page, 'groups')
    await assertAccessible(page, 'groups')
    await highlight(page, hands)
    await sensors(page)
    await page.goto(
      `${w.baseUrl}/app/explore?${new URLSearchParams({ aoi: SEARCH.aoi, sources: 'sandbox-open.sandbox-altimetry' }).toString()}`,
    )
    await page.getByText(/from 2 of 2 sources/).waitFor()
    await timeline(page, hands)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

/** '13 scenes, 96% of the area, from A$…' as one line that opens to its rows; tracks of altimetry follow the images. */
async function openAndClose(page: Page): Promise<void> {
  const vhr = headings(page)
    .filter({ hasText: /very high resolution/i })
    .first()
  await vhr.filter({ hasText: /\d+ scenes, \d+% of the area, (from A\$[\d.,]+|A\$[\d.,]+ each)/ }).waitFor()
  const scenes = Number(/(\d+) scenes/.exec(await vhr.innerText())![1])
  assert.ok(scenes > 4, `${scenes} scenes in a group`)
  assert.equal(await vhr.getAttribute('aria-expanded'), 'false')
  const before = await rows(page).count()
  await vhr.focus()
  await page.keyboard.press('Enter')
  await until('the rows of the group', async () => (await rows(page).count()) === before + scenes, PATIENT_MS)
  await vhr.click()
  await until('the group closed', async () => (await rows(page).count()) === before, PATIENT_MS)
  await vhr.click()
  const texts = await list(page).getByRole('heading').allInnerTexts()
  const altimetry = texts.indexOf('Altimetry')
  assert.ok(altimetry > 0, texts.join(' | '))
  assert.deepEqual(
    texts.filter((text, at) => /tracks?/.test(text) !== at > altimetry && at !== altimetry),
    [],
    'tracks come after the heading, and nothing else does',
  )
}

interface Part {
  textContent: string
  scrollWidth: number
  clientWidth: number
  getBoundingClientRect(): { right: number }
}

/** No resolution and no coverage is cut off by the panel or by another text. */
async function assertWhole(page: Page): Promise<void> {
  const cut = await rows(page).evaluateAll((all) =>
    all.flatMap((row) => {
      const right = row.getBoundingClientRect().right
      return Array.from<Part>(row.querySelectorAll('span'))
        .filter(({ textContent }) => /^[\d.]+ c?m$|of area$/.test(textContent))
        .filter((part) => (part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0) || part.getBoundingClientRect().right > right)
        .map(({ textContent }) => textContent)
    }),
  )
  assert.deepEqual(cut, [])
  assert.ok(
    (await rows(page)
      .filter({ hasText: /[\d.]+ m/ })
      .filter({ hasText: /\d+% of area/ })
      .count()) > 4,
  )
}

/** What has the focus in the list is highlighted, and what is chosen, on the map or by keys, is marked in the list. */
async function highlight(page: Page, hands: Hands): Promise<void> {
  const row = rows(page).filter({ hasText: '0.5 m' }).first()
  await row.getByRole('button').first().focus()
  await until('the row highlighted', async () => /hovered/.test((await row.getAttribute('class'))!), PATIENT_MS)
  if (hands === 'keyboard') await page.keyboard.press('Enter')
  else {
    const box = (await page.locator('.maplibregl-canvas').first().boundingBox())!
    await page.mouse.click(box.x + box.width / 2, box.y + box.height * (isPhone(page) ? 0.25 : 0.45))
  }
  await page.waitForURL(/sel=/)
  if (!isPhone(page)) await list(page).locator('[aria-current="true"]').waitFor()
  await page.getByRole('button', { name: 'Close scene' }).click()
  await until('no selection', () => !page.url().includes('sel='), PATIENT_MS)
}

async function sensors(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Any sensor' }).click()
  for (const name of ['Radar', 'Elevation', 'Altimetry', 'Point clouds', 'Vector data'])
    await page.getByRole('checkbox', { name }).uncheck()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.waitForURL(/sensors=optical/)
  await page.getByText(/, \d+ hidden/).waitFor()
  assert.equal(await list(page).getByRole('heading', { name: 'Altimetry' }).count(), 0)
  await page.reload()
  await page.getByRole('button', { name: 'Optical' }).waitFor()
}

/** The days that the handles are apart at most. */
const days = async (page: Page) => Number(await page.getByRole('slider', { name: 'First day' }).getAttribute('aria-valuemax'))

async function timeline(page: Page, hands: Hands): Promise<void> {
  if (isPhone(page)) await page.getByRole('button', { name: 'Timeline' }).click()
  const chart = page.getByRole('group', { name: /^Timeline of/ })
  await chart.waitFor()
  assert.equal(await days(page), 90)
  await page.getByRole('button', { name: 'Show fewer days' }).click()
  await until('45 days', async () => (await days(page)) === 45, PATIENT_MS)
  await chart.focus()
  await page.keyboard.press('-')
  await until('90 days again', async () => (await days(page)) === 90, PATIENT_MS)
  await page.keyboard.press('+')
  await until('45 days again', async () => (await days(page)) === 45, PATIENT_MS)
  const box = (await chart.boundingBox())!
  if (hands === 'mouse' && !isPhone(page)) {
    await page.mouse.move(box.x + box.width / 2, box.y + 20)
    await page.mouse.wheel(0, -240)
    await until('fewer days by wheel', async () => (await days(page)) < 45, PATIENT_MS)
    await page.mouse.wheel(0, 240)
    await until('45 days by wheel', async () => (await days(page)) === 45, PATIENT_MS)
  }
  if (isPhone(page)) await pinch(page, box)
  await shot(page, 'timeline')
  if (hands === 'keyboard') {
    await page.getByRole('slider', { name: 'First day' }).focus()
    await page.keyboard.press('PageUp')
  } else await brush(page, box)
  await page.waitForURL(/from=\d{4}-\d\d-\d\d/)
  const url = new URL(page.url())
  const [from, to] = ['from', 'to'].map((name) => url.searchParams.get(name))
  if (hands === 'mouse') {
    const brushed = (Date.parse(to!) - Date.parse(from!)) / DAY_MS
    assert.ok(brushed > 0 && brushed < 30, `${from} to ${to}`)
  }
  await page.getByRole('button', { name: 'Clear dates' }).click()
  await until('no dates', () => !new URL(page.url()).searchParams.get('from'), PATIENT_MS)
  assert.equal(await days(page), 90)
}

interface ChartBox {
  x: number
  y: number
  width: number
}

/** A third of the chart, by mouse or by finger. */
async function brush(page: Page, { x, y, width }: ChartBox): Promise<void> {
  const [from, to] = [x + width / 3, x + (2 * width) / 3]
  if (!isPhone(page)) {
    await page.mouse.move(from, y + 20)
    await page.mouse.down()
    await page.mouse.move(to, y + 20, { steps: 5 })
    return await page.mouse.up()
  }
  const touch = await page.context().newCDPSession(page)
  const at = (place: number) => [{ x: place, y: y + 20 }]
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(from) })
  for (const place of [from + 20, (from + to) / 2, to])
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(place) })
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}

/** Two fingers apart show fewer days, and together again as many as before. */
async function pinch(page: Page, { x, y, width }: ChartBox): Promise<void> {
  const touch = await page.context().newCDPSession(page)
  const before = await days(page)
  const fingers = (apart: number) => [-apart, apart].map((offset, id) => ({ x: x + width / 2 + offset, y: y + 20, id }))
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(20) })
  for (const apart of [30, 40]) await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) })
  await until('fewer days by pinching', async () => (await days(page)) < before, PATIENT_MS)
  for (const apart of [30, 20]) await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) })
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}
