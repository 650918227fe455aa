// Goal: an item is opened by its own ID from every list of the console, also where two items hold the same scene of a catalogue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'
import { boxInAddress } from './support/address.ts'

/** A purchased scene keeps the ID that it has at its vendor as STAC ID. */
const SCENE = 'vendor-scene-20250612'
const AREA = encodeURIComponent(boxInAddress([2.29, 48.19, 2.31, 48.21]))

interface Listed {
  id: string
  name: string
  day: string
}

for (const { hands, name, options } of SEATS)
  test(`the console: items by their own ID, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t)
    const org = await w.organization()
    await openFromEverywhere(w, org, await seat(w, await browser(t, hands), options), await twoOfOneScene(w, org))
  })

/** In two projects, as an organization has them that bought a scene twice. */
async function twoOfOneScene(w: World, org: Org): Promise<[Listed, Listed]> {
  const { id: project_id } = await w.ok(org.owner.token, 'projects.create', { name: 'Second survey' })
  const first = await sceneItem(w, org, 'Harbour, first', { datetime: '2025-06-12T10:40:00Z', stac_id: SCENE })
  const second = await sceneItem(w, org, 'Harbour, again', { datetime: '2025-07-12T10:40:00Z', stac_id: SCENE, project_id })
  return [
    { id: first, name: 'Harbour, first', day: '12 Jun 2025' },
    { id: second, name: 'Harbour, again', day: '12 Jul 2025' },
  ]
}

async function openFromEverywhere(w: World, org: Org, here: Seat, items: readonly [Listed, Listed]): Promise<void> {
  const { page } = here
  const missing: string[] = []
  page.on('response', (response) => {
    if (response.status() === 404) missing.push(response.url())
  })
  const open = async (address: string) => void (await page.goto(`${w.baseUrl}/app${address}`))
  await journey('ids', here, async () => {
    await signIn(here, org.owner)
    for (const item of items) {
      await open(`/explore?scope=mine&aoi=${AREA}`)
      await fromMyItems(page, item)
      await fromPalette(page, item)
    }
    await open('/compare')
    await fromCompare(page, items)
    await open('/processes/band_math')
    await fromProcess(page, items)
    await open('/alerts/new?name=Bright&expr=b1&is=gt&at=0')
    await page.getByText('2 of 2').waitFor()
    await page.getByRole('link', { name: items[0].name }).click()
    await opened(page, items[0])
    await open('/lineage')
    await page.getByRole('link', { name: items[1].name }).click()
    await page.waitForURL(`**/app/lineage/item/${items[1].id}*`)
    assert.deepEqual(missing, [])
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

async function opened(page: Page, { id, name }: Listed): Promise<void> {
  await page.waitForURL((url) => url.pathname === `/app/view/${id}`)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  await page.getByRole('tab', { name: 'Style' }).waitFor()
}

/** Both rows have a thumbnail of their own, and the item opens from its row. */
async function fromMyItems(page: Page, item: Listed): Promise<void> {
  const list = page.getByRole('region', { name: 'Scenes' })
  await list.locator('img').nth(1).waitFor()
  const thumbnails = await Promise.all([0, 1].map((nth) => list.locator('img').nth(nth).getAttribute('src')))
  assert.equal(new Set(thumbnails).size, 2)
  await list.getByRole('button', { name: item.name }).click()
  await shot(page, 'ids-my-items')
  await page.getByRole('complementary', { name: 'Scene' }).getByRole('link', { name: 'Open item' }).click()
  await opened(page, item)
}

async function fromPalette(page: Page, item: Listed): Promise<void> {
  await page.goto(new URL('/app/jobs', page.url()).href)
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Search places, items and commands' })
  await field.fill(item.name)
  await page.getByRole('option', { name: `${item.name} ${dayInPalette(item)}` }).waitFor()
  await page.keyboard.press('Enter')
  await opened(page, item)
}

const dayInPalette = ({ day }: Listed): string => new Date(`${day} UTC`).toISOString().slice(0, 10)

async function fromCompare(page: Page, items: readonly [Listed, Listed]): Promise<void> {
  for (const [side, { day, name }] of [['A', items[0]] as const, ['B', items[1]] as const]) {
    const choice = page.getByLabel(`Item ${side}`)
    await choice.getByRole('option', { name: `${day}, ${name}` }).waitFor({ state: 'attached' })
    await choice.selectOption({ label: `${day}, ${name}` })
  }
  await page.waitForURL((url) => url.searchParams.get('a') === items[0].id && url.searchParams.get('b') === items[1].id)
  await page
    .getByRole('group', { name: 'Dates' })
    .getByRole('button', { name: /open A$/ })
    .waitFor()
  await shot(page, 'ids-compare')
}

async function fromProcess(page: Page, items: readonly [Listed, Listed]): Promise<void> {
  const choice = page.getByRole('combobox').filter({ hasText: items[0].name })
  for (const { id, name, day } of items) {
    await choice.selectOption({ label: `${name}, ${day}` })
    assert.equal(await choice.inputValue(), id)
  }
  await page.waitForURL((url) => url.search.includes(items[1].id))
}
