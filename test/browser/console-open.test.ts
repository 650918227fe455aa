// Goal: open imagery is found, seen, kept and measured over a year, and an alert fires for a new scene, in a browser and from a
// host like Earth Search.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/service.ts'
import type { Org, World } from '../support/world.ts'
import { typeArea } from './buying.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, saved, seat, SEATS, signIn, type Seat } from './console.ts'
import { EARTH_SEARCH, EDGES, FIELD, mapCentre, openImagery, save, scenesOf, SENTINEL } from './open-imagery.ts'
import { colours, difference } from './support/pixels.ts'

const NDVI = /^\(b\d+ - b\d+\) \/ \(b\d+ \+ b\d+\)$/
const MONTHS = ['02', '05', '08', '11']
const RULE = 'The field is green'
/** Coordinates of two fields. */
const PLACES = ['48.2028, 2.2920', '48.2068, 2.3004']

for (const { hands, name, options } of SEATS)
  test(`the console: open imagery, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    const w = await openImagery(t)
    await openScenes(w, await w.organization(), await seat(w, await browser(t, hands), { acceptDownloads: true, ...options }))
  })

async function openScenes(w: World, org: Org, here: Seat): Promise<void> {
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Fields, 2029' })
  const { page } = here
  await journey('open', here, async () => {
    await signIn(here, org.owner)
    await search(w, page)
    await look(page)
    await addByReference(page)
    const item = new URL(page.url()).pathname.split('/').at(-1)!
    const { properties, gsd } = (await w.ok(org.owner.token, 'items.get', { item_id: item })).item
    assert.deepEqual([gsd, properties.license, properties['svc:license_name']], [10, 'other', 'Copernicus Sentinel data terms'])
    await view(page)
    await pixels(page)
    await saveTheYear(w, org, collection_id)
    const fieldByMonth = await series(page)
    const threshold = await switchOn(page, fieldByMonth)
    const added = await addInMonth(w, org, collection_id, greenest(fieldByMonth))
    await fires(w, org, { page, added, threshold })
  })
  await page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}

/** Of one source, without clouds: each scene says what it is, and that it is free. */
async function search(w: World, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?sources=${EARTH_SEARCH}&from=2029-07-08&to=2029-07-10&cloud=10`)
  await typeArea(page, EDGES)
  await page.getByText('from 1 of 1 source').waitFor()
  const rows = page.getByRole('region', { name: 'Scenes' }).getByRole('listitem')
  const texts = await rows.filter({ has: page.getByRole('button') }).allTextContents()
  assert.ok(texts.length >= 2, `${texts.length} scenes`)
  assert.ok(
    texts.some((text) => text.includes('Sentinel-2 Level-2A') && text.includes('10 m') && text.includes('Free')),
    texts.join('\n'),
  )
  assert.ok(!texts.some((text) => text.includes('Simulated')))
  await assertAccessible(page, 'open scenes')
  await shot(page, 'open-results')
}

/** The scene is on the map in true colour and as an index, each drawn from its own tiles. */
async function look(page: Page): Promise<void> {
  const tile = (style: string) =>
    page.waitForResponse(
      (response) => response.url().includes(`/catalog/${SENTINEL}/`) && response.url().includes(`visualization=${style}`) && response.ok(),
    )
  const drawn = tile('rgb')
  await page
    .getByRole('region', { name: 'Scenes' })
    .getByRole('button', { name: /^Sentinel-2 Level-2A 10 m/ })
    .first()
    .click()
  await drawn
  const panel = page.getByRole('region', { name: 'Scene on the map' })
  await panel.getByRole('button', { name: 'True colour', pressed: true }).waitFor()
  await until('a picture, not a flat base map', async () => colours(await mapCentre(page)) > 200)
  const trueColour = await mapCentre(page)
  await shot(page, 'open-true-colour')
  const licence = page.getByRole('complementary', { name: 'Scene' }).getByRole('link', { name: 'Copernicus Sentinel data terms' })
  assert.match((await licence.getAttribute('href'))!, /^https:.*Legal_Notice$/)
  await page.getByRole('complementary', { name: 'Scene' }).getByText('Contains modified Copernicus Sentinel data 2029').waitFor()
  await assertAccessible(page, 'an open scene')
  const index = tile('ndvi')
  await panel.getByRole('button', { name: 'NDVI' }).click()
  await index
  await panel.getByRole('button', { name: 'NDVI', pressed: true }).waitFor()
  await until('other colours', async () => difference(trueColour, await mapCentre(page)) > 10)
  assert.ok(colours(await mapCentre(page)) > 100, 'values differ across the map')
  assert.equal(await panel.getByRole('alert').count(), 0)
  await shot(page, 'open-ndvi')
}

