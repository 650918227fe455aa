// Goal: each screen opens by its address, wide and on a phone, light and dark, with no serious fault of accessibility.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { newId } from '#core/ids.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, LONG_MS, seat, signIn } from './console.ts'

const MODES = [
  ['desktop-light', { colorScheme: 'light' }],
  ['phone-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const

/** A screen, its address, and what shows that it is there. */
const SCREENS = [
  ['orders', '/orders', 'No orders yet'],
  ['review-empty', '/orders/review', 'Your cart is empty'],
  ['order-missing', `/orders/${newId()}`, "Not found, or you don't have access."],
  ['tasking', '/tasking', 'No tasking orders yet'],
  ['tasking-new', '/tasking/new', 'Add an area to continue'],
  ['jobs', '/jobs', 'No jobs yet'],
  ['job-missing', `/jobs/${newId()}`, "Not found, or you don't have access."],
  ['processes', '/processes', 'Zonal statistics'],
  ['process', '/processes/band_math', 'Complete the required fields'],
  ['process-mosaic', '/processes/mosaic', 'Complete the required fields'],
  ['clips', '/clips', 'No clips yet'],
  ['mosaics', '/mosaics', 'No mosaics yet'],
] as const

/** What is neither bought, made nor watched; and the sign-in screens, which signed-in users do not see. */
const OTHERS = [
  ['welcome', '/welcome', 'Create a project'],
  ['explore', '/explore', 'No area yet'],
  ['library', '/library', 'No items yet'],
  ['compare', '/compare', 'Choose two items'],
  ['uploads', '/uploads', 'No uploads yet'],
  ['shares', '/shares', 'No share links yet'],
  ['lineage', '/lineage', 'Project First project'],
  ['keys', '/develop/keys', 'First call'],
  ['requests', '/develop/requests', 'Since'],
  ['billing', '/billing', 'Automatic top-up'],
  ['ledger', '/billing/ledger', 'All credit transactions'],
  ['invoices', '/billing/invoices', 'No invoices yet'],
  ['usage', '/billing/usage', 'This month'],
  ['cards', '/billing/cards', 'No card yet'],
  ['approvals', '/billing/approvals', 'No approval requests'],
  ['plan', '/billing/plan', 'Change to Team'],
  ['commitments', '/billing/commitments', 'No commitment'],
  ['team', '/team', 'Project roles'],
  ['team-projects', '/team/projects', 'Add by email'],
  ['licences', '/team/licences', 'Sandbox licence'],
  ['organization', '/team/organization', 'Country'],
  ['lost', '/nothing-here', 'Page not found'],
] as const
const SIGNED_OUT = [
  ['sign-in', '/sign-in', 'Forgot password?'],
  ['sign-up', '/sign-up', 'Already have an account?'],
  ['forgot', '/forgot', 'Send the mail'],
  ['invitation', '/invite/nothing', 'Invitation not available'],
] as const
type Screen = (typeof SCREENS | typeof OTHERS | typeof SIGNED_OUT)[number]

test('the console: screens without anything in them', { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { vendors: true })
  const chromium = await browser(t)
  const org = await w.organization()
  for (const mode of MODES) {
    await t.test(`buying and making, ${mode[0]}`, () => everyScreen(w, org, chromium, mode, SCREENS))
    await t.test(`everything else, ${mode[0]}`, () => everyScreen(w, org, chromium, mode, OTHERS))
  }
})

async function everyScreen(
  w: World,
  org: Org,
  chromium: Browser,
  [mode, options]: (typeof MODES)[number],
  screens: readonly Screen[],
): Promise<void> {
  const here = await seat(w, chromium, options)
  const { page } = here
  const look = async ([name, address, sign]: Screen) => {
    await page.goto(`${w.baseUrl}/app${address}`)
    await page.getByText(sign).first().waitFor()
    await page.locator('main [aria-label="Loading"]').first().waitFor({ state: 'detached' })
    await assertAccessible(page, `${name}, ${mode}`)
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(excess <= 0, `${name}, ${mode}: ${excess} px wider than the screen`)
    await shot(page, `${name}-${mode}`)
  }
  if (screens === OTHERS) for (const screen of SIGNED_OUT) await look(screen)
  await page.goto(`${w.baseUrl}/app/sign-in`)
  await signIn(here, org.owner)
  for (const screen of screens) await look(screen)
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}
