// Goal: scenes are found, priced, ordered and delivered in a browser; each refusal has its way on, and money moves once.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { parseRegistry, type Registry } from '#adapters/vendors/registry.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { balance, grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { choose, delivered } from './buying.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PHONE, seat, SEATS, signIn, type Seat } from './console.ts'

const FAR = 'far-archive'
const ANALYSIS = /for analysis$/

interface Shipped {
  licences: { id: string; name: string }[]
  sources: { id: string; url: string; accessModel: string; products: { name: string; licenceId: string | null }[] }[]
}

/** The shipped simulated hosts, and one more archive that nobody answers for; what is bought has a licence that somebody has to accept. */
async function sources(sandboxUrl: string): Promise<Registry> {
  const registry = JSON.parse(await readFile(new URL('../../src/adapters/vendors/registry.json', import.meta.url), 'utf8')) as Shipped
  const licence = registry.licences.find(({ name }) => ANALYSIS.test(name))!
  for (const { products } of registry.sources)
    for (const product of products) if (product.name === 'sandbox-hr-archive') product.licenceId = licence.id
  const open = registry.sources.find(({ accessModel }) => accessModel === 'open')!
  const simulated = registry.sources.filter(({ url }) => url === 'sandbox')
  const far = { ...open, id: FAR, hostName: FAR, title: 'Far archive', url: 'http://127.0.0.1:9/far', products: [] }
  const file = JSON.stringify({ ...registry, sources: [...simulated, far] })
  return parseRegistry(file, 'the registry of this journey', { sandboxUrl })
}

for (const { hands, name, options } of SEATS)
  test(`the console: find and buy, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, sources })
    await findAndBuy(w, await w.organization(), await seat(w, await browser(t, hands), options))
  })

/** One of three archives fails, the other two are there; then fewer days: on the timeline, or where a phone has no room for it. */
async function narrow(page: Page): Promise<void> {
  await page.getByText('from 2 of 3 sources').waitFor()
  await page.getByText('Far archive did not respond.').waitFor()
  if (page.viewportSize()!.width < PHONE.viewport.width + 1) {
    await page.getByRole('button', { name: '28 Dec to 31 Dec' }).click()
    await page.getByLabel('From', { exact: true }).fill('2029-12-29')
    await page.keyboard.press('Escape')
  } else {
    await page.getByRole('slider', { name: 'First day' }).focus()
    await page.keyboard.press('ArrowRight')
  }
  await page.waitForURL(/from=2029-12-29/)
  await page.getByText('from 2 of 3 sources').waitFor()
}

// Goal (J2): typed area, results of several sources of which one fails, fewer days, two scenes, a licence, a price that is the price,
// an order that arrives where it was found.
async function findAndBuy(w: World, org: Org, here: Seat): Promise<void> {
  await grant(w, org, 1_000_000)
  const before = await balance(w, org)
  const { page } = here
  await journey('buy', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/orders`)
    await page.getByText('No orders yet').waitFor()
    await choose(w, page, 2, { also: FAR, meanwhile: () => narrow(page) })
    await page
      .getByText(/^A\$[\d,.]+$/)
      .first()
      .waitFor()
    await shot(page, 'explore-chosen')
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByRole('heading', { name: 'Review order' }).waitFor()
    await page.getByText('Accept the licence to place the order').waitFor()
    await page.getByRole('button', { name: 'Read and accept' }).click()
    await page.getByRole('button', { name: /^Accept version/ }).click()
    await page.getByText('Accepted by your organization.').waitFor()
    const place = page.getByRole('button', { name: /^Place order, A\$/ })
    await place.waitFor()
    await assertAccessible(page, 'review')
    await shot(page, 'review')
    const total = (await place.textContent())!.replace('Place order, ', '')
    await page.reload()
    await page.getByRole('button', { name: `Place order, ${total}` }).click()
    await page.waitForURL(/\/app\/orders\/[0-9a-f-]{36}/)
    const orderId = page.url().split('/').at(-1)!
    await page.getByText('Placed', { exact: true }).first().waitFor()
    await shot(page, 'order-placed')
    const [available, reserved] = await balance(w, org)
    assert.equal(available + reserved, before[0])
    await delivered(w, orderId)
    await page
      .getByRole('link', { name: /^Open (the item|2 items)$/ })
      .first()
      .waitFor()
    await page.getByText('100%').first().waitFor()
    await assertAccessible(page, 'order')
    await shot(page, 'order-delivered')
    const order = await w.ok(org.owner.token, 'orders.get', { id: orderId })
    assert.equal(order.status, 'fulfilled')
    assert.equal(total, `A$${(order.capturedCredits / 100).toLocaleString('en-AU', { minimumFractionDigits: 2 })}`)
    assert.deepEqual(await balance(w, org), [before[0] - order.capturedCredits, 0])
    await page
      .getByRole('link', { name: /^Open (the item|2 items)$/ })
      .first()
      .click()
    await page.waitForURL(/\/app\/view\//)
    await page.getByRole('tab', { name: 'Style' }).waitFor()
    await page.goto(`${w.baseUrl}/app/orders?status=delivered`)
    await page.getByRole('cell', { name: 'Delivered' }).waitFor()
    await assertAccessible(page, 'orders')
    await shot(page, 'orders')
    await page.keyboard.press('Shift+A')
    await page.getByText('orders.list').first().waitFor()
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}
