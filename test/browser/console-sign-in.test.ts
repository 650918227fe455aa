// Goal: the page shows the sign-in form and the frame before any script of the console runs, exactly as the console draws them afterwards,
// and whoever was quicker than the console loses nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type World } from '../support/world.ts'
import { browser, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { PATIENT_MS, PHONE, signIn } from './console.ts'

/** What somebody sees of some elements: their words, and where they stand. */
const LOOKS = (root: string, selectors: string) => `[...document.querySelectorAll('${root}')].flatMap((root) =>
  [...root.querySelectorAll('${selectors}')].filter((node) => node.checkVisibility()).map((node) => {
    const { x, y, width, height } = node.getBoundingClientRect()
    const { color, fontSize, backgroundColor } = getComputedStyle(node)
    const words = node.innerText.replaceAll(/\\s+/g, ' ').trim()
    return [node.tagName, words, ...[x, y, width, height].map(Math.round), color, fontSize, backgroundColor]
      .join(' ')
  }))`

const SIGN_IN = 'h1, h2, p, label, input, button, a, b'
const RAIL = 'nav[aria-label^="Main"] :is(a, button)'

/** Holds the console itself back until it is let go. */
async function held(page: Page): Promise<() => Promise<void>> {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/\/app\/assets\/console-.*\.js/, async (route) => {
    await gate
    await route.continue()
  })
  return async () => {
    release()
    await page.locator('#first').waitFor({ state: 'detached' })
  }
}

async function visitor(w: World, from: Parameters<typeof watchedPage>[0], options: object = {}) {
  const here = await watchedPage(from, { viewport: { width: 1440, height: 900 }, ...options })
  here.page.setDefaultTimeout(PATIENT_MS)
  const release = await held(here.page)
  await here.page.goto(`${w.baseUrl}/app/sign-in`, { waitUntil: 'commit' })
  return { ...here, release }
}

test('the first page of the console', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const org = await w.organization()
  const chromium = await browser(t)

  for (const [name, options] of [
    ['a desk', {}],
    ['a phone', PHONE],
    ['the dark', { colorScheme: 'dark' }],
  ] as const)
    await t.test(`the sign-in page is the same before and after the console runs, on ${name}`, async () => {
      const { page, release, faults } = await visitor(w, chromium, options)
      await page.getByLabel('Email').waitFor()
      const before = await page.evaluate(LOOKS('#first .sign-in-page', SIGN_IN))
      await release()
      assert.deepEqual(await page.evaluate(LOOKS('#root .sign-in-page', SIGN_IN)), before)
      assert.deepEqual(faults, [])
      await page.context().close()
    })

  await t.test('what is typed and pressed before the console runs is done when it does', async () => {
    const { page, release, faults } = await visitor(w, chromium)
    await page.getByLabel('Email').fill(org.owner.email)
    await page.getByLabel('Password', { exact: true }).fill(org.owner.password)
    await page.keyboard.press('Enter')
    assert.match(page.url(), /\/app\/sign-in$/, 'no password goes into an address')
    await release()
    await page.waitForURL(/\/app\/(explore|welcome)/)
    assert.deepEqual(faults, [])
    await page.context().close()
  })

  await t.test('whoever is in the middle of a word goes on in the same field', async () => {
    const { page, release } = await visitor(w, chromium)
    await page.getByLabel('Email').fill(org.owner.email)
    await page.getByLabel('Password', { exact: true }).pressSequentially(org.owner.password.slice(0, 4))
    await release()
    await page.keyboard.type(org.owner.password.slice(4))
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/app\/(explore|welcome)/)
    await page.context().close()
  })

  for (const [name, options] of [
    ['a desk', {}],
    ['a phone', PHONE],
  ] as const)
    await t.test(`who is signed in sees the frame at once, with the places where they stay, on ${name}`, async () => {
      const here = await visitor(w, chromium, options)
      await here.release()
      await signIn(here, org.owner)
      const second = await here.page.context().newPage()
      second.setDefaultTimeout(PATIENT_MS)
      await here.page.close()
      const release = await held(second)
      await second.goto(`${w.baseUrl}/app/jobs`, { waitUntil: 'commit' })
      await second.locator('#first .shell').waitFor()
      const places = (root: string) =>
        second.evaluate<string[]>(LOOKS(root, RAIL)).then((all) => all.map((element) => element.split(' rgb')[0]))
      const before = await places('#first')
      await release()
      await second.locator('#root nav[aria-label="Main"]').waitFor({ state: 'attached' })
      assert.deepEqual(await places('#root'), before)
      await second.context().close()
    })

  await t.test('nothing else inline is allowed than what stands in the page', async () => {
    const { headers, bytes } = await w.request('GET', '/app/sign-in')
    const policy = headers.get('content-security-policy')!
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(policy.match(/'sha256-/g)?.length, [...bytes.toString().matchAll(/<(?:script|style)>/g)].length)
  })
})