async function addByReference(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add to library' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add to library' })
  await dialog.getByRole('option', { name: 'Fields, 2029' }).waitFor({ state: 'attached' })
  await dialog.getByLabel('Collection').selectOption({ label: 'Fields, 2029' })
  await assertAccessible(page, 'add to library')
  await shot(page, 'open-add')
  await dialog.getByRole('button', { name: 'Add to library, free' }).click()
  await page.getByText('Added to your library').waitFor()
  await page.waitForURL(/\/app\/view\/.*style=ndvi/)
}

/** The item is one layer, with its bands by name. */
async function view(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Style', selected: true }).waitFor()
  await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true, pressed: true }).waitFor()
  await page.getByRole('button', { name: 'RGB' }).click()
  const red = page.getByLabel('Red', { exact: true })
  assert.match((await red.locator('option:checked').textContent())!, /^b\d+ red$/)
  await until('the item on the map', async () => colours(await mapCentre(page)) > 200)
  await shot(page, 'open-item')
  await page.getByRole('tab', { name: 'Metadata' }).click()
  await page.getByRole('link', { name: 'Copernicus Sentinel data terms' }).waitFor()
  await page.getByText('Earth Search', { exact: true }).waitFor()
  await assertAccessible(page, 'metadata of an open scene')
  await shot(page, 'open-metadata')
  await page.getByRole('tab', { name: 'Style' }).click()
  await page.getByRole('button', { name: 'Expression' }).click()
  await page.getByRole('group', { name: 'Styles' }).getByRole('button', { name: 'NDVI', exact: true }).click()
  await page.waitForURL(/style=ndvi/)
}

/** Values of all bands and of the index, which differ from place to place. */
async function pixels(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Pixel' }).click()
  const values: number[] = []
  for (const place of PLACES) {
    await page.getByLabel('Latitude, longitude').fill(place)
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: place.slice(0, 7) })
    await row.getByText(/^−?-?0\.\d+$/).waitFor()
    values.push(Number((await row.getByRole('cell').last().textContent())!.replace('−', '-')))
  }
  assert.ok(
    values.every((value) => value !== 0 && Math.abs(value) <= 1) && values[0] !== values[1],
    `NDVI of two fields: ${values.join(', ')}`,
  )
  await page.getByText(/^b\d+ nir$/).waitFor()
  await assertAccessible(page, 'values of an open scene')
  await shot(page, 'open-pixel')
}

async function saveTheYear(w: World, org: Org, collection_id: string): Promise<void> {
  for (const month of MONTHS) {
    const [scene] = await scenesOf(w, org, `2029-${month}-01/2029-${month}-28`, 20)
    assert.ok(scene, `a clear scene of month ${month}`)
    await save(w, org, scene.id, { collection_id })
  }
}

