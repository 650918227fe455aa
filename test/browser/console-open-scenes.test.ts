// Goal: an open scene is copied with its licence and lineage, a saved search adds the next ones, and what cannot be read or reached
// is named, in a browser and with a host whose scenes and failures the test decides.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import run from '#domains/processing/run.task.ts'
import addScenes from '#domains/saved_searches/add-scenes.task.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { OPEN_HOST, openHost } from '../support/open-host.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { typeArea } from './buying.ts'
import { browser, HANDS, shot, watchedPage, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'
import { mapCentre } from './open-imagery.ts'
import { colours } from './support/pixels.ts'

const AREA = { West: 151.02, South: -33.08, East: 151.08, North: -33.02 }
const PASSWORD = 'coral and sand'

for (const hands of HANDS)
  test(`the console: open scenes that are copied, searched for and broken, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const stage = await openStage(t)
    const chromium = await browser(t, hands)
    const here = await seat(stage.w, chromium)
    await journey('open-scenes', here, async () => {
      await signIn(here, stage.org.owner)
      const itemId = await copied(stage, here.page)
      await savedSearch(stage, here.page)
      await withoutBrokenFile(stage, here.page)
      await brokenBand(stage, here.page)
      await sources(stage, here.page)
      await here.page.context().close() // Who still asks while the service closes would keep it.
      const visitor = await watchedPage(chromium)
      await shared(stage, visitor.page, itemId)
      assert.deepEqual(visitor.faults, [])
    })
    assertOwnBusiness(stage.w, here)
  })

interface Stage {
  w: World
  org: Org
  host: Awaited<ReturnType<typeof openHost>>
}

async function openStage(t: TestContext): Promise<Stage> {
  const host = await openHost(t)
  const w = await world(t, { sources: host.sources })
  await host.publish({ id: 'scene-1', datetime: '2029-12-20T00:00:00.000Z', cloudCover: 2 })
  return { w, org: await w.organization(), host }
}

const explore = async ({ w }: Stage, page: Page): Promise<void> => {
  await page.goto(`${w.baseUrl}/app/explore?sources=${OPEN_HOST}`)
  await typeArea(page, AREA)
  await page.getByText('from 1 of 1 source').waitFor()
}

/** The copy shows how far it is and ends as an item with its licence, origin and lineage. */
async function copied(stage: Stage, page: Page): Promise<string> {
  const { w, org, host } = stage
  await explore(stage, page)
  await page.getByRole('region', { name: 'Scenes' }).getByRole('listitem').getByRole('button').first().click()
  await page.getByRole('button', { name: 'Add to library' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add to library' })
  await dialog.getByRole('button', { name: 'Copy files' }).first().click()
  await dialog.getByRole('button', { name: /^Copy files, A\$/ }).waitFor()
  await shot(page, 'open-copy-clipped')
  await dialog.getByLabel('Clip to the area of interest').uncheck()
  await assertAccessible(page, 'copy an open scene')
  const files = gate()
  host.script.beforeFile = async () => {
    if (host.transfers.length === 2) await files.opens
  }
  await dialog.getByRole('button', { name: 'Copy files, free' }).click()
  await page.waitForURL(/\/app\/jobs\//)
  const working = w.drain(run)
  await page.getByText('copying nir').waitFor()
  const bar = page.getByRole('progressbar', { name: 'Job progress' })
  assert.match((await bar.getAttribute('aria-valuenow'))!, /^[3-7]\d$/, 'half of the files')
  await assertAccessible(page, 'a copy in progress')
  await shot(page, 'open-copying')
  files.open()
  await working
  await page.getByRole('link', { name: 'Open result' }).click()
  await page.waitForURL(/\/app\/view\//)
  const itemId = new URL(page.url()).pathname.split('/').at(-1)!
  await page.getByRole('tab', { name: 'Metadata' }).click()
  const licence = page.getByRole('link', { name: 'CC-BY-4.0' })
  assert.equal(await licence.getAttribute('href'), 'https://licences.example/cc-by')
  await page.getByText('Test agency', { exact: true }).waitFor()
  await page.getByText('Test host', { exact: true }).waitFor()
  await shot(page, 'open-copied')
  const { item } = await w.ok(org.owner.token, 'items.get', { item_id: itemId })
  assert.deepEqual([item.type, item.stac_id], ['satellite_capture', 'scene-1'])
  await page.getByRole('link', { name: 'Lineage' }).last().click()
  await page.waitForURL(/\/app\/lineage\/item\//)
  await page
    .getByRole('complementary', { name: 'Selected' })
    .getByText(/produced/i)
    .first()
    .waitFor()
  await shot(page, 'open-lineage')
  return itemId
}

function gate(): { opens: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opens: promise, open: resolve }
}

/** It adds what follows below its limit, once, to its collection, and says so. */
async function savedSearch(stage: Stage, page: Page): Promise<void> {
  const { w, org, host } = stage
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'New scenes' })
  await explore(stage, page)
  await page.getByRole('button', { name: 'Save this search' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this search' })
  await dialog.getByLabel('Name').fill('Clear fields')
  await dialog.getByLabel('Maximum cloud cover (%)').fill('10')
  await dialog.getByRole('option', { name: 'New scenes' }).waitFor({ state: 'attached' })
  await dialog.getByLabel('Collection').selectOption({ label: 'New scenes' })
  await assertAccessible(page, 'save a search')
  await shot(page, 'open-save-search')
  await dialog.getByRole('button', { name: 'Save search' }).click()
  await page.getByText('Search saved').waitFor()
  await w.drain(addScenes)
  w.clock.advance({ minutes: 1 })
  const datetime = w.clock.now().toISOString()
  await host.publish({ id: 'clear', datetime, cloudCover: 4 })
  await host.publish({ id: 'cloudy', datetime, cloudCover: 60 })
  w.clock.advance({ minutes: 1 })
  const { saved_searches } = await w.ok(org.owner.token, 'saved_searches.list', {})
  await w.runTask(addScenes, { saved_search_id: saved_searches[0].id })
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId, collection_id })
  assert.deepEqual(
    items.map(({ stac_id }: { stac_id: string }) => stac_id),
    ['clear'],
  )
  await page.reload()
  await page.getByRole('button', { name: 'Saved searches' }).click()
  const list = page.getByRole('dialog', { name: 'Saved searches' })
  await list.getByText(/^1 scene added, last run/).waitFor()
  await list.getByText('Adds new scenes').waitFor()
  await assertAccessible(page, 'saved searches')
  await shot(page, 'open-saved-searches')
  await list.getByRole('button', { name: 'Edit Clear fields' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit search' })
  await edit.getByRole('option', { name: 'New scenes' }).waitFor({ state: 'attached' })
  assert.equal(await edit.getByLabel('Collection').inputValue(), collection_id)
  await edit.getByRole('button', { name: 'Cancel' }).click()
}

/** A scene with a file that is gone is not added, but the rest of it can be. */
async function withoutBrokenFile(stage: Stage, page: Page): Promise<void> {
  const { w, org, host } = stage
  await host.publish({ id: 'partial', datetime: '2029-12-31T00:00:00.000Z', cloudCover: 3 })
  host.script.fileStatus = { 'partial-nir.tif': 404 }
  await page.goto(`${w.baseUrl}/app/explore?sources=${OPEN_HOST}&to=2029-12-31`)
  await typeArea(page, AREA)
  await page.getByText('from 1 of 1 source').waitFor()
  await page.getByRole('region', { name: 'Scenes' }).getByRole('listitem').getByRole('button').first().click()
  await page.getByRole('button', { name: 'Add to library' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add to library' })
  await dialog.getByRole('button', { name: 'Add to library, free' }).click()
  await dialog.getByText(/The asset 'nir' cannot be read: /).waitFor()
  await assertAccessible(page, 'a scene with a broken file')
  await shot(page, 'open-add-broken')
  await dialog.getByRole('button', { name: 'Add without nir' }).click()
  await page.waitForURL(/\/app\/view\//)
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId, q: 'partial' })
  assert.equal(items.length, 1)
  host.script.fileStatus = {}
}

const UNREADABLE = /^The expression could not be computed: The asset 'nir' cannot be read: .*404.* or use other bands/

/** A band whose file is gone fails in words that name it, once, and the other one is drawn. */
async function brokenBand({ w, org, host }: Stage, page: Page): Promise<void> {
  await host.publish({ id: 'broken', datetime: '2029-12-22T00:00:00.000Z', cloudCover: 3 })
  const save = await w.ok(org.owner.token, 'catalog.scene.save', { host_name: OPEN_HOST, id: 'broken', project_id: org.projectId })
  host.script.fileStatus = { 'broken-nir.tif': 404 }
  w.clock.advance({ minutes: 10 }) // What is known of a file is asked again.
  await page.goto(`${w.baseUrl}/app/view/${save.item.id}?style=ndvi`)
  await page.getByText(UNREADABLE).waitFor()
  await assertAccessible(page, 'a band that cannot be read')
  await shot(page, 'open-broken-band')
  await page.getByRole('button', { name: 'Single band' }).click()
  await page.getByText(UNREADABLE).waitFor({ state: 'detached' })
  await until('the other band', async () => colours(await mapCentre(page)) > 20)
  await shot(page, 'open-other-band')
  host.script.fileStatus = {}
}

/** Simulated sources have a badge; one that cannot be reached says since when and why. */
async function sources({ w }: Stage, page: Page): Promise<void> {
  await w.db
    .insertInto('vendor_host')
    .values({
      host_name: OPEN_HOST,
      status: 'unreachable',
      since: w.clock.now(),
      checked_at: w.clock.now(),
      error: 'connection refused',
      next_probe_at: w.clock.now(),
    })
    .onConflict((conflict) => conflict.column('host_name').doUpdateSet({ status: 'unreachable', error: 'connection refused' }))
    .execute()
  await page.goto(`${w.baseUrl}/app/explore?sources=${OPEN_HOST}`)
  await typeArea(page, AREA)
  await page.getByText(/^Test host cannot be reached since .*; no other source was selected\.$/).waitFor()
  await page.getByRole('button', { name: 'Sources 1 of 2' }).click()
  const [open, shop] = await page.getByRole('dialog').locator('label').allTextContents()
  assert.match(open!, /^Test host open data.*Cannot be reached since .*: connection refused$/)
  assert.doesNotMatch(open!, /Simulated/)
  assert.match(shop!, /for sale.*Simulated/)
  await assertAccessible(page, 'a source that cannot be reached')
  await shot(page, 'open-unreachable')
  await w.db.deleteFrom('vendor_host').execute()
}

/** Whoever receives a link sees whose imagery it is, and under which licence. */
async function shared({ w, org }: Stage, page: Page, itemId: string): Promise<void> {
  const { token } = await w.signIn(org.owner, org.id)
  const link = await w.ok(token, 'share.link.create', {
    target_type: 'item',
    target_id: itemId,
    password: PASSWORD,
    expires_at: '2030-02-01T00:00:00Z',
  })
  await page.goto(`${w.baseUrl}/s/${link.token}`)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  const licence = page.getByRole('link', { name: 'CC-BY-4.0' })
  await licence.waitFor()
  assert.equal(await licence.getAttribute('href'), 'https://licences.example/cc-by')
  await page.getByText('Test agency', { exact: true }).waitFor()
  await assertAccessible(page, 'a share page with a licence')
  await shot(page, 'open-share')
}
