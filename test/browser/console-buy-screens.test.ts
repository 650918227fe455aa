// Goal: each screen of buying and making opens by its address, wide and on a phone, light and dark, with no serious fault of accessibility.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { newId } from '#core/ids.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, seat, signIn } from './console.ts'

const MODES = [
  ['desktop-light', { colorScheme: 'light' }],
  ['phone-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const

/** A screen, its address, and what shows that it is there. */
const SCREENS = [
  ['orders', '/orders', 'No orders yet'],
  ['review-empty', '/orders/review', 'Nothing chosen'],
  ['order-missing', `/orders/${newId()}`, 'Not here, or not yours to see.'],
  ['tasking', '/tasking', 'No satellite is tasked'],
  ['tasking-new', '/tasking/new', 'Draw an area first'],
  ['jobs', '/jobs', 'Nothing was computed yet'],
  ['job-missing', `/jobs/${newId()}`, 'Not here, or not yours to see.'],
  ['processes', '/processes', 'Zonal statistics'],
  ['process', '/processes/band_math', 'Fill in what is required'],
  ['process-mosaic', '/processes/mosaic', 'Fill in what is required'],
  ['clips', '/clips', 'Nothing was clipped yet'],
  ['mosaics', '/mosaics', 'No mosaic yet'],
] as const

test('the console: screens of buying and making', { skip: WITHOUT_TIME }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { vendors: true })
  const chromium = await browser(t)
  const org = await w.organization()
  for (const mode of MODES) await t.test(mode[0], () => everyScreen(w, org, chromium, mode))
})

async function everyScreen(w: World, org: Org, chromium: Browser, [mode, options]: (typeof MODES)[number]): Promise<void> {
  const here = await seat(w, chromium, options)
  const { page } = here
  await signIn(here, org.owner)
  for (const [name, address, sign] of SCREENS) {
    await page.goto(`${w.baseUrl}/app${address}`)
    await page.getByText(sign).first().waitFor()
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
    await assertAccessible(page, `${name}, ${mode}`)
    const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(excess <= 0, `${name}, ${mode}: ${excess} px wider than the screen`)
    await shot(page, `${name}-${mode}`)
  }
  await here.page.context().close() // Who still asks while the service closes would keep it.
  assertOwnBusiness(w, here)
}
