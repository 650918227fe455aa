// Goal: dialogs, menus and popovers take the focus, keep it while they must, and give it back, whichever way they are closed; nothing
// behind a dialog can be reached, and what the console says meanwhile can.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PHONE, seat, signIn, type Seat } from './console.ts'

const MAX_TABS = 12

/** The name of what has the focus. */
const FOCUSED = `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.labels?.[0]?.innerText ??
  document.activeElement?.innerText ?? '').trim()`

const focused = (page: Page) => page.evaluate<string>(FOCUSED)
const untilFocused = (page: Page, name: string) => page.waitForFunction(`${FOCUSED} === ${JSON.stringify(name)}`)

/** The part of a box that lies outside the window. */
const OUTSIDE = `(selector) => {
  const { left, top, right, bottom } = document.querySelector(selector).getBoundingClientRect()
  return Math.max(0, -left, -top, right - innerWidth, bottom - innerHeight)
}`

test('the console: dialogs, menus and popovers', { skip: WITHOUT_TIME }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { startAt: new Date().toISOString() })
  const org = await w.organization()
  const chromium = await browser(t)
  const here = await seat(w, chromium)
  await signIn(here, org.owner)

  await t.test('a dialog keeps the focus and returns it', () => journey('dialog', here, () => dialogs(here, w.baseUrl)))
  await t.test('a dialog shows what the console says', () => journey('dialog-toast', here, () => messages(here, w.baseUrl)))
  await t.test('a menu is used by keys', () => journey('menu', here, () => menus(here)))
  await t.test('a popover is beside its button', () => journey('popover', here, () => popovers(here, w.baseUrl)))
  await t.test('on a phone all of them are inside the window', async () => {
    const phone = await seat(w, chromium, PHONE)
    await signIn(phone, org.owner)
    await journey('phone', phone, () => onPhone(phone, w.baseUrl))
    assertOwnBusiness(w, phone)
  })
  assertOwnBusiness(w, here)
})

async function dialogs({ page }: Seat, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/app/team`)
  const opener = page.getByRole('button', { name: 'Invite', exact: true })
  const dialog = page.getByRole('dialog', { name: 'Invite a member' })
  await opener.click()
  await dialog.waitFor()
  assert.equal(await focused(page), 'Email')
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab')
    const isInside = await page.evaluate<boolean>(
      `document.activeElement === document.body || document.activeElement.closest('dialog') !== null`,
    )
    assert.equal(isInside, true, 'the page behind has no focus')
  }
  await assertAccessible(page, 'dialog')
  await shot(page, 'dialog-light')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'Invite')
  await opener.click()
  await dialog.getByText('Role').first().click()
  await page.mouse.click(5, 400)
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'Invite')
  await opener.click()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'Invite')
}

async function messages({ page }: Seat, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/app/develop/webhooks`)
  await page.getByRole('button', { name: 'Verify a signature' }).click()
  const dialog = page.getByRole('dialog', { name: 'Verify a signature' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy' }).first().click()
  await dialog.getByRole('status').getByText('Copied').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#root').getByRole('status').getByText('Copied').waitFor()
}

async function menus({ page }: Seat): Promise<void> {
  const button = page.getByRole('button', { name: /account of/ })
  const menu = page.getByRole('menu', { name: 'Account' })
  const name = (await button.getAttribute('aria-label'))!
  await button.press('Enter')
  await menu.waitFor()
  assert.equal(await button.getAttribute('aria-expanded'), 'true')
  await page.keyboard.press('End')
  await untilFocused(page, 'Sign out')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await untilFocused(page, 'Sign out')
  await page.keyboard.press('k')
  await untilFocused(page, 'Keyboard shortcuts')
  await assertAccessible(page, 'menu')
  await shot(page, 'menu-light')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'hidden' })
  assert.equal(await focused(page), name)
  await page.keyboard.press('ArrowDown')
  await menu.waitFor()
  await page.keyboard.press('Tab')
  await menu.waitFor({ state: 'hidden' })
  await button.click()
  await menu.waitFor()
  await button.click()
  await menu.waitFor({ state: 'hidden' })
  await button.click()
  await menu.waitFor()
  await page.mouse.click(300, 500)
  await menu.waitFor({ state: 'hidden' })
  await button.click()
  await menu.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.waitFor()
  assert.equal(await menu.count(), 0)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await focused(page), name, 'a dialog that a menu opened returns the focus to the button of the menu')
}

async function popovers({ page }: Seat, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/app/explore`)
  const chip = page.getByRole('button', { name: 'Any date' })
  const panel = page.getByRole('dialog', { name: /^Filter/ })
  await chip.click()
  await untilFocused(page, 'From')
  const [button, box] = [(await chip.boundingBox())!, (await panel.boundingBox())!]
  assert.ok(box.y >= button.y + button.height && Math.abs(box.x - button.x) < 2, 'it is below the button, at its left edge')
  await assertAccessible(page, 'popover')
  await shot(page, 'popover-light')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  assert.equal(await focused(page), 'Any date')
  const bell = page.getByRole('button', { name: /^Inbox/ })
  await bell.click()
  await page.getByRole('dialog', { name: 'Inbox' }).getByRole('link', { name: 'Open' }).waitFor()
  assert.equal(await page.evaluate<number>(`(${OUTSIDE})('[popover]:popover-open')`), 0)
  await bell.click()
  await page.getByRole('dialog', { name: 'Inbox' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Use the dark theme' }).click()
  await page.getByRole('button', { name: /account of/ }).click()
  await shot(page, 'menu-dark')
  await page.keyboard.press('Escape')
  await bell.click()
  await page.getByRole('dialog', { name: 'Inbox' }).getByRole('link', { name: 'Open' }).waitFor()
  await shot(page, 'popover-dark')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await assertAccessible(page, 'dialog in the dark')
  await shot(page, 'dialog-dark')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
  await assertAccessible(page, 'palette in the dark')
  await shot(page, 'palette-dark')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor({ state: 'detached' })
}

async function onPhone({ page }: Seat, baseUrl: string): Promise<void> {
  const inside = async (selector: string) => assert.equal(await page.evaluate<number>(`(${OUTSIDE})('${selector}')`), 0, selector)
  await page.goto(`${baseUrl}/app/team`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menu', { name: 'More screens' }).waitFor()
  await inside('[popover]:popover-open')
  await shot(page, 'menu-phone')
  await page.getByRole('menuitem', { name: 'Jobs' }).click()
  await page.waitForURL(/\/jobs/)
  await page.getByRole('button', { name: /^Inbox/ }).click()
  await page.getByRole('dialog', { name: 'Inbox' }).waitFor()
  await inside('[popover]:popover-open')
  await shot(page, 'popover-phone')
  await page.keyboard.press('Escape')
  await page.goto(`${baseUrl}/app/team`)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await inside('dialog[open]')
  await shot(page, 'dialog-phone')
}