/** A year of one field as a line, a table and a file. Its means by month. */
async function series(page: Page): Promise<Map<string, number>> {
  await page.getByRole('tab', { name: 'Statistics' }).click()
  await page.getByLabel('Or paste an area').focus()
  await page.keyboard.insertText(FIELD) // The field is empty again once it has an area.
  await page.getByRole('row', { name: /^Mean/ }).waitFor()
  await shot(page, 'open-statistics')
  await page.getByRole('button', { name: 'Show time series' }).click()
  await page.getByRole('img', { name: /^Mean of/ }).waitFor()
  await assertAccessible(page, 'time series of open scenes')
  await shot(page, 'open-series')
  const region = page.getByRole('region', { name: 'Time series' })
  await region.getByRole('button', { name: 'Table' }).click()
  const csv = await saved(page, () => region.getByRole('button', { name: 'CSV' }).click())
  const rows = csv
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','))
  assert.equal(rows.length, MONTHS.length + 1)
  const means = rows.map(([, , mean]) => Number(mean))
  assert.ok(
    means.every((mean) => Number.isFinite(mean) && mean !== 0 && Math.abs(mean) <= 1),
    csv,
  )
  assert.equal(new Set(means.map((mean) => mean.toFixed(4))).size, means.length, 'each scene has its own value')
  assert.ok(Math.max(...means) - Math.min(...means) > 0.1, `a field grows: ${means.join(', ')}`)
  const shown = await region.getByRole('cell').allTextContents()
  assert.deepEqual(
    shown.map((cell) => Number(cell).toFixed(3)),
    means.map((mean) => mean.toFixed(3)),
  )
  return new Map(rows.map(([datetime], index) => [datetime!.slice(5, 7), means[index]!]))
}

/** From the line to a rule on the same expression and area, tested on all scenes, and switched on. */
async function switchOn(page: Page, fieldByMonth: ReadonlyMap<string, number>): Promise<number> {
  const means = [...fieldByMonth.values()]
  const threshold = Number(((Math.max(...means) + Math.min(...means)) / 2).toFixed(2))
  await page.getByRole('region', { name: 'Time series' }).getByRole('link', { name: 'Create alert' }).click()
  await page.getByRole('heading', { name: 'New alert' }).waitFor()
  await page.getByText(`of ${means.length}`, { exact: false }).first().waitFor()
  assert.match(await page.locator('#alert-expression').inputValue(), NDVI)
  await page.getByText(/an area of/).waitFor()
  await page.getByLabel('Name', { exact: true }).fill(RULE)
  await page.getByLabel('Threshold', { exact: true }).and(page.locator('input')).fill(String(threshold))
  await page.getByText(`${means.filter((mean) => mean > threshold).length} of ${means.length}`).waitFor()
  await assertAccessible(page, 'alert on open scenes')
  await shot(page, 'open-alert')
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Not triggered yet').waitFor()
  return threshold
}

const greenest = (byMonth: ReadonlyMap<string, number>): string => [...byMonth].toSorted(([, a], [, b]) => b - a)[0]![0]

/** Adds another clear scene of a month; its ID. */
async function addInMonth(w: World, org: Org, collection_id: string, month: string): Promise<string> {
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
  const known = new Set(items.map(({ stac_id }: { stac_id: string }) => stac_id))
  const added = (await scenesOf(w, org, `2029-${month}-01/2029-${month}-28`, 5)).find(({ id }) => !known.has(id))
  assert.ok(added, `another clear scene of month ${month}`)
  await save(w, org, added.id, { collection_id })
  return added.id
}

/** The new scene triggers the rule, and whoever looks is told without a reload. */
async function fires(w: World, org: Org, { page, added, threshold }: { page: Page; added: string; threshold: number }): Promise<void> {
  await w.evaluateAlerts()
  await page.getByRole('status').getByText(`${RULE}:`).waitFor()
  await page.getByRole('button', { name: 'Inbox, 1 unread' }).waitFor()
  await page.getByRole('link', { name: added }).first().waitFor()
  await assertAccessible(page, 'an alert on an open scene')
  await shot(page, 'open-alert-fired')
  const { alert_events } = await w.ok(org.owner.token, 'alerts.events.list', {})
  assert.equal(alert_events.length, 1)
  assert.ok(alert_events[0].computed_value > threshold, `${alert_events[0].computed_value} is above ${threshold}`)
}
