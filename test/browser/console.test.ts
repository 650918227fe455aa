// Goal: people do their work in the console, in a real browser, against a real service: nothing but published operations is
// called, nothing leaves the service's own origins, no policy is broken, and no screen shuts anybody out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { writeFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#console.ts'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene } from '../../sandbox/scenes/index.ts'
import { storeFile } from '../support/stored-file.ts'
import { world, type Org, type Person, type World } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'

const SIZE_PX = 256
const PATIENT_MS = 90_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

async function sceneBytes(datetime = '2025-06-12T10:40:00Z') {
  const scene = describeScene({ sensor: 'sandbox-open', longitude: 2.3, latitude: 48.2, datetime, sizePx: SIZE_PX })
  const sink = memorySink()
  await renderScene(scene, sink)
  return { scene, bytes: sink.bytes() }
}

async function sceneItem(w: World, org: Org, name: string, more: object = {}): Promise<string> {
  const { scene, bytes } = await sceneBytes()
  const { id } = await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'satellite_capture',
    geometry: scene.footprint,
    datetime: scene.datetime,
    cloud_cover: scene.cloudCover,
    gsd: scene.gsdM,
    name,
    ...more,
  })
  await storeFile(w, id, { bytes, bandNames: scene.bands.map((band) => band.name) })
  return id as string
}

interface Seat {
  page: Page
  requests: string[]
  faults: string[]
}

async function seat(w: World, from: Browser, options: object = {}): Promise<Seat> {
  const watched = await watchedPage(from, { viewport: { width: 1440, height: 900 }, ...options })
  watched.page.setDefaultTimeout(PATIENT_MS)
  await watched.page.goto(`${w.baseUrl}/app/sign-in`)
  return watched
}

async function signIn({ page }: Seat, who: Person): Promise<void> {
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/app\/(explore|welcome)/)
}

/** Nothing was called that others cannot call, and nobody else was asked. */
function assertOwnBusiness(w: World, { requests, faults }: Seat): void {
  const own = new URL(w.baseUrl).origin
  const store = `http://127.0.0.1:${w.storePort}`
  const elsewhere = requests.filter((url) => !url.startsWith(own) && !url.startsWith(store) && !/^(data|blob):/.test(url))
  assert.deepEqual(elsewhere, [])
  const known = /^\/(app|assets|auth|api\/v1|v1\/op\/[\w.]+|s|docs|sandbox\/payments)(\/|$|\?)/
  const paths = requests.filter((url) => url.startsWith(own)).map((url) => new URL(url).pathname)
  assert.deepEqual(
    paths.filter((one) => !known.test(one)),
    [],
  )
  const called = new Set(paths.filter((one) => one.startsWith('/v1/op/')).map((one) => one.slice('/v1/op/'.length)))
  for (const id of called) assert.ok(w.platform.operations.has(id), `${id} is an operation of the contract`)
  assert.deepEqual(faults, [])
}

async function assertAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: string[] }[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  assert.deepEqual(found, [], where)
}

test('the console, in a real browser', { skip: WITHOUT_BROWSER }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t, { vendors: true })
  const chromium = await browser(t)
  await t.test('first minute', (part) => firstMinute(part, w, chromium))
  const org = await w.organization()
  await t.test('style an item, share it', (part) => styleAndShare(part, w, org, chromium))
  await t.test('upload', () => uploads(w, org, chromium))
  await t.test('money', () => money(w, org, chromium))
  await t.test('a viewer', () => viewer(w, org, chromium))
  await t.test('every screen', () => everyScreen(w, org, chromium))
})

