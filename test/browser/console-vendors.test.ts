// Goal: an organization connects its own account at a vendor, sees what the vendor says about it, its budget and what is missing, and
// disconnects it: by mouse, by keyboard and on a phone.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { systemClock } from '#core/clock.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { startSkyfi } from '../../sandbox/vendors/skyfi/server.ts'
import { world, type Org, type World } from '../support/world.ts'
import { skyfiRegistry } from '../vendors/skyfi.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, SEATS, signIn, type Seat } from './console.ts'

const TITLE = 'Sandbox very high resolution'
const SHIPPED = new URL('../../src/adapters/vendors/registry.json', import.meta.url)

interface File {
  sources: { url: string }[]
}

/** The sandbox, and a vendor that nobody has used with a real account. */
async function startVendors(t: TestContext) {
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendors-'))
  const skyfi = await startSkyfi({ clock: systemClock, workDir })
  t.after(async () => {
    await skyfi.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const shipped = JSON.parse(readFileSync(SHIPPED, 'utf8')) as File
  const { sources } = JSON.parse(skyfiRegistry(skyfi)) as File
  const registry = JSON.stringify({ ...shipped, sources: [...shipped.sources.filter(({ url }) => url === 'sandbox'), ...sources] })
  const parse = async (sandboxUrl: string) => parseRegistry(registry, 'the registry of this test', { sandboxUrl, exchange: new Map() })
  return { key: skyfi.key, parse, egressAllow: Object.values(skyfi.hosts) }
}

for (const { hands, name, options } of SEATS)
  test(`the console: accounts at vendors, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const { key, parse, egressAllow } = await startVendors(t)
    const w = await world(t, { startAt: new Date().toISOString(), vendors: true, sources: parse, egressAllow })
    await vendors(w, await w.organization(), { here: await seat(w, await browser(t, hands), options), name, key })
  })

interface Walk {
  here: Seat
  name: string
  /** Of an account at SkyFi. */
  key: string
}

async function vendors(w: World, org: Org, { here, name, key }: Walk): Promise<void> {
  const { page } = here
  const picture = (what: string) => shot(page, `${what} ${name}`.replaceAll(' ', '-'))
  const accounts = async () => (await w.ok(org.owner.token, 'vendors.accounts.list')).accounts
  await journey('vendors', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/team`)
    await page.getByRole('link', { name: 'Vendors' }).click()
    const row = page.getByRole('listitem').filter({ hasText: TITLE })
    await row.getByText('not connected').waitFor()
    await row.getByText('Some products need a licence first: Sandbox licence for assured tasking').waitFor()
    await assertAccessible(page, 'vendors')
    await picture('vendors')

    await row.getByRole('button', { name: `Connect ${TITLE}` }).click()
    const dialog = page.getByRole('dialog', { name: `Connect ${TITLE}` })
    await dialog.getByLabel('API key').fill('not-the-key')
    await dialog.getByRole('button', { name: 'Check and connect' }).click()
    await dialog.getByText('does not accept these credentials; nothing was stored').waitFor()
    assert.deepEqual(await accounts(), [])
    await assertAccessible(page, 'wrong key')
    await picture('vendors wrong key')
    await dialog.getByLabel('API key').fill('sandbox-vendor-key')
    await dialog.getByRole('button', { name: 'Check and connect' }).click()
    await row.getByText('connected', { exact: true }).waitFor()
    await row.getByText('…-key').waitFor()
    assert.equal((await accounts()).length, 1)
    await picture('vendors connected')

    await row.getByRole('button', { name: `Check ${TITLE}` }).click()
    await page.getByText(`${TITLE}: connected`).waitFor()
    await row.getByRole('button', { name: `Disconnect ${TITLE}` }).click()
    await page
      .getByRole('dialog', { name: `Disconnect ${TITLE}` })
      .getByRole('button', { name: 'Disconnect' })
      .click()
    await row.getByText('not connected').waitFor()
    assert.deepEqual(await accounts(), [])

    const untested = page.getByRole('listitem').filter({ hasText: 'SkyFi' })
    await untested.getByText('Built from public documentation, not yet tested with an account.').waitFor()
    await untested.getByRole('button', { name: 'Connect SkyFi' }).click()
    const form = page.getByRole('dialog', { name: 'Connect SkyFi' })
    await form.getByText('Built from public documentation, not yet tested with an account.').waitFor()
    await form.getByLabel('API key').fill(key)
    await form.getByRole('button', { name: 'Check and connect' }).click()
    await untested.getByText(/of a budget of USD/).waitFor()
    await untested.getByText('Built from public documentation, not yet tested with an account.').waitFor()
    await assertAccessible(page, 'an account with a budget')
    await untested.scrollIntoViewIfNeeded()
    await picture('vendors budget')
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}
