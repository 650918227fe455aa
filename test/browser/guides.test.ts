// Goal: guides can be read, in light and dark, at a desk and on a phone: enough contrast everywhere, nothing scrolls sideways, tabs,
// search and copying work by keyboard, and no script breaks the policy.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { campaign } from '../support/campaign.ts'
import { world } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, PATIENT_MS, PHONE } from './console.ts'

const GUIDES = readdirSync(path.join(import.meta.dirname, '../../docs/guides'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.basename(file, '.md'))
/** axe takes seconds for a long page; contrast and width are looked at everywhere. */
const LOOKED_AT = campaign({ short: ['first-steps', 'uploads'], ci: ['first-steps', 'uploads', 'workers', 'operating'], long: GUIDES })
const THEMES = ['light', 'dark'] as const

/** Texts whose contrast with what lies under them is below 4.5:1, or 3:1 where they are large. */
const FAINT = `(() => {
  const channels = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return { rgb: [r, g, b], a } }
  const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => [r, g, b].map((channel) => linear(channel / 255))
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0)
  const under = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, a } = channels(getComputedStyle(at).backgroundColor)
      if (a === 1) return rgb
    }
    return [255, 255, 255]
  }
  const faint = []
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement
    if (!node.data.trim() || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const [a, b] = [light(channels(style.color).rgb), light(under(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    const size = parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) faint.push(ratio.toFixed(2) + ' ' + node.data.trim().slice(0, 40))
  }
  return faint
})()`

test('guides', { skip: WITHOUT_BROWSER }, async (t) => {
  const w = await world(t)
  const chromium = await browser(t)
  for (const theme of THEMES)
    for (const [seat, options] of [
      ['desk', { viewport: { width: 1440, height: 900 } }],
      ['phone', PHONE],
    ] as const)
      await t.test(`${theme}, ${seat}`, async () => {
        const { page, faults } = await watchedPage(chromium, { ...options, colorScheme: theme })
        page.setDefaultTimeout(PATIENT_MS)
        for (const name of GUIDES) {
          await page.goto(`${w.baseUrl}/docs/guides/${name}`)
          await page.locator('.top .theme').waitFor()
          assert.deepEqual(await page.evaluate(FAINT), [], `contrast of ${name}`)
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
          assert.equal(wide, 0, `${name} scrolls sideways`)
          if (LOOKED_AT.includes(name)) await assertAccessible(page, `${name}, ${theme}, ${seat}`)
          if (name === 'uploads' || name === 'first-steps') await shot(page, `guide-${name}-${theme}-${seat}`)
        }
        assert.deepEqual(faults, [])
        await page.context().close()
      })

  await t.test('tabs, contents, search, copying, previous and next, and the choice of a theme', async () => {
    const { page, faults } = await watchedPage(chromium, {
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    page.setDefaultTimeout(PATIENT_MS)
    await page.goto(`${w.baseUrl}/docs/guides/first-steps`)
    const tab = (name: string) => page.getByRole('tab', { name, exact: true })
    await tab('curl').first().focus()
    await page.keyboard.press('ArrowLeft')
    assert.equal(await tab('Python').first().getAttribute('aria-selected'), 'true')
    assert.ok(await page.getByText('from groundtrack import Groundtrack').first().isVisible())
    assert.equal(await tab('Python').nth(1).getAttribute('aria-selected'), 'true', 'every group shows the language that was chosen')
    // It says so for a moment only: a busy machine looks for it from the beginning.
    const copied = page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.getByRole('button', { name: 'Copy' }).and(page.locator(':visible')).nth(1).click()
    await copied
    assert.match(await page.evaluate('navigator.clipboard.readText()'), /^from groundtrack import Groundtrack/)

    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: '1. Sign up' }).click()
    assert.equal(new URL(page.url()).hash, '#1-sign-up')
    await page.keyboard.press('/')
    await page.keyboard.type('quota storage')
    await page.locator('#results a').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => !url.pathname.endsWith('/first-steps'))
    await page.goto(`${w.baseUrl}/docs/guides?q=idempotency`)
    await page.getByRole('heading', { name: /Results for/ }).waitFor()
    assert.ok((await page.locator('.results li').count()) > 0)

    await page.goto(`${w.baseUrl}/docs/guides/first-steps`)
    assert.equal(await tab('Python').first().getAttribute('aria-selected'), 'true', 'the language is remembered')
    await page.getByRole('link', { name: /^Next/ }).click()
    await page.waitForURL(/real-imagery/)
    await page.getByRole('link', { name: /^Previous/ }).click()
    await page.waitForURL(/first-steps/)
    await page.getByRole('button', { name: 'Dark theme' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Light theme' }).waitFor()
    assert.deepEqual(await page.evaluate(FAINT), [])
    assert.deepEqual(faults, [])
    await page.context().close()
  })
})
