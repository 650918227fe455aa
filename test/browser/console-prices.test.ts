// Goal: every price in the console is the price of the service, with the vendor's minimum; what cannot be ordered says why, and has no
// button that works.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseRegistry, type Registry } from '#adapters/vendors/registry.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { typeArea } from './buying.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, SEATS, signIn, type Seat } from './console.ts'

/** Half a square kilometre: less than the minimum of one host, more than the maximum of the other. */
const EDGES = { West: 2.3, South: 48.2, East: 2.31, North: 48.206 }
const HOSTS = ['sandbox-hr', 'sandbox-vhr']
const DAYS = { from: '2029-12-22', to: '2029-12-31' }
const MAX_SQKM = 0.1
const WINDOW = { From: '2030-01-02', To: '2030-01-20' }
const LARGE = { West: 2, South: 48, East: 2.5, North: 48.5 }

interface Shipped {
  sources: { hostName: string; url: string; products: { maxSqKm: number | null }[] }[]
}

/** The shipped simulated hosts, of which one sells smaller parts of a scene than the area. */
async function sources(sandboxUrl: string): Promise<Registry> {
  const registry = JSON.parse(await readFile(new URL('../../src/adapters/vendors/registry.json', import.meta.url), 'utf8')) as Shipped
  for (const { hostName, products } of registry.sources)
    if (hostName === 'sandbox-vhr') for (const product of products) if (product.maxSqKm !== null) product.maxSqKm = MAX_SQKM
  const simulated = registry.sources.filter(({ url }) => url === 'sandbox')
  return parseRegistry(JSON.stringify({ ...registry, sources: simulated }), 'the registry of this journey', { sandboxUrl })
}

for (const { hands, name, options } of SEATS)
  test(`the console: prices, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, sources })
    await prices(w, await w.organization(), await seat(w, await browser(t, hands), options))
  })

async function prices(w: World, org: Org, here: Seat): Promise<void> {
  const { page } = here
  await journey('prices', here, async () => {
    await signIn(here, org.owner)
    const expected = await expectedPrices(w, org)
    const search = new URLSearchParams({ sources: [...HOSTS, 'sandbox-open'].join('.'), ...DAYS, sort: 'cheapest' })
    await page.goto(`${w.baseUrl}/app/explore?${search.toString()}`)
    await typeArea(page, EDGES)
    await rows(page, expected)
    await orderable(page)
    await refused(page)
    await tooLarge(w, page)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

/** The price of each scene alone, as the service estimates it, cheapest first. */
async function expectedPrices(w: World, org: Org): Promise<string[]> {
  const { West, South, East, North } = EDGES
  const ring = [[West, South], [East, South], [East, North], [West, North], [West, South]] // prettier-ignore
  const geometry = { type: 'Polygon', coordinates: [ring] }
  const credits: number[] = []
  const { features } = await w.ok(org.owner.token, 'catalog.search', {
    host_name: 'sandbox-hr',
    intersects: geometry,
    datetime: `${DAYS.from}/${DAYS.to}`,
    limit: 100,
  })
  for (const { id } of features) {
    const estimate = await w.ok(org.owner.token, 'orders.archive.estimate', { captures: [{ id, geometry, host: 'sandbox-hr' }] })
    assert.deepEqual(estimate.errors, [])
    credits.push(estimate.total_credits)
  }
  assert.ok(credits.length > 1)
  return credits.toSorted((a, b) => a - b).map((amount) => `A$${(amount / 100).toFixed(2)}`)
}

/** Free scenes first, then by price; what cannot be ordered comes last and cannot be ticked. */
async function rows(page: Page, expected: readonly string[]): Promise<void> {
  const list = page.getByRole('region', { name: 'Scenes' })
  await list.getByText('Cannot be ordered').first().waitFor()
  await list
    .getByText('A$', { exact: false })
    .nth(expected.length - 1)
    .waitFor()
  const texts = await list.getByRole('listitem').allInnerTexts()
  const shown = texts.map((text) => /^(Free|A\$[\d.,]+|Cannot be ordered)$/m.exec(text)?.[1] ?? text)
  const order = ['Free', 'A$', 'Cannot be ordered'].map((start) => shown.filter((price) => price.startsWith(start)))
  assert.deepEqual(shown, order.flat(), 'cheapest first')
  assert.deepEqual(order[1], expected)
  assert.equal(await list.getByRole('checkbox').count(), expected.length)
  await assertAccessible(page, 'scenes with prices')
  await shot(page, 'prices-rows')
}

/** The inspector has the price of the row, with the minimum. */
async function orderable(page: Page): Promise<void> {
  const row = page.getByRole('region', { name: 'Scenes' }).getByRole('listitem').filter({ hasText: 'A$' }).first()
  const price = /A\$[\d.,]+/.exec(await row.innerText())![0]
  await row.getByRole('button').first().click()
  const inspector = page.getByRole('complementary', { name: 'Scene' })
  await inspector.getByText(price, { exact: true }).waitFor()
  await inspector.getByText('Minimum order: 1 km².', { exact: false }).waitFor()
  await shot(page, 'prices-offer')
  await inspector.getByRole('button', { name: 'Add to order' }).click()
  await inspector.getByRole('button', { name: 'In order' }).click()
  await inspector.getByRole('button', { name: 'Close scene' }).click()
}

async function refused(page: Page): Promise<void> {
  await page
    .getByRole('region', { name: 'Scenes' })
    .getByRole('listitem')
    .filter({ hasText: 'Cannot be ordered' })
    .first()
    .getByRole('button')
    .first()
    .click()
  const inspector = page.getByRole('complementary', { name: 'Scene' })
  await inspector.getByText(`at most ${MAX_SQKM} km² per capture`, { exact: false }).waitFor()
  assert.equal(await inspector.getByRole('button', { name: 'Cannot be ordered' }).isDisabled(), true)
  assert.equal(await inspector.getByText('A$', { exact: false }).count(), 0)
  await page.keyboard.press('a')
  await assertAccessible(page, 'a scene that cannot be ordered')
  await shot(page, 'prices-refused')
  assert.equal(await page.getByRole('link', { name: 'Review order' }).count(), 0, 'it is not in the cart')
}

/** A tasking area over the limit has a reason instead of a price, and nothing can be sent. */
async function tooLarge(w: World, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/tasking/new?product=sandbox-vhr-assured`)
  await page.getByLabel('Order name').waitFor()
  for (const [label, day] of Object.entries(WINDOW)) await page.getByLabel(label, { exact: true }).fill(day)
  await typeArea(page, LARGE)
  await page.getByText(`at most ${MAX_SQKM} km² per feature`, { exact: false }).first().waitFor()
  assert.equal(await page.getByText('A$0.00').count(), 0)
  assert.equal(
    await page.getByRole('button', { name: / to continue$/ }).isDisabled(),
    true,
    'whether the licence or the area is named first',
  )
  await assertAccessible(page, 'a tasking area over the limit')
  await shot(page, 'prices-tasking')
}
