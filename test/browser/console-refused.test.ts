// Goal: a spend that is refused has its way on in the browser, and money moves once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { balance, grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { choose } from './buying.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: a refused spend, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const chromium = await browser(t, hands)
    await t.test('by a card whose bank asks', async () => byCard(w, await w.organization(), chromium))
    await t.test('without enough credits', async () => withoutCredits(w, await w.organization(), chromium))
    await t.test('above a cap', async () => aboveCap(w, await w.organization(), chromium))
  })

// Goal (J3, J12): an organization without a wallet pays by card: none yet, then one whose bank asks; one order comes of it.
async function byCard(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('buy-card', here, async () => {
    await signIn(here, org.owner)
    await choose(w, page, 1)
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText('Add a card to continue.').waitFor()
    await assertAccessible(page, 'refused without a card')
    await page.getByRole('button', { name: 'Add a card' }).click()
    await page.getByLabel('Test card').selectOption('pm_card_threeDSecure2Required')
    await page.getByRole('button', { name: 'Save card' }).click()
    await page.getByText('Card saved').waitFor()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText('Confirm this payment with your bank').waitFor()
    await shot(page, 'review-bank')
    await page.getByRole('button', { name: 'Confirm payment' }).click()
    await page.waitForURL(/\/app\/orders\/[0-9a-f-]{36}/)
    const { content, totalElements } = await w.ok(org.owner.token, 'orders.list')
    assert.deepEqual([totalElements, content[0].billingMode], [1, 'card'])
    await page.getByRole('button', { name: 'Cancel order' }).click()
    await page.getByRole('button', { name: /^Cancel ‘/ }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}

// Goal (J3): what is missing in the wallet is said, added, and then the same order is placed once.
async function withoutCredits(w: World, org: Org, chromium: Browser): Promise<void> {
  await grant(w, org, 100)
  const here = await seat(w, chromium)
  const { page } = here
  await journey('buy-credits', here, async () => {
    await signIn(here, org.owner)
    await choose(w, page, 1)
    await page.getByRole('link', { name: 'Review order' }).click()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText(/more credits needed/).waitFor()
    await shot(page, 'review-no-credits')
    await assertAccessible(page, 'refused for credits')
    await page.getByRole('button', { name: 'Add credits' }).click()
    await page.getByRole('button', { name: 'Add a card first' }).click()
    await page.getByLabel('Test card').selectOption('pm_card_visa')
    await page.getByRole('button', { name: 'Save card' }).click()
    await page.getByRole('button', { name: /^Charge A\$/ }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.waitForURL(/\/app\/orders\/[0-9a-f-]{36}/)
    const { totalElements } = await w.ok(org.owner.token, 'orders.list')
    assert.equal(totalElements, 1)
    const [available, reserved] = await balance(w, org)
    assert.ok(available > 0 && reserved > 0)
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
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
    await page.getByText('Your cap per order').waitFor()
    await page.getByRole('button', { name: /^Place order, A\$/ }).click()
    await page.getByText('This exceeds your spending cap.').waitFor()
    await page.getByLabel('Reason').fill('Flood response')
    await shot(page, 'review-above-cap')
    await page.getByRole('button', { name: 'Request approval' }).click()
    await page.getByText('It runs automatically if an owner or admin approves').waitFor()
    await assertAccessible(page, 'asked for approval')
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
  const owner = await seat(w, chromium)
  await journey('buy-approve', owner, async () => {
    await signIn(owner, org.owner)
    await owner.page.goto(`${w.baseUrl}/app/billing/approvals`)
    await owner.page.getByRole('button', { name: 'Approve once' }).click()
    await owner.page.getByRole('cell', { name: 'used' }).waitFor()
    await owner.page.goto(`${w.baseUrl}/app/orders`)
    await owner.page.getByRole('cell', { name: 'Placed' }).waitFor()
  })
  await owner.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, owner)
}
