// Goal: axe has no serious or moderate finding on any screen of the console, with something in every list: on a desktop in light and
// dark, on a phone, and at 200% zoom. Targets have 24 px, no screen is wider than its window, and the demo opens where its imagery is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { openLab, until } from '../support/service.ts'
import { browser, WITHOUT_TIME } from './chromium.ts'
import { findings, LONG_MS, MODERATE, PATIENT_MS, PHONE, settled, type Finding } from './console.ts'
import { furnish } from './furnish.ts'
import { screensOf } from './screens.ts'

const DEMO_MS = 600_000

/** A window of 1440 by 900 at 200% has half as many pixels of CSS. */
const MODES: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['desktop, light', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
  ['desktop, dark', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
  ['phone', { colorScheme: 'light', ...PHONE }],
  ['200% zoom', { colorScheme: 'light', viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }],
]
/** MODE names one of them, and SCREEN a screen, for a look at what was changed. */
const [MODE, SCREEN] = [process.env['MODE'], process.env['SCREEN']?.split(',')]

// Goal: what the walk below looks for is found where it is wrong.
test('a page with small targets, a skipped heading and no landmark', { skip: WITHOUT_TIME }, async (t) => {
  const page = await (await browser(t)).newPage()
  const button = (name: string) => `<button style="width:12px;height:12px;padding:0" aria-label="${name}"></button>`
  await page.setContent(`<html lang="en"><title>Wrong</title><h1>One</h1><h4>Four</h4>${button('a')}${button('b')}</html>`)
  const ids = (await findings(page, 'a wrong page', MODERATE)).map(({ id }) => id)
  for (const id of ['target-size', 'heading-order', 'region', 'landmark-one-main']) assert.ok(ids.includes(id), id)
})

test('the console: every screen is accessible', { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const service = await lab.start({
    env: { DATA_DIR: lab.dataDir(), DEMO: '1', EGRESS_ALLOW: '127.0.0.1:9', SANDBOX_DELIVERY_SECONDS: '1' },
  })
  await until('the demo', () => /^demo: ready/m.test(service.output()), DEMO_MS)
  const furnished = await furnish(service.baseUrl)
  const screens = screensOf(furnished).filter(([name]) => !SCREEN || SCREEN.includes(name))
  const chromium = await browser(t)
  for (const [mode, options] of MODES.filter(([name]) => !MODE || name === MODE))
    await t.test(mode, async () => {
      const page = await demoPage(chromium, service.baseUrl, options)
      const found: Record<string, Finding[]> = {}
      for (const [name, address] of screens) {
        await page.goto(`${service.baseUrl}/app${address}`)
        await settled(page)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        const all = [
          ...(await findings(page, name, MODERATE)),
          ...(wide > 0 ? [{ id: 'wider than its window', nodes: [`${wide} px`] }] : []),
        ]
        if (all.length > 0) found[name] = all
      }
      await page.context().close()
      assert.deepEqual(found, {})
    })
})

/** Signed in to the demo, which opens with its imagery in view. */
async function demoPage(chromium: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
  const context = await chromium.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENT_MS)
  await page.goto(`${url}/app/sign-in`)
  await page.getByLabel('Email').fill(DEMO_EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(DEMO_PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await Promise.all([
    page.waitForRequest(/\/items\/[\w-]+\/tiles\/\d+/),
    page.waitForURL((address) => /\/app\/explore/.test(address.pathname) && zoomOf(address) > 8),
  ])
  return page
}

const zoomOf = (address: URL): number => Number((address.searchParams.get('map') ?? '').split(',')[2])
