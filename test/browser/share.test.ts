// Goal: the public page of a share works for people, in a real browser, and harms nobody.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene } from '../../sandbox/scenes/index.ts'
import { until } from '../support/service.ts'
import { storeFile } from '../support/stored-file.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, watchedPage, WITHOUT_BROWSER } from './chromium.ts'
import { PATIENT_MS } from './console.ts'
import { PAYLOADS } from './payloads.ts'
import { hostPage } from './support/host-page.ts'
import { colours, difference, pixelsOf } from './support/pixels.ts'

const PASSWORD = 'coral and sand'
const SIZE_PX = Number(process.env['SCENE_PX'] ?? 256)

async function sceneItem(w: World, org: Org, more: { name: string; longitude?: number; datetime?: string } & Record<string, unknown>) {
  const { longitude = 2.3, datetime = '2025-06-12T10:40:00Z', ...fields } = more
  const scene = describeScene({ sensor: 'sandbox-open', longitude, latitude: 48.2, datetime, sizePx: SIZE_PX })
  const sink = memorySink()
  await renderScene(scene, sink)
  const { id } = await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'satellite_capture',
    geometry: scene.footprint,
    datetime: scene.datetime,
    cloud_cover: scene.cloudCover,
    gsd: scene.gsdM,
    ...fields,
  })
  await storeFile(w, id, { bytes: sink.bytes(), bandNames: scene.bands.map(({ name }) => name) })
  return { id: id as string, bytes: sink.bytes() }
}

const share = async (w: World, org: Org, target_id: string, more: object = {}): Promise<{ id: string; token: string }> =>
  await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id,
    password: PASSWORD,
    expires_at: '2031-01-01T00:00:00Z',
    ...more,
  })

async function enter(page: Page, password: string): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
}

/** Somebody with a link, on whatever machine. */
async function visitor(...given: Parameters<typeof watchedPage>): ReturnType<typeof watchedPage> {
  const watched = await watchedPage(...given)
  watched.page.setDefaultTimeout(PATIENT_MS)
  return watched
}

const drawn = (page: Page) => page.locator('#map[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })

/** The middle of the picture on the map, as numbers. */
async function middle(page: Page): Promise<Buffer> {
  const { width, height } = page.viewportSize()!
  const wide = width >= 760
  const clip = wide
    ? { x: width / 2 + 100, y: height / 2 - 60, width: 120, height: 120 }
    : { x: width / 2 - 40, y: height * 0.2, width: 80, height: 80 }
  return await pixelsOf(page, clip)
}

test('the public page of a share, in a real browser', { skip: WITHOUT_BROWSER }, async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const chromium = await browser(t)
  await t.test('an item', (part) => ofAnItem(part, w, org, chromium))
  await t.test('a collection, on a phone', () => ofACollection(w, org, chromium))
  await t.test('hostile strings', () => ofHostileStrings(w, org, chromium))
  await t.test('a map in a page of another host', (part) => embedded(part, w, org, chromium))
})

