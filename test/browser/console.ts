/** What every journey through the console needs: somebody at a browser, scenes to look at, and what must never happen. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene } from '../../sandbox/scenes/index.ts'
import { within } from '../support/guests.ts'
import { storeFile } from '../support/stored-file.ts'
import type { Org, Person, World } from '../support/world.ts'
import { HANDS, shot, watchedPage, WITH_PHONE } from './chromium.ts'

const SIZE_PX = 256
/** A phone as Chromium plays it. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** Where a journey is gone that matters on the way too: at a desk by either pair of hands, and on a phone. */
export const SEATS = [
  ...HANDS.map((hands) => ({ hands, name: `by ${hands}`, options: {} })),
  ...(WITH_PHONE ? [{ hands: 'mouse' as const, name: 'on a phone', options: PHONE }] : []),
]
export const PATIENT_MS = 600_000
/** For a walk through many screens on a machine that has other work. */
export const LONG_MS = 3_600_000
/** More than any journey takes, on whatever machine: one that hangs fails instead. */
const JOURNEY_MS = 3_600_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function sceneBytes(datetime = '2025-06-12T10:40:00Z') {
  const scene = describeScene({ sensor: 'sandbox-open', longitude: 2.3, latitude: 48.2, datetime, sizePx: SIZE_PX })
  const sink = memorySink()
  await renderScene(scene, sink)
  return { scene, bytes: sink.bytes() }
}

export async function sceneItem(
  w: World,
  org: Org,
  name: string,
  { datetime, ...more }: { datetime?: string } & Record<string, unknown> = {},
): Promise<string> {
  const { scene, bytes } = await sceneBytes(datetime)
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

export interface Seat {
  page: Page
  requests: string[]
  faults: string[]
}

export async function seat(w: World, from: Browser, options: object = {}): Promise<Seat> {
  const watched = await watchedPage(from, { viewport: { width: 1440, height: 900 }, ...options })
  watched.page.setDefaultTimeout(PATIENT_MS)
  await watched.page.goto(`${w.baseUrl}/app/sign-in`)
  // The sign-in form is shown before the console runs; what a user does meanwhile has its own test.
  await watched.page.locator('#first').waitFor({ state: 'detached' })
  return watched
}

export async function signIn({ page }: Seat, who: Person): Promise<void> {
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/app\/(explore|welcome)/)
}

/** Nothing was called that others cannot call, and nobody else was asked. */
export function assertOwnBusiness(w: World, { requests, faults }: Seat): void {
  const own = new URL(w.baseUrl).origin
  const store = `http://127.0.0.1:${w.storePort}`
  const elsewhere = requests.filter((url) => !url.startsWith(own) && !url.startsWith(store) && !/^(data|blob):/.test(url))
  assert.deepEqual(elsewhere, [])
  const known = /^\/(app|assets|auth|welcome|api\/v1|v1\/op\/[\w.]+|v1\/events|v1\/event-types|s|docs|sandbox\/payments)(\/|$|\?)/
  const paths = requests.filter((url) => url.startsWith(own)).map((url) => new URL(url).pathname)
  assert.deepEqual(
    paths.filter((path) => !known.test(path)),
    [],
  )
  const called = new Set(paths.filter((path) => path.startsWith('/v1/op/')).map((path) => path.slice('/v1/op/'.length)))
  for (const id of called) assert.ok(w.platform.operations.has(id), `${id} is an operation of the contract`)
  assert.deepEqual(faults, [])
}

export interface Finding {
  id: string
  nodes: string[]
}

const SERIOUS = ['serious', 'critical']
/** With what makes a screen hard to find one's way in: headings, landmarks and regions. */
export const MODERATE = [...SERIOUS, 'moderate']

/** Findings of axe, of which the size of targets (WCAG 2.5.8) is one that it does not look for unless asked. */
export async function findings(page: Page, where: string, impacts: readonly string[] = SERIOUS): Promise<Finding[]> {
  // What fades in has other colours on its way. What is paused never ends.
  const faded = page.evaluate(`Promise.all(document.getAnimations()
    .filter((animation) => animation.playState === 'running' && animation.effect?.getComputedTiming().endTime !== Infinity)
    .map((animation) => animation.finished.catch(() => {}))).then(() => 0)`)
  await within(PATIENT_MS, `fading in of ${where}`, faded)
  await within(PATIENT_MS, 'loading axe', page.evaluate(AXE))
  const looked = page.evaluate<Finding[]>(
    `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations
      .filter(({ impact }) => ${JSON.stringify(impacts)}.includes(impact))
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  return await within(LONG_MS, `the look at ${where}`, looked)
}

export async function assertAccessible(page: Page, where: string): Promise<void> {
  assert.deepEqual(await findings(page, where), [], where)
}

/** Runs a journey; a picture of where it stopped is kept where SCREENSHOTS names a folder. */
export async function journey(name: string, here: Seat, steps: () => Promise<void>): Promise<void> {
  try {
    await within(JOURNEY_MS, `the journey ${name}`, steps())
  } catch (error) {
    await within(PATIENT_MS, 'a picture', shot(here.page, `stopped-${name}`)).catch(() => undefined)
    throw error
  }
}

/** What a press saves to disk, as text. */
export async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return await readFile(await within(PATIENT_MS, 'a download', download.path()), 'utf8')
}

/** A screen is there, and nothing of it is still loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main:not(:has([aria-label="Loading"])) > *').first().waitFor({ state: 'attached' })
}
