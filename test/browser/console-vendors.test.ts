// Goal: an organization connects its own account at a vendor, sees what the vendor says about it and what is missing, and disconnects it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

const TITLE = 'Sandbox very high resolution'

for (const hands of HANDS)
  test(`the console: accounts at vendors, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString(), vendors: true })
    await vendors(w, await w.organization(), await browser(t, hands))
  })

async function vendors(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  const accounts = async () => (await w.ok(org.owner.token, 'vendors.accounts.list')).accounts
  await journey('vendors', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/team`)
    await page.getByRole('link', { name: 'Vendors' }).click()
    const row = page.getByRole('listitem').filter({ hasText: TITLE })
    await row.getByText('not connected').waitFor()
    await row.getByText('Some products need a licence first: Sandbox licence for assured tasking').waitFor()
    await assertAccessible(page, 'vendors')
    await shot(page, 'vendors')

    await row.getByRole('button', { name: `Connect ${TITLE}` }).click()
    const dialog = page.getByRole('dialog', { name: `Connect ${TITLE}` })
    await dialog.getByLabel('API key').fill('not-the-key')
    await dialog.getByRole('button', { name: 'Check and connect' }).click()
    await dialog.getByText('does not accept these credentials; nothing was stored').waitFor()
    assert.deepEqual(await accounts(), [])
    await assertAccessible(page, 'wrong key')
    await shot(page, 'vendors-wrong-key')
    await dialog.getByLabel('API key').fill('sandbox-vendor-key')
    await dialog.getByRole('button', { name: 'Check and connect' }).click()
    await row.getByText('connected', { exact: true }).waitFor()
    await row.getByText('…-key').waitFor()
    assert.equal((await accounts()).length, 1)
    await shot(page, 'vendors-connected')

    await row.getByRole('button', { name: `Check ${TITLE}` }).click()
    await page.getByText(`${TITLE}: connected`).waitFor()
    await row.getByRole('button', { name: `Disconnect ${TITLE}` }).click()
    await page
      .getByRole('dialog', { name: `Disconnect ${TITLE}` })
      .getByRole('button', { name: 'Disconnect' })
      .click()
    await row.getByText('not connected').waitFor()
    assert.deepEqual(await accounts(), [])
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}
