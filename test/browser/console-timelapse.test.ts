// Goal: the dates of a collection play on the map with mouse, keys and finger, none before it is drawn, and are saved as files that play.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { createConsoleBuild } from '#start/console-build.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME, type Hands } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, PATIENT_MS, sceneItem, seat, SEATS, signIn, type Seat } from './console.ts'

const DATES = ['2025-06-12', '2025-08-12', '2025-10-12'] as const
const TEXTS = ['12 Jun 2025', '12 Aug 2025', '12 Oct 2025'] as const
const ATTRIBUTION = 'Imagery: Loire survey'

for (const { hands, name, options } of SEATS)
  test(`the console: timelapse, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    const org = await w.organization()
    const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Loire plain' })
    const items: string[] = []
    for (const day of DATES) {
      const more = { datetime: `${day}T10:40:00Z`, collection_id, properties: { attribution: ATTRIBUTION } }
      items.push(await sceneItem(w, org, `Loire, ${day}`, more))
    }
    const single = await sceneItem(w, org, 'Alone')
    const started = await browser(t, hands)
    const here = await seat(w, started, { acceptDownloads: true, ...options })
    const isPhone = 'isMobile' in options
    const at: Place = { w, org, here, hands, isPhone, items, single }
    await journey(`timelapse ${name}`, here, async () => {
      await signIn(here, org.owner)
      await chosen(at)
      await played(at)
      await sameRange(at)
      await tooFew(at)
      await cancelled(at)
      await exported(at)
    })
    await here.page.context().close()
    assertOwnBusiness(w, here)
    if (hands === 'keyboard' || isPhone) return
    // Everybody else asked the system for reduced motion.
    const lively = await seat(w, started, { reducedMotion: 'no-preference' })
    await journey('timelapse with motion', lively, async () => {
      await signIn(lively, org.owner)
      await byItself({ ...at, here: lively })
    })
    await lively.page.context().close()
    assertOwnBusiness(w, lively)
  })

interface Place {
  w: World
  org: Org
  here: Seat
  hands: Hands
  isPhone: boolean
  items: string[]
  single: string
}

const suffix = ({ isPhone }: Place) => (isPhone ? '-phone' : '')
const panel = (page: Page) => page.getByRole('region', { name: 'Timelapse', exact: true })
const slider = (page: Page) => panel(page).getByRole('slider', { name: 'Date' })
const onMap = (page: Page, text: string) => panel(page).getByText(text, { exact: true })
/** Tiles of the map, unlike thumbnails, have twice the size. */
const isTile = (url: string, id: string) => url.includes(`${id}/tiles/`) && url.includes('@2x')
const frameOf = (page: Page) => new URL(page.url()).searchParams.get('frame')

async function open({ w, here: { page }, items }: Place, query = '', item = items[0]!): Promise<void> {
  await page.goto(`${w.baseUrl}/app/view/${item}?map=2.3,48.2,14${query}`)
  await page.getByRole('toolbar', { name: 'Map tools' }).waitFor()
}

/** By button, slider and step; what is chosen is in the address, and a reload shows it again. */
async function chosen(place: Place): Promise<void> {
  const { here, items, isPhone } = place
  const { page } = here
  await open(place)
  await page.getByRole('button', { name: 'Timelapse (T)' }).click()
  await onMap(page, TEXTS[0]).waitFor()
  await panel(page).getByText('1 of 3 dates').waitFor()
  await panel(page).getByRole('button', { name: 'Play', exact: true }).waitFor()
  assert.equal(frameOf(page), null)
  await until(
    'the next dates, loaded before they are wanted',
    () => Promise.resolve(items.every((id) => here.requests.some((url) => isTile(url, id)))),
    PATIENT_MS,
  )
  await assertAccessible(page, 'a timelapse')
  await shot(page, `timelapse${suffix(place)}`)
  if (isPhone) {
    const [map, sheet] = [await page.getByRole('application').boundingBox(), await panel(page).boundingBox()]
    assert.ok(sheet!.height <= map!.height * 0.45, 'the map has more than half of the height')
  }
  await slider(page).focus()
  await page.keyboard.press('ArrowRight')
  await onMap(page, TEXTS[1]).waitFor()
  await until('the date in the address', () => Promise.resolve(frameOf(page) === DATES[1]), PATIENT_MS)
  assert.equal(await slider(page).getAttribute('aria-valuetext'), TEXTS[1])
  await page.reload()
  await onMap(page, TEXTS[1]).waitFor()
  await panel(page).getByText('2 of 3 dates').waitFor()
  await panel(page).getByRole('button', { name: 'Next date' }).click()
  await onMap(page, TEXTS[2]).waitFor()
  await panel(page).getByRole('button', { name: 'Next date' }).click()
  await onMap(page, TEXTS[0]).waitFor()
  await panel(page).getByRole('button', { name: 'Previous date' }).click()
  await onMap(page, TEXTS[2]).waitFor()
  if (!isPhone) await page.keyboard.press('Escape')
  else await panel(page).getByRole('button', { name: 'Close timelapse' }).click()
  await panel(page).waitFor({ state: 'detached' })
  assert.doesNotMatch(page.url(), /tool=|frame=/)
}

/** Dates follow each other until they are paused; Space does the same from the map. */
async function played(place: Place): Promise<void> {
  const { page } = place.here
  await open(place, '&tool=timelapse')
  await onMap(page, TEXTS[0]).waitFor()
  await panel(page).getByLabel('Speed').selectOption('3')
  await page.waitForURL(/speed=3/)
  await panel(page).getByRole('button', { name: 'Play', exact: true }).click()
  for (const text of [TEXTS[1], TEXTS[2], TEXTS[0]]) await onMap(page, text).waitFor()
  assert.equal(frameOf(page), null)
  await panel(page).getByRole('button', { name: 'Pause', exact: true }).click()
  await until('the date in the address', () => Promise.resolve(frameOf(page) !== null), PATIENT_MS)
  if (place.isPhone) return
  await page.getByRole('application').focus()
  await page.keyboard.press('Space')
  await panel(page).getByRole('button', { name: 'Pause', exact: true }).waitFor()
  await page.keyboard.press('Space')
  await panel(page).getByRole('button', { name: 'Play', exact: true }).waitFor()
}

/** A colour means the same on every date: all tiles are asked for with the range of the item. */
async function sameRange(place: Place): Promise<void> {
  const { here, items } = place
  here.requests.length = 0
  await open(place, '&expr=b8-b4&tool=timelapse&frame=2025-06-12')
  const rangesOf = (id: string) =>
    new Set(here.requests.filter((url) => isTile(url, id)).map((url) => new URL(url).searchParams.get('rescale')))
  await until('tiles of all dates', () => Promise.resolve(items.every((id) => rangesOf(id).size > 0)), PATIENT_MS)
  const [range] = [...rangesOf(items[1]!)]
  assert.match(range!, /^-?[\d.]+,-?[\d.]+$/)
  for (const id of items.slice(1)) assert.deepEqual([...rangesOf(id)], [range])
  assert.ok(rangesOf(items[0]!).has(range!))
}

async function tooFew(place: Place): Promise<void> {
  const { page } = place.here
  await open(place, '&tool=timelapse', place.single)
  await panel(page).getByText('A timelapse needs scenes of this place on at least two dates.').waitFor()
  assert.equal(await slider(page).count(), 0)
}

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Export timelapse' })

/** Who does not want to wait for a tile does not have to. */
async function cancelled(place: Place): Promise<void> {
  const { page } = place.here
  const isHeld = (url: URL) => isTile(url.pathname, place.items[2]!)
  const held: (() => Promise<void>)[] = []
  await page.route(isHeld, (route) => void held.push(() => route.continue()))
  await open(place, '&expr=b8-b4*2&tool=timelapse&frame=2025-06-12')
  await onMap(page, TEXTS[0]).waitFor()
  await panel(page).getByRole('button', { name: 'Export timelapse' }).click()
  await dialogOf(page).getByRole('button', { name: 'Download GIF' }).click()
  await dialogOf(page).getByRole('progressbar', { name: 'Export' }).waitFor()
  await until('a tile that is kept waiting', () => Promise.resolve(held.length > 0), PATIENT_MS)
  await dialogOf(page).getByRole('button', { name: 'Cancel export' }).click()
  await dialogOf(page).getByRole('button', { name: 'Download GIF' }).waitFor()
  await dialogOf(page).getByRole('button', { name: 'Close' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.unroute(isHeld)
  await Promise.all(held.map((release) => release().catch(() => undefined)))
}

async function download(page: Page, format: string): Promise<{ name: string; bytes: Buffer } | null> {
  await panel(page).getByRole('button', { name: 'Export timelapse' }).click()
  const dialog = dialogOf(page)
  await dialog.getByRole('button', { name: format, exact: true }).click()
  const button = dialog.getByRole('button', { name: `Download ${format}` })
  const refusal = dialog.getByText(`This browser cannot create ${format} files of this size.`)
  await until('what the browser can', async () => (await button.isEnabled()) || (await refusal.isVisible()), PATIENT_MS)
  if (await refusal.isVisible()) {
    assert.ok(await button.isDisabled())
    await shot(page, `timelapse-without-${format}`)
    await dialog.getByRole('button', { name: 'Close' }).click()
    return null
  }
  if (format === 'GIF') {
    await dialog.getByText('3 frames, 1 date/s').waitFor()
    await assertAccessible(page, 'export of a timelapse')
    await shot(page, 'timelapse-export')
  }
  const [saving] = await Promise.all([page.waitForEvent('download'), button.click()])
  await dialog.waitFor({ state: 'detached' })
  return { name: saving.suggestedFilename(), bytes: await readFile(await saving.path()) }
}

/** Each date of the file is another picture of the same map, with its date, and with names below. */
async function assertAnimation(bytes: Buffer): Promise<void> {
  const { pages, delay, loop, width, pageHeight } = await sharp(bytes, { animated: true }).metadata()
  assert.equal(pages, 3)
  assert.deepEqual(delay, [1000, 1000, 1000])
  assert.equal(loop, 0)
  assert.ok(width <= 960 && width % 2 === 0 && pageHeight! % 2 === 0)
  const part = (page: number, left: number, top: number, size: number) =>
    sharp(bytes, { page }).extract({ left, top, width: size, height: size }).removeAlpha().raw().toBuffer()
  const [middle, top] = [Math.round(width / 2) - 30, Math.round(pageHeight! / 3)]
  const views = await Promise.all([0, 1, 2].map((page) => part(page, middle, top, 60)))
  const dates = await Promise.all([0, 1, 2].map((page) => part(page, 14, 14, 24)))
  for (const [one, other] of [
    [0, 1],
    [1, 2],
    [0, 2],
  ] as const)
    assert.ok(!views[one]!.equals(views[other]!), `the views of ${TEXTS[one]} and ${TEXTS[other]} differ`)
  for (const label of dates) assert.ok(label.includes(255) || Math.max(...label) > 230, 'a date in white')
  const foot = await sharp(bytes, { page: 0 })
    .extract({ left: 0, top: pageHeight! - 20, width, height: 20 })
    .greyscale()
    .raw()
    .toBuffer()
  assert.ok(Math.max(...foot) > 240 && Math.min(...foot) < 120, 'dark text on white')
}

/** Plays a video outside of the console, whose policy allows none: its size, its length, and a part of the frame of each second. */
async function watchVideo(page: Page, bytes: Buffer, type: string) {
  const other = await page.context().newPage()
  const seen = await other.evaluate<{ width: number; height: number; duration: number; pixels: string[] }>(`(async () => {
    const video = document.createElement('video')
    video.muted = true
    video.src = 'data:${type};base64,${bytes.toString('base64')}'
    await new Promise((resolve, reject) => {
      video.onloadeddata = resolve
      video.onerror = () => reject(new Error(video.error.message))
    })
    const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight)
    const pen = canvas.getContext('2d')
    const pixels = []
    // After 'seeked', the frame before may still be on the screen. The first second comes last: its frame is there already.
    for (const second of [1, 2, 0]) {
      await new Promise((resolve) => {
        const look = (_, { mediaTime }) =>
          Math.abs(mediaTime - second) < 0.01 ? resolve() : video.requestVideoFrameCallback(look)
        video.requestVideoFrameCallback(look)
        video.currentTime = second + 0.5
      })
      pen.drawImage(video, 0, 0)
      pixels.push(pen.getImageData(canvas.width / 2 - 30, canvas.height / 3, 60, 60).data.join())
    }
    return { width: video.videoWidth, height: video.videoHeight, duration: video.duration, pixels }
  })()`)
  await other.close()
  return seen
}

async function exported(place: Place): Promise<void> {
  const { page } = place.here
  await open(place, '&expr=b8-b4&tool=timelapse&frame=2025-08-12')
  await onMap(page, TEXTS[1]).waitFor()
  await page.getByText('viridis').first().waitFor()
  const gif = (await download(page, 'GIF'))!
  assert.equal(gif.name, 'Loire_ 2025-06-12 timelapse.gif')
  await assertAnimation(gif.bytes)
  await onMap(page, TEXTS[1]).waitFor()
  if (place.hands === 'keyboard' || place.isPhone) return
  const webp = (await download(page, 'WebP'))!
  assert.equal(webp.name, 'Loire_ 2025-06-12 timelapse.webp')
  await assertAnimation(webp.bytes)
  const { width, pageHeight } = await sharp(gif.bytes, { animated: true }).metadata()
  const webm = (await download(page, 'WebM'))!
  const mp4 = await download(page, 'MP4') // Not every build of the browser has an encoder for H.264.
  for (const [bytes, type] of [[webm.bytes, 'video/webm'], ...(mp4 ? [[mp4.bytes, 'video/mp4'] as const] : [])] as const) {
    const video = await watchVideo(page, bytes, type)
    assert.deepEqual([video.width, video.height], [width, pageHeight])
    assert.ok(Math.abs(video.duration - 3) < 0.05, `${video.duration} seconds of ${type}`)
    assert.equal(new Set(video.pixels).size, 3, `${type} shows three dates`)
  }
}

/** It starts when it is opened, and stands still where the address names a date. */
async function byItself(place: Place): Promise<void> {
  const { page } = place.here
  await open(place)
  await page.getByRole('button', { name: 'Timelapse (T)' }).click()
  await panel(page).getByRole('button', { name: 'Pause', exact: true }).waitFor()
  for (const text of [TEXTS[1], TEXTS[2]]) await onMap(page, text).waitFor()
  await open(place, '&tool=timelapse&frame=2025-10-12')
  await onMap(page, TEXTS[2]).waitFor()
  await panel(page).getByRole('button', { name: 'Play', exact: true }).waitFor()
}
