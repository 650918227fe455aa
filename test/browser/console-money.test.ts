// Goal: money goes in with what the bank asks for, is never charged twice, and its papers can be read; who pays on account sees that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { balance, grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, saved, seat, signIn } from './console.ts'

const DAY_MS = 86_400_000
/** From a month ago, so that one month is over. */
const DAYS_AGO = 40

for (const hands of HANDS)
  test(`the console: money, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date(Date.now() - DAYS_AGO * DAY_MS).toISOString() })
    const billed = await w.organization('Coast survey')
    await monthOnPlan(w, billed)
    const chromium = await browser(t, hands)
    await t.test('a wallet', async () => wallet(w, await w.organization(), chromium))
    await t.test('an invoice', () => invoice(w, billed, chromium))
    await t.test('on account', async () => onAccount(w, await w.organization('Reef authority'), chromium))
  })

/** A month on a plan, closed with an invoice that credits have paid. */
async function monthOnPlan(w: World, org: Org): Promise<void> {
  await grant(w, org, 100_000)
  await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
  w.clock.advance({ days: DAYS_AGO })
  Object.assign(org.owner, await w.signIn(org.owner, org.id))
  await w.ok(org.owner.token, 'billing.run_monthly_for_org', { organization_id: org.id })
}

// Goal (J12): a card that is declined, one whose bank asks, one charge; a top-up by itself.
async function wallet(w: World, org: Org, chromium: Browser): Promise<void> {
  const [before] = await balance(w, org)
  const here = await seat(w, chromium)
  const { page } = here
  const addCard = async (card: string) => {
    await page.getByLabel('Test card').selectOption(card)
    await page.getByRole('button', { name: 'Save card' }).click()
    await page.getByRole('button', { name: /^Charge A\$/ }).waitFor()
  }
  await journey('money', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByRole('button', { name: 'Add credits' }).click()
    await page.getByRole('button', { name: 'A$1,000.00' }).click()
    await page.getByRole('button', { name: 'Add a card first' }).click()
    await addCard('pm_card_visa_chargeDeclined')
    await page.getByRole('button', { name: /^Charge A\$/ }).click()
    await page.getByRole('alert').waitFor()
    await assertAccessible(page, 'a card that is declined')
    assert.deepEqual(await balance(w, org), [before, 0], 'nothing came of it')
    await page.getByRole('button', { name: 'Use another card' }).click()
    await addCard('pm_card_threeDSecure2Required')
    await page.getByRole('button', { name: /^Charge A\$/ }).click()
    await page.getByText('Confirm this payment with your bank').waitFor()
    await assertAccessible(page, 'the bank asks')
    await shot(page, 'top-up-bank')
    await page.getByRole('button', { name: 'Confirm payment' }).click()
    await page.getByText(/credits were added/).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    const [after] = await balance(w, org)
    assert.ok(after > before, 'the credits are there')
    const { transactions } = await w.ok(org.owner.token, 'billing.credits.transactions', { reason: 'topup', limit: 10 })
    assert.equal(transactions.length, 1, 'one charge')

    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByLabel('When credits fall below').fill('15000')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('switch', { name: 'Automatic top-up', checked: true }).waitFor()
    assert.equal((await w.ok(org.owner.token, 'billing.auto_topup.get')).threshold_credits, 15_000)
    await assertAccessible(page, 'billing')
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

// Goal (J12): the month is an invoice, as a page and as a PDF; the ledger leaves as CSV.
async function invoice(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium, { acceptDownloads: true })
  const { page } = here
  await journey('invoice', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByRole('navigation', { name: 'Billing' }).getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('link', { name: /^GT-/ }).click()
    await page.getByText('Plan Team', { exact: false }).first().waitFor()
    await assertAccessible(page, 'invoice')
    const document = await fetch((await page.getByRole('link', { name: 'Open PDF' }).getAttribute('href'))!)
    assert.equal(
      Buffer.from(await document.arrayBuffer())
        .subarray(0, 5)
        .toString(),
      '%PDF-',
    )

    await page.getByRole('navigation', { name: 'Billing' }).getByRole('link', { name: 'Ledger' }).click()
    await page.getByRole('cell', { name: /^grant/ }).waitFor()
    const csv = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click())
    const { transactions: all } = await w.ok(org.owner.token, 'billing.credits.transactions', { limit: 50 })
    assert.equal(csv.trim().split('\r\n').length - 1, all.length)
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

// Goal (J12): an organization that pays on account has no wallet, and sees what it committed to and what the month came to.
async function onAccount(w: World, org: Org, chromium: Browser): Promise<void> {
  const staff = await w.serviceToken()
  await w.ok(staff, 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
  const [from, to] = [-100, 200].map((days) => new Date(w.clock.now().getTime() + days * DAY_MS).toISOString().slice(0, 10))
  await w.ok(staff, 'organizations.commitments.put', {
    organization_id: org.id,
    name: 'Coastal imagery',
    products: ['sandbox-vhr-archive'],
    period_start: from,
    period_end: to,
    minimum_aud: 50_000,
    rates: [{ product: 'sandbox-vhr-archive', credits_per_km2: 1_800, discount_percent: null }],
  })
  const here = await seat(w, chromium)
  const { page } = here
  await journey('on-account', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByText('You pay on account.').waitFor()
    await page.getByText('open orders and jobs; adjusted when they end').waitFor()
    await assertAccessible(page, 'on account')
    await shot(page, 'on-account')
    assert.equal(await page.getByRole('button', { name: 'Add credits' }).count(), 0)
    await page.getByRole('link', { name: 'Commitments and statements' }).click()
    await page.getByRole('heading', { name: 'Coastal imagery' }).waitFor()
    await page.getByText('A$50,000.00').first().waitFor()
    await page.getByRole('heading', { name: /^Statement/ }).waitFor()
    await assertAccessible(page, 'commitments')
    await shot(page, 'commitments')
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}
