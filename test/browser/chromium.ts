/** A real browser for tests: the system's chromium, without a window, with a software GPU, and with no way out of this machine. */
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { campaign, someOf } from '../support/campaign.ts'
import { leavesFirst, within } from '../support/guests.ts'
import { keyboardPage } from './support/keyboard.ts'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable']

/** CHROMIUM names one that is elsewhere. */
const CHROMIUM = [process.env['CHROMIUM'] ?? '', ...PLACES].find((place) => existsSync(place)) ?? null
/** For `skip` of a test: says what is missing where there is none. */
export const WITHOUT_BROWSER = CHROMIUM ? false : `no browser here: install chromium or set CHROMIUM (looked at ${PLACES.join(', ')})`

const LATER = 'a journey through the console: CAMPAIGN=long goes it'
/** For `skip` of a journey: each takes a browser for a minute, so that they are gone in long campaigns, and in CI by turns. */
export const WITHOUT_TIME = WITHOUT_BROWSER || campaign<string | false>({ short: LATER, long: false })

const ARGUMENTS = [
  '--no-sandbox',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-gpu-compositing', // The map draws on the software GPU; the page around it is several times faster without it.
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** Every journey is gone twice: as most people do it, and by somebody without a mouse. HANDS names one of them; CI draws one. */
export type Hands = 'mouse' | 'keyboard'
const BOTH: readonly Hands[] = ['mouse', 'keyboard']
const named = process.env['HANDS']
/** HANDS=phone goes journeys on a phone alone, HANDS=keyboard none of them. */
export const WITH_PHONE = named !== 'keyboard'
const wanted = BOTH.filter((hands) => hands === named)
export const HANDS =
  wanted.length > 0 || named === 'phone' ? wanted : campaign<readonly Hands[]>({ short: BOTH, ci: someOf(BOTH, 2), long: BOTH })
const withoutMouse = new WeakSet<Browser>()

const CLOSE_MS = 15_000

/**
 * Signals are not swallowed: who hangs can be stopped. The browser hangs on a pipe of this process and ends with it, however that ends.
 */
export const launch = () =>
  chromium.launch({ executablePath: CHROMIUM!, args: ARGUMENTS, handleSIGTERM: false, handleSIGINT: false, handleSIGHUP: false })

export async function pidOf(started: Browser): Promise<number> {
  const session = await started.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.find(({ type }) => type === 'browser')!.id
}

/** One that does not go is ended. */
async function close(started: Browser, pid: number): Promise<void> {
  if (!started.isConnected()) return
  await within(CLOSE_MS, 'closing the browser', started.close()).catch(() => process.kill(pid, 'SIGKILL'))
}

export async function browser(t: TestContext, hands: Hands = 'mouse'): Promise<Browser> {
  const started = await launch()
  const pid = await pidOf(started)
  if (hands === 'keyboard') withoutMouse.add(started)
  // Who still asks while the service closes would keep it.
  leavesFirst(t, () => close(started, pid))
  t.after(() => close(started, pid))
  return started
}

interface Watched {
  page: Page
  /** Every address that the page asked for. */
  requests: string[]
  /** What broke its content security policy, threw, or was written as an error that no test expects. */
  faults: string[]
}

/** A page with everything that it does behind our back written down. */
export async function watchedPage(from: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await from.newContext({ viewport: { width: 1120, height: 700 }, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const faults: string[] = []
  await page.exposeFunction('reportViolation', (text: string) => {
    faults.push(text)
  })
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => reportViolation('policy: ' + ` +
      `event.violatedDirective + ' ' + event.blockedURI))`,
  )
  page.on('request', (request) => {
    requests.push(request.url())
  })
  page.on('pageerror', (error) => {
    faults.push(`thrown: ${error.message}`)
  })
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|status of 4\d\d|AJAXError/.test(message.text()))
      faults.push(`console: ${message.text()}`)
  })
  return { page: withoutMouse.has(from) ? keyboardPage(page) : page, requests, faults }
}

/** Writes a picture where SCREENSHOTS names a folder: for people to look at. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}