// Goal: somebody who was sent a link opens it with the password, sees the image, changes how it is shown, downloads it, and
// loses it when it is revoked; the page asks nobody but the service.
async function ofAnItem(t: TestContext, w: World, org: Org, chromium: Browser): Promise<void> {
  const { id, bytes } = await sceneItem(w, org, {
    name: 'Loire valley, June',
    description: 'Fields along the river, seen three weeks before the harvest.',
  })
  const link = await share(w, org, id, { permission: 'download' })
  const { page, requests, faults } = await visitor(chromium, { acceptDownloads: true })

  await t.test('a wrong password is refused in words, and the field is ready for the next one', async () => {
    await page.goto(`${w.baseUrl}/s/${link.token}`)
    await page.getByRole('heading', { name: 'Imagery shared with you' }).waitFor()
    assert.ok(await page.evaluate<boolean>('document.activeElement?.id === "password"'))
    await page.locator('#map canvas').waitFor()
    await shot(page, 'password')
    await enter(page, 'wrong password')
    await page.getByRole('alert').filter({ hasText: 'This password is not right, or the link has ended' }).waitFor()
    await shot(page, 'refused')
  })

  await t.test('the right one opens the map, and the image is drawn', async () => {
    await enter(page, PASSWORD)
    await page.getByRole('heading', { name: 'Loire valley, June' }).waitFor()
    await page.getByText('12 June 2025, 10:40 UTC').waitFor()
    await page.getByText('This link is open until 1 January 2031, 00:00 UTC.').waitFor()
    await drawn(page)
    await shot(page, 'item')
    await until('many colours: a picture, not a flat base map', async () => colours(await middle(page)) > 200)
    assert.equal(await page.title(), 'Loire valley, June · Groundtrack')
  })

  await t.test('another style draws other pixels, the slider lets the base map through', async () => {
    const before = await middle(page)
    await page.locator('.styles').getByText('NDVI', { exact: true }).click()
    await drawn(page)
    await shot(page, 'ndvi')
    await until('other pixels', async () => difference(before, await middle(page)) > 10)
    await page.getByRole('img', { name: 'Colours from −0.2 to 1' }).waitFor()
    const { width, height } = page.viewportSize()!
    await page.mouse.move(width / 2 + 160, height / 2)
    await page.locator('#values', { hasText: /^−?0\.\d+ at 48\.\d{3}° N, 2\.\d{3}° E$/ }).waitFor()
    assert.match(page.url(), /style=ndvi&at=2\.\d+%2C48\.\d+%2C\d/, 'style and place can be sent to somebody')
    await page.getByLabel('Opacity').fill('0')
    await drawn(page)
    await until('nothing of the image being left', async () => colours(await middle(page)) < 50)
  })

  await t.test('two styles side by side, with a divider that keys move', async () => {
    await page.getByLabel('Opacity').fill('100')
    await page.getByLabel('Compare with').selectOption({ label: 'Natural colour' })
    await page.locator('#second[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })
    const right = await middle(page)
    await page.getByLabel('Divider between the two images').press('End')
    await until('the other style left of the divider', async () => difference(right, await middle(page)) > 10)
    await shot(page, 'compared')
    assert.match(page.url(), /with=style%3A/)
    await page.getByLabel('Compare with').selectOption({ label: 'Nothing' })
    await page.locator('#frame').waitFor({ state: 'hidden' })
  })

  await t.test('the file comes as it is, under a good name', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /Loire valley, June\.tif/ }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'Loire valley, June.tif')
    assert.ok(Buffer.from(bytes).equals(await readFile(await download.path())))
  })

  await t.test('a reload needs no password; another tab does', async () => {
    await page.reload()
    await page.getByRole('heading', { name: 'Loire valley, June' }).waitFor()
    const other = await visitor(chromium)
    await other.page.goto(`${w.baseUrl}/s/${link.token}`)
    await other.page.getByLabel('Password', { exact: true }).waitFor()
    await other.page.context().close()
  })

  await t.test('once revoked, nothing more is drawn and the password opens nothing', async () => {
    await drawn(page)
    await w.ok(org.owner.token, 'share.link.revoke', { link_id: link.id })
    await page.locator('.styles').getByText('Colour infrared', { exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'This visit has ended' }).waitFor()
    await enter(page, PASSWORD)
    await page.getByRole('alert').filter({ hasText: 'the link has ended' }).waitFor()
    await shot(page, 'revoked')
  })

  assert.deepEqual(faults, [])
  const allowed = [w.baseUrl, new URL(await w.storage.signGet({ bucket: 'svc-x', key: 'x', expiresInSeconds: 60 })).origin]
  assert.deepEqual(
    requests.filter((address) => !allowed.includes(new URL(address).origin) && !/^(data|blob):/.test(address)),
    [],
    'nobody else is asked for anything',
  )
  assert.ok(requests.length > 20)
  await page.context().close()
}

