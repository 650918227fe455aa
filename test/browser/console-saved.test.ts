// Goal: work in Explore can be left and taken up again: a saved search restores everything and tells about new scenes once; the cart is
// the same on another device; and a draft order is opened with today's prices and what has changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import addScenes from '#domains/saved_searches/add-scenes.task.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { OPEN_HOST, openHost } from '../support/open-host.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { choose, typeArea } from './buying.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, seat, SEATS, signIn, type Seat } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: searches that tell about new scenes, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const host = await openHost(t)
    const w = await world(t, { sources: host.sources })
    const org = await w.organization()
    const here = await seat(w, await browser(t, hands), options)
    await journey(`saved searches ${name}`, here, async () => {
      await signIn(here, org.owner)
      await told(w, org, here.page, host)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
  })

async function told(w: World, org: Org, page: Page, host: Awaited<ReturnType<typeof openHost>>): Promise<void> {
  await page.goto(`${w.baseUrl}/app/explore?sources=${OPEN_HOST}&cloud=40&gsd=30&sort=clearest`)
  await typeArea(page, { West: 151.02, South: -33.08, East: 151.08, North: -33.02 })
  await page.getByText('from 1 of 1 source').waitFor()
  const before = new URL(page.url()).searchParams
  await page.getByRole('button', { name: 'Save this search' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this search' })
  await dialog.getByLabel('Name').fill('Harbour, clear')
  await dialog.getByLabel('New scenes', { exact: true }).selectOption({ label: 'Tell me about them' })
  await dialog.getByLabel('Email me as soon as there are new scenes').check()
  await assertAccessible(page, 'a search that tells')
  await shot(page, 'saved-tell')
  await dialog.getByRole('button', { name: 'Save search' }).click()
  await page.getByText('Search saved').waitFor()
  await w.drain(addScenes)
  w.clock.advance({ minutes: 1 })
  await host.publish({ id: 'new', datetime: w.clock.now().toISOString(), cloudCover: 4 })
  w.clock.advance({ minutes: 1 })
  const { saved_searches } = await w.ok(org.owner.token, 'saved_searches.list', {})
  const run = () => w.runTask(addScenes, { saved_search_id: saved_searches[0].id })
  await run()
  await run()
  await page.goto(`${w.baseUrl}/app/inbox`)
  await page.getByText('New scenes: Harbour, clear').waitFor()
  assert.equal(await page.getByText('New scenes: Harbour, clear').count(), 1)
  await page
    .getByText(/^1 new scene: /)
    .first()
    .waitFor()
  await page.goto(`${w.baseUrl}/app/explore`)
  await page.getByRole('button', { name: 'Saved searches' }).click()
  const list = page.getByRole('dialog', { name: 'Saved searches' })
  await list.getByText(/^1 scene reported, last run/).waitFor()
  await list.getByText('Reports new scenes').waitFor()
  await shot(page, 'saved-searches')
  await list.getByRole('button', { name: 'Show results' }).click()
  await page.getByText('from 1 of 1 source').waitFor()
  const after = new URL(page.url()).searchParams
  for (const parameter of ['aoi', 'sources', 'cloud', 'gsd', 'sort']) assert.equal(after.get(parameter), before.get(parameter), parameter)
}

for (const { hands, name, options } of SEATS)
  test(`the console: carts and draft orders, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true })
    const org = await w.organization()
    const chromium = await browser(t, hands)
    const here = await seat(w, chromium, options)
    await journey(`drafts ${name}`, here, async () => {
      await signIn(here, org.owner)
      await drafts(w, org, here.page)
      await elsewhere(w, org, chromium, here, options)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
  })

async function openDraft(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Draft orders' }).click()
  const list = page.getByRole('dialog', { name: 'Draft orders' })
  await list.getByText(/^2 scenes, saved /).waitFor()
  await list.getByRole('button', { name: 'Open Harbour' }).click()
  await list.waitFor({ state: 'detached' })
}

/** The cart becomes a draft and comes back from it, with what its scenes cost now. */
async function drafts(w: World, org: Org, page: Page): Promise<void> {
  await choose(w, page, 2)
  await page.getByRole('link', { name: 'Review order' }).click()
  await page.getByRole('button', { name: /^Place order|^Accept|^Choose/ }).waitFor()
  await page.getByRole('button', { name: 'Save as draft' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save as draft' })
  await dialog.getByLabel('Name').fill('Harbour')
  await dialog.getByRole('button', { name: 'Save draft' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Clear cart' }).click()
  await page.getByText('Your cart is empty').waitFor()
  await openDraft(page)
  await page.getByText(/Prices of draft 'Harbour' have not changed/).waitFor()
  assert.equal(await page.getByRole('button', { name: /^Remove / }).count(), 2)
  // As if the vendor had changed its prices.
  const { drafts: found } = await w.ok(org.owner.token, 'orders.drafts.list')
  const { id } = found.find((draft: { name: string | null }) => draft.name === 'Harbour')
  const { draft } = await w.ok(org.owner.token, 'orders.drafts.get', { draft_id: id })
  const captures = draft.captures.map((capture: object, index: number) => (index === 0 ? { ...capture, quoted_credits: 100 } : capture))
  await w.ok(org.owner.token, 'orders.drafts.save', { name: 'Harbour', captures })
  await page.reload()
  await openDraft(page)
  await page.getByText(/Prices of draft 'Harbour' have changed/).waitFor()
  await page.getByText(/: A\$1\.00, now A\$/).waitFor()
  await assertAccessible(page, 'a draft with other prices')
  await shot(page, 'saved-draft-prices')
}

/** Another device has the same cart; what it removes is gone here. */
async function elsewhere(w: World, org: Org, chromium: Browser, here: Seat, options: object): Promise<void> {
  const count = async () => (await w.ok(org.owner.token, 'orders.drafts.get')).draft?.captures.length
  await until('the cart on the service', async () => (await count()) === 2, PATIENT_MS)
  const other = await seat(w, chromium, options)
  await signIn(other, org.owner)
  await other.page.goto(`${w.baseUrl}/app/orders/review`)
  const removes = other.page.getByRole('button', { name: /^Remove Sandbox/ })
  await removes.first().waitFor()
  assert.equal(await removes.count(), 2)
  await removes.first().click()
  await until('one scene on the service', async () => (await count()) === 1, PATIENT_MS)
  await other.page.context().close()
  await here.page.reload()
  await until('one scene here', async () => (await here.page.getByRole('button', { name: /^Remove Sandbox/ }).count()) === 1, PATIENT_MS)
}
