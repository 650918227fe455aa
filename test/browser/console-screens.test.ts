// Goal: each screen opens by its address, in both themes, wide and on a phone, without a serious fault of accessibility.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, sceneItem, seat, signIn } from './console.ts'

test('the console: every screen', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const chromium = await browser(t)
  const org = await w.organization()
  await sceneItem(w, org, 'Loire valley, June')
  for (const mode of MODES) await t.test(mode[0], () => everyScreen(w, org, chromium, mode))
})

const MODES = [
  ['desktop-light', { colorScheme: 'light' }],
  ['phone-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const

const SCREENS = [
  ['explore', '/explore'],
  ['library', '/library'],
  ['welcome', '/welcome'],
  ['billing', '/billing'],
  ['ledger', '/billing/ledger'],
  ['usage', '/billing/usage'],
  ['plan', '/billing/plan'],
  ['team', '/team'],
  ['projects', '/team/projects'],
  ['audit', '/team/audit'],
  ['keys', '/develop/keys'],
  ['shares', '/shares'],
  ['orders', '/orders'],
  ['compare', '/compare'],
] as const

// Goal: each screen opens by its address, in both themes, wide and on a phone, without a serious fault of accessibility.
async function everyScreen(w: World, org: Org, chromium: Browser, [mode, options]: (typeof MODES)[number]): Promise<void> {
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
  const screens = [...SCREENS, ['view', `/view/${items[0].id}`], ['lineage', `/lineage/item/${items[0].id}`]] as const
  {
    const here = await seat(w, chromium, options)
    await signIn(here, org.owner)
    for (const [name, address] of screens) {
      await here.page.goto(`${w.baseUrl}/app${address}`)
      await here.page.locator('main h1').first().waitFor({ state: 'attached' })
      await here.page.waitForFunction(`document.querySelectorAll('main .skeleton').length === 0`)
      await assertAccessible(here.page, `${name}, ${mode}`)
      const wide = await here.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(wide <= 0, `${name}, ${mode}: ${wide} px wider than the screen`)
      await shot(here.page, `${name}-${mode}`)
    }
    await here.page.keyboard.press('Control+k')
    await here.page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    await assertAccessible(here.page, `palette, ${mode}`)
    await here.page.keyboard.press('Escape')
    assertOwnBusiness(w, here)
  }
}