// Goal: a collection shows its items, one at a time, also on a phone, in light and in dark.
async function ofACollection(w: World, org: Org, chromium: Browser): Promise<void> {
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', {
    project_id: org.projectId,
    name: 'Loire through the year',
    description: 'One place, two seasons.',
  })
  await sceneItem(w, org, { name: 'Winter', datetime: '2025-02-12T10:40:00Z', collection_id })
  await sceneItem(w, org, { name: 'Summer', collection_id })
  await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    collection_id,
    type: 'user_vector',
    name: 'Parcels',
    bbox: [2.29, 48.19, 2.31, 48.21],
  })
  const link = await share(w, org, collection_id, { target_type: 'collection' })
  const { page, faults } = await visitor(chromium, {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    colorScheme: 'dark',
  })

  await page.goto(`${w.baseUrl}/s/${link.token}`)
  await page.locator('#map canvas').waitFor()
  await shot(page, 'phone-password')
  await enter(page, PASSWORD)
  await page.getByRole('heading', { name: 'Loire through the year' }).waitFor()
  await drawn(page)
  await shot(page, 'phone-collection')
  await until('the image of the summer', async () => colours(await middle(page)) > 200)
  const summer = await middle(page)
  assert.equal(await page.getByRole('button', { name: /Summer/ }).getAttribute('aria-pressed'), 'true', 'the newest one first')
  await page.getByRole('button', { name: /Winter/ }).click()
  await page.locator('.scenes button[aria-pressed="true"]', { hasText: 'Winter' }).waitFor()
  await drawn(page)
  await shot(page, 'phone-winter')
  await until('the image of the winter', async () => difference(summer, await middle(page)) > 5)
  await page.getByLabel('Compare with').selectOption({ label: 'Summer' })
  await page.locator('#right-name', { hasText: 'Summer' }).waitFor()
  await shot(page, 'phone-compared')
  await page.getByRole('button', { name: /Parcels/ }).click()
  await page.getByRole('status').filter({ hasText: 'There is no image of this one' }).waitFor()
  await page.getByRole('button', { name: 'Hide details' }).click()
  await page.getByRole('button', { name: 'Show details' }).waitFor()
  await shot(page, 'phone-folded')
  assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'), 'nothing sticks out sideways')
  const small = await page.evaluate<string[]>(
    `[...document.querySelectorAll('button, a, summary')].filter((each) => { const { width, height } = ` +
      'each.getBoundingClientRect(); return width > 0 && height < 44 && ' +
      '!each.closest(".maplibregl-ctrl-bottom-right") }).map((each) => each.outerHTML)',
  )
  assert.deepEqual(small, [], 'fingers find every button')
  assert.deepEqual(faults, [])
  await page.context().close()
}

const frameOf = (src: string) => `<iframe src="${src}" title="The valley" width="900" height="520" allowfullscreen></iframe>`

// Goal: a shared map can be part of a page of another host, with a password or without, and leaves that page its focus and its
// scrolling; the page of the link itself cannot be framed.
async function embedded(t: TestContext, w: World, org: Org, chromium: Browser): Promise<void> {
  const { id } = await sceneItem(w, org, { name: 'Loire valley, May', datetime: '2025-05-12T10:40:00Z' })
  const { id: mapId } = await w.ok(org.owner.token, 'maps.create', {
    project_id: org.projectId,
    name: 'The valley',
    layers: [{ item_id: id, style: { profile: 'ndvi' }, opacity: 0.8, blend: 'multiply' }, { item_id: id }],
  })
  await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
  const withPassword = await share(w, org, mapId, { target_type: 'map' })
  const open = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'map',
    target_id: mapId,
    is_public: true,
    expires_at: '2031-01-01T00:00:00Z',
  })

  for (const [name, link] of Object.entries({ 'with a password': withPassword, public: open }))
    await t.test(name, async () => {
      const { page, faults } = await visitor(chromium)
      await page.goto(await hostPage(t, frameOf(`${w.baseUrl}/s/${link.token}/embed`)))
      const frame = page.frameLocator('iframe')
      if (link === withPassword) {
        await frame.getByLabel('Password', { exact: true }).waitFor()
        assert.ok(await page.getByLabel('Search this site').evaluate((field) => field.matches(':focus')), 'the focus stays where it was')
        await frame.getByLabel('Password', { exact: true }).fill(PASSWORD)
        await frame.getByRole('button', { name: 'Open', exact: true }).click()
      }
      await frame.getByRole('heading', { name: 'The valley' }).waitFor()
      if (link === open)
        assert.ok(await page.getByLabel('Search this site').evaluate((field) => field.matches(':focus')), 'the focus stays where it was')
      await frame.locator('#map[aria-busy="false"]').waitFor({ timeout: PATIENT_MS })
      const centre = { x: 600, y: 300, width: 120, height: 120 } // Right of the panel.
      await until('the layers drawn', async () => colours(await pixelsOf(page, centre)) > 200)
      await shot(page, link === open ? 'embedded-public' : 'embedded')

      const before = await pixelsOf(page, centre)
      await frame.getByRole('button', { name: 'Show details' }).click()
      await frame.getByRole('checkbox').first().uncheck()
      await until('without the upper layer', async () => difference(before, await pixelsOf(page, centre)) > 5)
      await page.mouse.move(700, 300)
      await page.mouse.wheel(0, 300)
      await until('the page around it scrolled', async () => await page.evaluate<boolean>('scrollY >= 200'))
      assert.equal(await frame.getByRole('link', { name: 'Open in new tab' }).getAttribute('href'), `/s/${link.token}`)
      assert.deepEqual(faults, [])
      await page.context().close()
    })

  await t.test('the page of the link cannot be framed', async () => {
    const { page, faults } = await visitor(chromium)
    await page.goto(await hostPage(t, frameOf(`${w.baseUrl}/s/${open.token}`)))
    await until('a refusal', () => faults.some((fault) => /frame-ancestors 'none'/.test(fault)))
    assert.equal(await page.frameLocator('iframe').getByRole('heading', { name: 'The valley' }).count(), 0)
    await page.context().close()
  })
}

