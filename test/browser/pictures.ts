/**
 * Pictures of every screen of the console, in both themes, wide and on a phone, of the demo with something in every list: for people
 * who look. `node test/browser/pictures.ts --out /tmp/pictures [--only view,orders] [--modes phone-dark] [--url <service>]`; with an
 * address it looks at a demo that runs already and was filled by this file before.
 */
import { mkdirSync, writeFileSync, readFileSync, existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { openLab, until } from '../support/service.ts'
import { launch } from './chromium.ts'
import { PHONE } from './console.ts'
import { furnish, type Furnished } from './furnish.ts'
import { screensOf } from './screens.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    only: { type: 'string', default: '' },
    modes: { type: 'string', default: '' },
    url: { type: 'string' },
  },
})
if (!values.out) throw new Error('--out names the folder for the pictures')
const OUT = path.resolve(values.out)
const DEMO_MS = 600_000
const PATIENT_MS = 90_000
/** After that a map that still loads is taken as it is. */
const IDLE_MS = 6_000

const MODES = [
  ['desktop-light', { colorScheme: 'light', viewport: { width: 1440, height: 900 } }],
  ['desktop-dark', { colorScheme: 'dark', viewport: { width: 1440, height: 900 } }],
  ['phone-light', { colorScheme: 'light', ...PHONE }],
  ['phone-dark', { colorScheme: 'dark', ...PHONE }],
] as const

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/app/sign-in`)
  await page.getByLabel('Email').fill(DEMO_EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(DEMO_PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/app\/(explore|welcome)/)
}

/** The screen is there, nothing of it loads, and the map has drawn what it has. */
async function take(page: Page, url: string, name: string, address: string): Promise<void> {
  await page.goto(`${url}/app${address}`)
  await page
    .locator('main:not(:has([aria-label="Loading"])) > *, #root:not(:has(main)) > *')
    .first()
    .waitFor({ state: 'attached' })
    .catch(() => console.error(`${name}: still loading`))
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => undefined)
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  if (wide > 0) console.error(`${name}: ${wide} px wider than the screen`)
  await page.screenshot({ path: path.join(OUT, `${name}.png`) }).catch((error: Error) => console.error(`${name}: ${error.message}`))
}

async function takeAll(url: string, furnished: Furnished): Promise<void> {
  const only = values.only ? values.only.split(',') : null
  const browser = await launch()
  try {
    for (const [mode, options] of MODES) {
      if (values.modes && !values.modes.split(',').includes(mode)) continue
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENT_MS)
      if (!only || only.includes('sign-in')) await take(page, url, `sign-in-${mode}`, '/sign-in')
      if (!only || only.includes('sign-up')) await take(page, url, `sign-up-${mode}`, '/sign-up')
      await signIn(page, url)
      for (const [name, address] of screensOf(furnished))
        if (!only || only.includes(name)) await take(page, url, `${name}-${mode}`, address)
      await context.close()
    }
  } finally {
    await browser.close()
  }
}

mkdirSync(OUT, { recursive: true })
const kept = path.join(OUT, 'furnished.json')
if (values.url) {
  const furnished = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as Furnished) : await furnish(values.url)
  writeFileSync(kept, JSON.stringify(furnished))
  await takeAll(values.url, furnished)
} else {
  const lab = openLab()
  try {
    const service = await lab.start({
      env: { DATA_DIR: lab.dataDir(), DEMO: '1', EGRESS_ALLOW: '127.0.0.1:9', SANDBOX_DELIVERY_SECONDS: '1' },
    })
    await until('the demo', () => /^demo: ready/m.test(service.output()), DEMO_MS)
    await takeAll(service.baseUrl, await furnish(service.baseUrl))
  } finally {
    await lab.close()
  }
}