// Goal (J1): from nothing to a picture on the map and a call that answers, without leaving the browser.
async function firstMinute(t: TestContext, w: World, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  await page.getByRole('link', { name: 'Create one' }).click()
  await page.getByLabel('Name').fill('Mira')
  await page.getByLabel('Email').fill(`mira-${process.pid}@example.com`)
  await page.getByLabel('Password', { exact: true }).fill('coral and sand 84')
  await shot(page, 'sign-up')
  await page.getByRole('button', { name: 'Create the account' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Coast survey')
  await assertAccessible(page, 'choice of organization')
  await page.getByRole('button', { name: 'Create the organization' }).click()
  await page.getByRole('heading', { name: 'Your organization is ready' }).waitFor()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Wetland survey')
  await page.getByRole('button', { name: 'Create the project' }).click()
  await page.getByText('Nothing here yet').waitFor()
  await page.goto(`${w.baseUrl}/app/welcome`)
  await shot(page, 'welcome')
  await page.getByRole('button', { name: 'Add the sample' }).click()
  await page.waitForURL(/\/app\/view\//)
  await page.getByRole('tab', { name: 'Style' }).waitFor()
  await t.test('a key, and the first call with it', async () => {
    await page.goto(`${w.baseUrl}/app/develop/keys`)
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('Nightly job')
    await page.getByRole('button', { name: 'Make the key' }).click()
    await page.getByRole('button', { name: 'Show' }).click()
    const key = await page.getByLabel('The new key').textContent()
    const { body } = await w.call(key!, 'projects.list', {})
    assert.equal(body.projects[0].name, 'Wetland survey')
  })
  await t.test('a reload keeps the session, another tab too', async () => {
    await page.reload()
    await page.getByText('Nightly job').waitFor()
    const second = await page.context().newPage()
    await Promise.all([second.goto(`${w.baseUrl}/app/library`), page.reload()])
    await second.getByRole('link', { name: /All items/ }).waitFor()
    await page.getByText('Nightly job').waitFor()
  })
  assertOwnBusiness(w, here)
}

// Goal (J4, J11): a look is chosen and mended, kept as a profile, and shared; a stranger opens the link, and not after its end.
async function styleAndShare(t: TestContext, w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, 'Loire valley, June')
  const here = await seat(w, chromium)
  const { page } = here
  await signIn(here, org.owner)
  await page.goto(`${w.baseUrl}/app/view/${id}`)
  await page.getByRole('button', { name: 'Expression' }).click()
  await page.getByRole('button', { name: 'NDVI', exact: true }).click()
  await page.locator('.legend').getByText('NDVI').waitFor()
  await t.test('a wrong expression is refused in words', async () => {
    await page.getByLabel(/^Expression/).fill('(b4 - nothing) / 2')
    await page.getByText('wrong', { exact: true }).waitFor()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel(/^Expression/).fill('(b4 - b3) / (b4 + b3)')
    await page.getByText('valid', { exact: true }).waitFor()
  })
  await t.test('a handle moves by keys, and the range is in the address', async () => {
    const handle = page.getByRole('slider', { name: 'Lowest value' })
    await handle.focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/range=/)
  })
  await page.getByRole('button', { name: 'Save as profile' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Greenness')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Greenness is saved').waitFor()
  const profiles = await w.ok(org.owner.token, 'visualization.profiles.list', { item_id: id })
  assert.ok(profiles.some(({ name }: { name: string }) => name === 'Greenness'))
  await shot(page, 'viewer')

  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const password = await page.getByRole('dialog').getByLabel('Password').inputValue()
  await page.getByRole('button', { name: 'Make the link' }).click()
  const link = await page.getByLabel('Share link').textContent()
  await shot(page, 'share')
  await assertAccessible(page, 'share dialog')
  const stranger = await watchedPage(chromium)
  await stranger.page.goto(link!)
  await stranger.page.getByLabel('Password', { exact: true }).fill(password)
  await stranger.page.getByRole('button', { name: 'Open', exact: true }).click()
  await stranger.page.getByRole('heading', { name: 'Loire valley, June' }).waitFor({ timeout: PATIENT_MS })
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('Not shared.').waitFor()
  const token = link!.split('/').at(-1)
  assert.equal((await w.post('/v1/op/share.link.validate', { token, password })).status, 401)
  assertOwnBusiness(w, here)
}

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
  assertOwnBusiness(w, here)
}

// Goal (J12): a declined card is said, the bank is asked, and the same payment is made once.
async function money(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
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
  assertOwnBusiness(w, here)
}

// Goal (J13): a viewer sees what there is, and no button that may not be pressed.
async function viewer(w: World, org: Org, chromium: Browser): Promise<void> {
  const id = await sceneItem(w, org, '<img src=x onerror=alert(1)> hostile')
  const who = await w.member(org, 'viewer')
  const here = await seat(w, chromium)
  const { page } = here
  await signIn(here, who)
  await page.goto(`${w.baseUrl}/app/view/${id}`)
  await page.getByRole('tab', { name: 'Style' }).waitFor()
  await page.getByRole('button', { name: 'Copy tile address' }).waitFor()
  for (const name of ['Save as profile', 'Share', 'Delete the item'])
    assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
  await page.goto(`${w.baseUrl}/app/library`)
  await page.getByText('<img src=x onerror=alert(1)> hostile').first().waitFor()
  assert.equal(await page.getByRole('link', { name: 'Upload' }).count(), 0)
  await page.goto(`${w.baseUrl}/app/uploads`)
  await page.getByText('You may look, not upload').waitFor()
  await page.goto(`${w.baseUrl}/app/billing`)
  await page.getByText('Billing is for owners and admins').waitFor()
  assertOwnBusiness(w, here)
}

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
async function everyScreen(w: World, org: Org, chromium: Browser): Promise<void> {
  const { items } = await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })
  const screens = [...SCREENS, ['view', `/view/${items[0].id}`], ['lineage', `/lineage/item/${items[0].id}`]] as const
  for (const [mode, options] of [
    ['desktop-light', { colorScheme: 'light' }],
    ['phone-dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ] as const) {
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
