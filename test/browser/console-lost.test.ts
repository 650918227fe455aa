// Goal: nobody gets lost: a wrong URL keeps the frame, a deleted item offers next steps, no screen asks for what its user cannot have,
// and the checklist of first steps stays until it is completed or dismissed, with every step leading back to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Request } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type Person, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneItem, seat, SEATS, settled, signIn, type Seat } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: the next step, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, startAt: new Date().toISOString() })
    const org = await w.organization()
    const chromium = await browser(t, hands)
    await t.test('the checklist of first steps', async () => checklist(w, org, await seat(w, chromium, options)))
    const item = await sceneItem(w, org, 'Loire valley, June')
    await t.test('a wrong URL and a deleted item', async () => wrongUrls(w, org, await seat(w, chromium, options)))
    await t.test('Explore opens where the imagery is', async () => opensAtImagery(w, org, await seat(w, chromium, options)))
    for (const role of ['owner', 'editor', 'viewer'] as const)
      await t.test(`no request is forbidden: ${role}`, async () => {
        const who = role === 'owner' ? org.owner : await w.member(org, role)
        await nothingForbidden(w, { who, item, chromium, options })
      })
  })

const MAIN = 'nav[aria-label^="Main"]'

// Goal: nothing but completing or dismissing it removes the checklist, and from each of its steps it is one click away.
async function checklist(w: World, org: Org, here: Seat): Promise<void> {
  const { page } = here
  await journey('checklist', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/welcome`)
    const list = page.getByRole('main').getByRole('list')
    const back = page.getByRole('banner').getByRole('link', { name: /first steps/i })
    for (const [step, address] of [
      ['Search', /\/app\/explore/],
      ['Upload', /\/app\/uploads/],
      ['Invite', /\/app\/team/],
      ['Create a key', /\/app\/develop\/keys/],
    ] as const) {
      await list.getByRole('link', { name: step, exact: true }).click()
      await page.waitForURL(address)
      await back.click()
      await page.waitForURL(/\/app\/welcome/)
    }
    await w.ok(org.owner.token, 'api_keys.create', { name: 'Nightly job' })
    await page.reload()
    await list.getByRole('listitem').filter({ hasText: 'Connect QGIS or code' }).getByText('Done').waitFor()
    await shot(page, 'checklist')
    await assertAccessible(page, 'the checklist')
    await page.getByRole('button', { name: 'Dismiss checklist' }).click()
    await back.waitFor({ state: 'detached' })
    await page.goto(`${w.baseUrl}/app/jobs`)
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
    assert.equal(await back.count(), 0, 'a dismissed checklist stays away')
    await page.goto(`${w.baseUrl}/app/welcome`)
    await page.getByRole('button', { name: 'Show checklist on every screen' }).click()
    await back.waitFor()
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

async function wrongUrls(w: World, org: Org, here: Seat): Promise<void> {
  const { page } = here
  const gone = await sceneItem(w, org, 'Loire valley, gone')
  await w.ok(org.owner.token, 'items.delete', { item_id: gone })
  await journey('wrong-urls', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/no/such/page`)
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor()
    await page.locator(MAIN).filter({ visible: true }).first().waitFor()
    await shot(page, 'page-not-found')
    await assertAccessible(page, 'a wrong URL')
    await page.getByRole('link', { name: 'Open the library' }).click()
    await page.waitForURL(/\/app\/library/)
    await page.goto(`${w.baseUrl}/app/view/${gone}`)
    await page.getByRole('heading', { name: 'Item not found', level: 1 }).waitFor()
    await page.locator(MAIN).filter({ visible: true }).first().waitFor()
    await shot(page, 'item-not-found')
    await assertAccessible(page, 'a deleted item')
    await page.getByRole('link', { name: 'Search your items' }).click()
    await page.waitForURL(/\/app\/explore\?scope=mine/)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

async function opensAtImagery(w: World, org: Org, here: Seat): Promise<void> {
  const { page, requests } = here
  await journey('opens-at-imagery', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/explore`)
    await page.waitForURL((url) => {
      const [longitude, latitude, zoom] = (url.searchParams.get('map') ?? '').split(',').map(Number)
      return Math.abs(longitude! - 2.3) < 0.05 && Math.abs(latitude! - 48.2) < 0.05 && zoom! > 8
    })
    await until('a tile of the newest item', () => requests.some((url) => /\/items\/[\w-]+\/tiles\//.test(url)), PATIENT_MS)
  })
  await page.context().close()
  assertOwnBusiness(w, here)
}

interface Walk {
  who: Person
  item: string
  chromium: Browser
  options: object
}

// Goal: what somebody can do is known from their role; no request is made to find out, on any screen.
async function nothingForbidden(w: World, { who, item, chromium, options }: Walk): Promise<void> {
  const here = await seat(w, chromium, options)
  const { page } = here
  const forbidden: string[] = []
  page.on('response', (response) => {
    if (response.status() === 403) forbidden.push(`${new URL(page.url()).pathname}: ${response.url()}`)
  })
  // Calls that are not answered yet; the stream of events never ends.
  const open = new Set<Request>()
  page.on('request', (request) => void (request.url().includes('/v1/op/') && open.add(request)))
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => void open.delete(request))
  await journey('nothing-forbidden', here, async () => {
    await signIn(here, who)
    for (const address of screensOf(item)) {
      open.clear()
      await page.goto(`${w.baseUrl}/app${address}`)
      await settled(page)
      await until(`answers on ${address}`, () => open.size === 0, PATIENT_MS)
    }
  })
  await page.context().close()
  assert.deepEqual(forbidden, [])
}

const screensOf = (item: string): readonly string[] => [
  '/welcome',
  '/explore',
  '/library',
  ...['style', 'pixel', 'statistics', 'metadata'].map((tab) => `/view/${item}?tab=${tab}`),
  `/compare?a=${item}`,
  '/uploads',
  '/shares',
  '/reports',
  '/orders',
  '/orders/review',
  '/tasking',
  '/tasking/new',
  '/jobs',
  '/processes',
  '/processes/band_math',
  '/clips',
  '/mosaics',
  '/alerts',
  '/alerts/new',
  '/inbox',
  '/lineage',
  `/lineage/item/${item}`,
  '/develop/keys',
  '/develop/requests',
  '/develop/webhooks',
  ...['', '/ledger', '/invoices', '/usage', '/cards', '/approvals', '/plan', '/commitments'].map((page) => `/billing${page}`),
  ...['', '/projects', '/licences', '/vendors', '/audit', '/organization'].map((page) => `/team${page}`),
]
