// Goal: every screen is an address: it survives a reload, the way back and another tab; two tabs that renew at once stay signed in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, WITHOUT_TIME } from './chromium.ts'
import { assertOwnBusiness, journey, LONG_MS, sceneItem, seat, settled, signIn } from './console.ts'

/** What is on a screen, without what tells the time. */
const readable = (page: Page) =>
  page.evaluate<string>(`document.querySelector('main').innerText.replace(/\\d+ (s|min|h) ago|just now/g, '')`)

for (const hands of HANDS)
  test(`the console: links, by ${hands}`, { skip: WITHOUT_TIME, timeout: LONG_MS }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, startAt: new Date().toISOString() })
    const org = await w.organization()
    const addresses = await furnished(w, org)
    const here = await seat(w, await browser(t, hands))
    const { page } = here
    await journey('links', here, async () => {
      await signIn(here, org.owner)
      // By the links of the rail, as people go; then back, and forward again.
      const rail = page.getByRole('navigation', { name: 'Main', exact: true })
      await rail.getByRole('link', { name: 'Library' }).click()
      await page.waitForURL(/\/app\/library/)
      await rail.getByRole('link', { name: 'Jobs' }).click()
      await page.waitForURL(/\/app\/jobs/)
      await page.goBack()
      await page.waitForURL(/\/app\/library/)
      await page.goForward()
      await page.waitForURL(/\/app\/jobs/)
      for (const address of addresses) {
        await page.goto(`${w.baseUrl}/app${address}`)
        await settled(page)
        const title = await page.title()
        const heading = await page.locator('main h1').first().textContent()
        await page.reload()
        await settled(page)
        assert.equal(await page.locator('main h1').first().textContent(), heading, address)
        assert.equal(await page.title(), title, address)
        assert.equal(new URL(page.url()).pathname, `/app${address.split('?')[0]}`, address)
        assert.ok((await readable(page)).length > 0, address)
      }
    })
    await t.test('another tab, and both renewing at once', async () => {
      const second = await page.context().newPage()
      await Promise.all([page.goto(`${w.baseUrl}/app/team`), second.goto(`${w.baseUrl}/app/library`)])
      await Promise.all([settled(page), settled(second)])
      await Promise.all([page.reload(), second.reload()])
      await page.getByRole('heading', { name: 'Team' }).waitFor()
      await second.getByRole('link', { name: /All items/ }).waitFor()
      await second.close()
    })
    await t.test('what asks for a sign-in leads on after it', async () => {
      const stranger = await seat(w, page.context().browser()!)
      await stranger.page.goto(`${w.baseUrl}/app/team/projects`)
      await stranger.page.waitForURL(/\/app\/sign-in\?next=/)
      await stranger.page.getByLabel('Email').fill(org.owner.email)
      await stranger.page.getByLabel('Password', { exact: true }).fill(org.owner.password)
      await stranger.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await stranger.page.waitForURL(/\/app\/team\/projects/)
      await stranger.page.context().close()
    })
    await page.context().close()
    assertOwnBusiness(w, here)
  })

async function furnished(w: World, org: Org): Promise<string[]> {
  const { token } = org.owner
  const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
  const item = await sceneItem(w, org, 'Loire valley, June', { collection_id: collection })
  const { id: map } = await w.ok(token, 'maps.create', { project_id: org.projectId, name: 'Loire', layers: [{ item_id: item }] })
  return [
    '/welcome',
    '/explore?scope=mine',
    `/library/${org.projectId}/${collection}?view=table`,
    `/view/${item}?tab=metadata`,
    `/compare?a=${item}`,
    '/maps',
    `/maps/${map}`,
    '/uploads',
    '/shares',
    '/reports?about=usage',
    '/orders?status=delivered',
    '/orders/review',
    '/tasking',
    '/tasking/new',
    '/jobs?status=failed',
    '/processes/band_math',
    '/clips',
    '/mosaics',
    '/alerts',
    `/alerts/new?collection=${collection}&name=Green`,
    '/inbox?show=unread',
    '/lineage',
    `/lineage/item/${item}?direction=up`,
    '/develop/keys',
    '/develop/requests',
    '/develop/webhooks',
    ...['', '/ledger', '/invoices', '/usage', '/cards', '/approvals', '/plan', '/commitments'].map((page) => `/billing${page}`),
    '/account',
    ...['', '/projects', '/licences', '/vendors', '/audit', '/organization'].map((page) => `/team${page}`),
  ]
}
