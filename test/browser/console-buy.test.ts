// Goal: scenes are found, priced, ordered and delivered in a browser; each refusal has its way on, and money moves once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { balance, grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { choose, delivered } from './buying.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: find and buy, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const chromium = await browser(t, hands)
    await findAndBuy(w, await w.organization(), chromium)
  })

// Goal (J2): typed area, results of several sources, two scenes, a price that is the price, an order that arrives where it was found.
async function findAndBuy(w: World, org: Org, chromium: Browser): Promise<void> {
  await grant(w, org, 1_000_000)
  const before = await balance(w, org)
  const here = await seat(w, chromium)
  const { page } = here
  await journey('buy', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/orders`)
    await page.getByText('No orders yet').waitFor()
    await choose(w, page, 2)
    await page
      .getByText(/^A\$[\d,.]+$/)
      .first()
      .waitFor()
    await shot(page, 'explore-chosen')
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByRole('heading', { name: 'Review order' }).waitFor()
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