// Goal: row 24 of the security table: whatever people wrote is shown as they wrote it; nothing of it runs, and nothing of it
// reaches a header.
async function ofHostileStrings(w: World, org: Org, chromium: Browser): Promise<void> {
  const all = PAYLOADS.join(' ')
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', {
    project_id: org.projectId,
    name: PAYLOADS[0]! + PAYLOADS[2]!,
    description: all,
  })
  const { id: first } = await sceneItem(w, org, { name: PAYLOADS[9]!, collection_id, description: all, properties: { title: all } })
  for (const name of PAYLOADS)
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      collection_id,
      type: 'user_raster',
      name,
      description: name,
      assets: [{ key: name, href: 'https://data.example/a.tif', title: name, media_type: 'text/html' }],
    })
  for (const name of PAYLOADS)
    await w.ok(org.owner.token, 'visualization.profile.create', { item_id: first, name, type: 'rgb', config: { bands: [4, 3, 2] } })
  const { token } = await share(w, org, collection_id, { target_type: 'collection', permission: 'download' })
  const { page, requests, faults } = await visitor(chromium, { acceptDownloads: true })

  await page.goto(`${w.baseUrl}/s/${encodeURIComponent('"><script>window.marked=1</script>')}`)
  await page.getByLabel('Password', { exact: true }).fill(all)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('alert').waitFor()
  await page.goto(`${w.baseUrl}/s/${token}`)
  await enter(page, PASSWORD)
  await page
    .locator('#title')
    .filter({ hasText: PAYLOADS[0]! + PAYLOADS[2]! })
    .waitFor()
  await drawn(page)
  await shot(page, 'hostile')
  assert.equal(await page.locator('#description').textContent(), all)
  assert.deepEqual((await page.locator('.scenes strong').allTextContents()).toSorted(), [...PAYLOADS, PAYLOADS[9]!].toSorted())
  const shown = await page.locator('.styles span').allTextContents()
  for (const payload of PAYLOADS) assert.ok(shown.includes(payload), `a style named ${payload}`)
  await page.locator('#style-list span').nth(1).click()
  await drawn(page)
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#file-list a').first().click()])
  assert.doesNotMatch(download.suggestedFilename(), /[\r\n/\\]/)
  for (const index of [3, 8]) {
    await page.locator('.scenes button').nth(index).click()
    await drawn(page)
    assert.match(
      (await page.locator('#file-list a').first().getAttribute('href')) ?? '',
      new RegExp(`^${w.baseUrl}/api/v1/share/assets/`),
      'an address of ours, whatever the file is called',
    )
  }
  assert.equal(await page.evaluate('window.marked'), undefined)
  assert.equal(await page.evaluate('getComputedStyle(document.body).display'), 'block')
  assert.deepEqual(faults, [])
  assert.deepEqual(
    requests.filter((address) => /data\.example|evil/i.test(new URL(address).host)),
    [],
  )
  await page.context().close()
}
