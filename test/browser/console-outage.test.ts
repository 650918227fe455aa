// Goal: an outage, an update or a hasty reload never takes the console away: its own page offers the next step, and nobody is signed out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, journey, PHONE, seat, signIn, type Seat } from './console.ts'

const ANY = /.*/
const LIBRARY = /\/app\/assets\/library-.*\.js/
const RELOADS = 3

test('the console during an outage', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const org = await w.organization()
  const chromium = await browser(t)
  await t.test('a screen that is not loaded yet, on a desk', async () => unloadedScreen(w, org, chromium, {}))
  await t.test('a screen that is not loaded yet, on a phone', async () => unloadedScreen(w, org, chromium, PHONE))
  await t.test('a part of a screen', async () => unloadedPart(w, org, chromium))
  await t.test('a new version of the console', async () => newVersion(w, org, chromium))
  await t.test('a reload while the service does not respond', async () => reloadInOutage(w, org, chromium))
  await t.test('reloads that interrupt the renewal of the session', async () => hastyReloads(w, org, chromium))
})

async function at(w: World, org: Org, chromium: Browser, options: object = {}): Promise<Seat> {
  const here = await seat(w, chromium, options)
  await signIn(here, org.owner)
  await here.page.locator('main h1').first().waitFor({ state: 'attached' })
  return here
}

/** The service is gone for this page: nothing is answered. */
const cut = (page: Page) => page.route(ANY, (route) => route.abort('connectionrefused'))
const mend = (page: Page) => page.unroute(ANY)
/** A route that is still answering when its page closes would fail the next test. */
async function leave(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
}
const open = (page: Page, path: string) => page.locator(`nav a[href='/app${path}']`).filter({ visible: true }).click()

// Goal: the frame stays, the page says what is wrong, and 'Try again' helps as soon as the service is back, not before.
async function unloadedScreen(w: World, org: Org, chromium: Browser, options: object): Promise<void> {
  const here = await at(w, org, chromium, options)
  const { page } = here
  await journey('unloaded-screen', here, async () => {
    await cut(page)
    await open(page, '/library')
    await page.getByText('Could not reach the service.').waitFor()
    assert.ok(await page.locator('nav').filter({ visible: true }).first().isVisible(), 'the frame is still there')
    await shot(page, `outage-${'isMobile' in options ? 'phone' : 'desk'}`)
    await assertAccessible(page, 'a screen that could not be loaded')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Could not reach the service.').waitFor()
    await mend(page)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.getByText('Could not reach the service.').waitFor({ state: 'detached' })
    assert.match(page.url(), /\/app\/library/)
  })
  await leave(page)
}

// Goal: a dialog that cannot be loaded leaves the screen as it is.
async function unloadedPart(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await at(w, org, chromium)
  const { page } = here
  await journey('unloaded-part', here, async () => {
    await cut(page)
    await page.keyboard.press('Shift+A')
    await page.getByText('Could not reach the service.').first().waitFor()
    await page.getByRole('navigation', { name: 'Main', exact: true }).waitFor()
    await page.locator('main h1').first().waitFor({ state: 'attached' })
    await mend(page)
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByText('Could not reach the service.').first().waitFor({ state: 'detached' })
  })
  await leave(page)
}

// Goal: after an update, whose files have other names, the page reloads itself once; if that does not help, it says so and stops.
async function newVersion(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await at(w, org, chromium)
  const { page } = here
  await journey('new-version', here, async () => {
    let loads = 0
    page.on('load', () => loads++)
    // As the service answers once other files have replaced those of this page.
    await page.route(LIBRARY, (route) => route.fulfill({ status: 404, body: '' }))
    await page.route(/\/app\/(library)?$/, async (route) => {
      const response = await route.fetch()
      const html = await response.text()
      await route.fulfill({ response, body: html.replace(/\/app\/assets\/index-[\w-]+\.js(?=")/, '/app/assets/index-newer.js') })
    })
    await page.route(/index-newer\.js/, async (route) => {
      const html = await (await page.request.get(`${w.baseUrl}/app/`)).text()
      await route.fulfill({ response: await page.request.get(w.baseUrl + /\/app\/assets\/index-[\w-]+\.js/.exec(html)![0]) })
    })
    await open(page, '/library')
    await page.getByText('This page could not be loaded.').waitFor()
    assert.equal(loads, 1, 'reloaded once')
    await page.unroute(LIBRARY)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  })
  await leave(page)
}

// Goal: who reloads during an outage of the API is still signed in when it is over.
async function reloadInOutage(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await at(w, org, chromium)
  const { page } = here
  await journey('reload-in-outage', here, async () => {
    await page.goto(`${w.baseUrl}/app/orders`)
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    await page.route(/\/auth\//, (route) => route.abort('connectionrefused'))
    await page.reload()
    await page.getByText('Could not reach the service.').waitFor()
    assert.match(page.url(), /\/app\/orders/)
    await page.unroute(/\/auth\//)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
  })
  await leave(page)
}

// Goal: each reload leaves before the new token has arrived, though the service has issued it.
async function hastyReloads(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await at(w, org, chromium)
  const { page } = here
  await journey('hasty-reloads', here, async () => {
    await page.goto(`${w.baseUrl}/app/orders`)
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    for (let reload = 0; reload < RELOADS; reload++) {
      const renewed = Promise.withResolvers<void>()
      await page.route(/\/auth\/refresh/, async (route) => {
        const { url, method, headers, body } = {
          url: route.request().url(),
          method: route.request().method(),
          headers: await route.request().allHeaders(),
          body: route.request().postData(),
        }
        const response = await fetch(url, { method, headers: sendable(headers), body })
        assert.equal(response.status, 200, 'an interrupted renewal can be repeated')
        renewed.resolve() // Its response never reaches the page.
      })
      void page.reload({ waitUntil: 'commit' }).catch(() => undefined)
      await renewed.promise
      await page.unroute(/\/auth\/refresh/)
    }
    await page.reload()
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    assert.match(page.url(), /\/app\/orders/)
  })
  await leave(page)
}

const sendable = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') && name !== 'content-length' && name !== 'host'))
