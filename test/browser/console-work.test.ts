// Goal: files become items, and money moves once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_BROWSER } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneBytes, seat, signIn } from './console.ts'
import os from 'node:os'
import path from 'node:path'
import { writeFile } from 'node:fs/promises'

test('the console: uploads and money', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const chromium = await browser(t)
  const org = await w.organization()
  await t.test('upload', () => uploads(w, org, chromium))
  await t.test('money', () => money(w, org, chromium))
})

// Goal (J7): a file goes to the store and becomes an item; what is no map is refused with the remedy before a byte moves.
async function uploads(w: World, org: Org, chromium: Browser): Promise<void> {
  const { bytes } = await sceneBytes()
  const folder = process.env['TMPDIR'] ?? os.tmpdir()
  const file = path.join(folder, `flight-${process.pid}.tif`)
  const archive = path.join(folder, `export-${process.pid}.zip`)
  await writeFile(file, bytes)
  await writeFile(archive, 'PK')
  const here = await seat(w, chromium)
  const { page } = here
  await journey('work', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/uploads`)
    await page.locator('input[type=file]').setInputFiles([file, archive])
    await page.getByText('It is an archive: unpack it').waitFor()
    await page.getByRole('link', { name: 'Open', exact: true }).waitFor()
    await shot(page, 'uploads')
    await assertAccessible(page, 'uploads')
    await page.getByRole('link', { name: 'Open', exact: true }).click()
    await page.waitForURL(/\/app\/view\//)
    await page.getByRole('tab', { name: 'Style' }).waitFor()
  })
  assertOwnBusiness(w, here)
}

// Goal (J12): a declined card is said, the bank is asked, and the same payment is made once.
async function money(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await journey('work', here, async () => {
    await signIn(here, org.owner)
    const addCard = async (value: string) => {
      await page.goto(`${w.baseUrl}/app/billing/cards`)
      await page.getByRole('button', { name: 'Add a card' }).click()
      await page.getByLabel('Test card').selectOption(value)
      await page.getByRole('button', { name: 'Save the card' }).click()
      await page.getByText('The card is saved').waitFor()
    }
    await addCard('pm_card_threeDSecure2Required')
    await page.goto(`${w.baseUrl}/app/billing`)
    await page.getByRole('button', { name: 'Add credits' }).click()
    await page.getByRole('button', { name: 'A$100.00', exact: true }).click()
    await page.getByRole('button', { name: 'Charge A$100.00' }).click()
    await page.getByText('Your bank asks whether this is you').waitFor()
    await shot(page, 'bank')
    await page.getByRole('button', { name: 'Yes, it is me' }).click()
    await page.getByText('10,000 credits were added.').waitFor()
    const { balance_credits } = await w.ok(org.owner.token, 'billing.credits.balance', {})
    assert.equal(balance_credits, 10_000)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('cell', { name: /topup/ }).first().waitFor()
  })
  assertOwnBusiness(w, here)
}
