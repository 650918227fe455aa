// Goal: scenes are found, priced, ordered and delivered in a browser; each refusal has its way on, and money moves once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { balance, grant, work } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { typeArea } from './buying.ts'
import { browser, shot, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

const AREA = { West: 2.3, South: 48.2, East: 2.33, North: 48.22 }

test('the console: find and buy', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { vendors: true })
  const chromium = await browser(t)
  await t.test('from an area to an item at the same place', async () => findAndBuy(w, await w.organization(), chromium))
  await t.test('without enough credits, and by a card whose bank asks', async () => refusedByMoney(w, await w.organization(), chromium))
  await t.test('above a cap', async () => aboveCap(w, await w.organization(), chromium))
})

/** Types an area, waits for scenes of a vendor that sells, and ticks so many of them. */
async function choose(w: World, page: Page, count: number): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?sources=sandbox-hr.sandbox-vhr.sandbox-flaky`)
  await typeArea(page, AREA)
  const ticks = page.getByRole('checkbox', { name: /^Order Sandbox high resolution of/ })
  await ticks.first().waitFor()
  for (let index = 0; index < count; index++) await ticks.nth(index).check()
}

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
    await work(w, [orderId])
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
  assertOwnBusiness(w, here)
}

// Goal (J3, J12): what is missing is said, added by a card whose bank asks first, and then the same order is placed once.
async function refusedByMoney(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('buy-refused', here, async () => {
    await signIn(here, org.owner)
    await choose(w, page, 1)
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText(/credits are missing/).waitFor()
    await shot(page, 'review-no-credits')
    await assertAccessible(page, 'refused for credits')
    await page.getByRole('button', { name: 'Add credits' }).click()
    await page.getByRole('button', { name: 'Add a card first' }).click()
    await page.getByLabel('Test card').selectOption('pm_card_threeDSecure2Required')
    await page.getByRole('button', { name: 'Save the card' }).click()
    await page.getByRole('button', { name: /^Charge A\$/ }).click()
    await page.getByRole('button', { name: 'Yes, it is me' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.waitForURL(/\/app\/orders\/[0-9a-f-]{36}/)
    const { totalElements } = await w.ok(org.owner.token, 'orders.list')
    assert.equal(totalElements, 1)
    await page.getByRole('button', { name: 'Cancel the order' }).click()
    await page.getByRole('button', { name: /^Cancel ‘/ }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    const [available, reserved] = await balance(w, org)
    assert.ok(available > 0 && reserved === 0)
  })
  assertOwnBusiness(w, here)
}

// Goal (J3): a member above their cap sees it before, asks, and the order runs when an admin approves.
async function aboveCap(w: World, org: Org, chromium: Browser): Promise<void> {
  await grant(w, org, 1_000_000)
  const member = await w.member(org, 'editor')
  await w.ok(org.owner.token, 'organizations.members.set_spend_limit', {
    organizationId: org.id,
    userId: member.id,
    perOrderLimitCredits: 10,
    spendLimitCredits: 5_000,
  })
  const here = await seat(w, chromium)
  const { page } = here
  await journey('buy-cap', here, async () => {
    await signIn(here, member)
    await choose(w, page, 1)
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByText('Your cap for one order').waitFor()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText('Above your cap.').waitFor()
    await page.getByLabel('Why it is needed').fill('Flood response')
    await shot(page, 'review-above-cap')
    await page.getByRole('button', { name: 'Ask for approval' }).click()
    await page.getByText('Owners and admins were told').waitFor()
    await assertAccessible(page, 'asked for approval')
  })
  assertOwnBusiness(w, here)
  const owner = await seat(w, chromium)
  await journey('buy-approve', owner, async () => {
    await signIn(owner, org.owner)
    await owner.page.goto(`${w.baseUrl}/app/billing/approvals`)
    await owner.page.getByRole('button', { name: 'Approve once' }).click()
    await owner.page.getByText('Approved', { exact: true }).waitFor()
    await owner.page.goto(`${w.baseUrl}/app/orders`)
    await owner.page.getByRole('cell', { name: 'Placed' }).waitFor()
  })
  assertOwnBusiness(w, owner)
}
