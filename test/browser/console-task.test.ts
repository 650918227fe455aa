// Goal: new images are asked for, decided on and delivered in a browser; what is declined costs nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { balance, grant, until, work } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { delivered, typeArea } from './buying.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

const WINDOW = { From: '2030-01-02', To: '2030-01-20' }
/** Small ones: the vendor paints what it delivers, at the speed of the machine. */
const AREAS = [
  { West: 2.3, South: 48.2, East: 2.303, North: 48.202 },
  { West: 2.306, South: 48.2, East: 2.309, North: 48.202 },
  { West: 2.303, South: 48.204, East: 2.306, North: 48.206 },
]

for (const hands of HANDS)
  test(`the console: task and decide, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const org = await w.organization()
    await grant(w, org, 1_000_000)
    await taskAndDecide(w, org, await browser(t, hands))
  })

async function ask(w: World, page: Page, product: string, areas: typeof AREAS, name: string): Promise<void> {
  await page.goto(`${w.baseUrl}/app/tasking/new?product=${product}`)
  await page.getByLabel('Order name').waitFor()
  for (const area of areas) await typeArea(page, area)
  for (const [edge, day] of Object.entries(WINDOW)) await page.getByLabel(edge, { exact: true }).fill(day)
  await page.getByLabel('Order name').fill(name)
  await page.getByLabel('Order name').blur()
  await page.getByText(new RegExp(`Area ${areas.length}`)).waitFor()
}

const orderIn = async (page: Page): Promise<string> => {
  await page.waitForURL(/\/app\/tasking\/[0-9a-f-]{36}/)
  return new URL(page.url()).pathname.split('/').at(-1)!
}

// Goal (J8): three areas under a licence, a template, studies, options, quotations, delivery; then one that is declined.
async function taskAndDecide(w: World, org: Org, chromium: Browser): Promise<void> {
  const before = await balance(w, org)
  const here = await seat(w, chromium)
  const { page } = here
  await journey('task', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/tasking`)
    await page.getByText('No tasking orders yet').waitFor()
    await ask(w, page, 'sandbox-vhr-assured', AREAS, 'Harbour, weekly')
    await page.getByText(/passes up to 25° off nadir/).waitFor()
    await page.getByRole('button', { name: 'Save as template' }).click()
    await page.getByText('Saved template “Harbour, weekly”').waitFor()
    await page.getByRole('button', { name: 'Read and accept' }).click()
    await assertAccessible(page, 'licence')
    await page.getByRole('button', { name: /^Accept version/ }).click()
    await page.getByText('Accepted by your organization.').waitFor()
    await assertAccessible(page, 'new tasking order')
    await shot(page, 'tasking-new')
    await page.reload()
    await page.getByText(/Area 3/).waitFor()
    await page.getByRole('button', { name: 'Send request' }).click()
    const orderId = await orderIn(page)
    assert.deepEqual(await balance(w, org), before, 'asking costs nothing')
    await work(w, [orderId], until('feasibility_ready'))
    await acceptAll(page, 'Options', /^Accept option A$/)
    await work(w, [orderId], until('quotation_ready'))
    await acceptAll(page, 'Quotation', /^Accept for A\$/)
    await delivered(w, orderId)
    await page.getByRole('link', { name: 'Open 3 items' }).waitFor()
    await assertAccessible(page, 'tasking order')
    await shot(page, 'tasking-delivered')
    const order = await w.ok(org.owner.token, 'orders.get', { id: orderId })
    assert.deepEqual([order.status, order.itemIds.length], ['fulfilled', 3])
    assert.deepEqual(await balance(w, org), [before[0] - order.capturedCredits, 0])
    const rest = await balance(w, org)

    await ask(w, page, 'sandbox-vhr-quoted', AREAS.slice(0, 1), 'Not needed')
    await page.getByRole('button', { name: 'Send request' }).click()
    const declined = await orderIn(page)
    await work(w, [declined], until('quotation_ready'))
    await page.getByRole('button', { name: 'Reject quotation' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    assert.deepEqual(await balance(w, org), rest, 'declining costs nothing')
    await page.goto(`${w.baseUrl}/app/tasking`)
    await page.getByRole('cell', { name: 'Delivered' }).waitFor()
    await page.getByText('Harbour, weekly').first().waitFor()
    await assertAccessible(page, 'tasking')
    await shot(page, 'tasking')
  })
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}

/** One decision for each area, until none is left of this kind. */
async function acceptAll(page: Page, heading: string, button: RegExp): Promise<void> {
  for (let left = AREAS.length; left > 0; left--) {
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    if (left > 1) await page.getByText(`${left} decisions to make`).waitFor()
    if (left === AREAS.length) await assertAccessible(page, heading)
    await shot(page, `tasking-${heading.split(' ')[0]!.toLowerCase()}-${left}`)
    await page.getByRole('button', { name: button }).click()
  }
  await page.getByRole('heading', { name: heading, exact: true }).waitFor({ state: 'detached' })
}
