/** What every journey through the console needs: somebody at a browser, scenes to look at, and what must never happen. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import type { World } from '../support/world.ts'
import { shot, watchedPage } from './chromium.ts'

const PATIENT_MS = 90_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Seat {
  page: Page
  requests: string[]
  faults: string[]
}

export async function seat(w: World, from: Browser, options: object = {}): Promise<Seat> {
  const watched = await watchedPage(from, { viewport: { width: 1440, height: 900 }, ...options })
  watched.page.setDefaultTimeout(PATIENT_MS)
  await watched.page.goto(`${w.baseUrl}/app/sign-in`)
  return watched
}

/** Nothing was called that others cannot call, and nobody else was asked. */
export function assertOwnBusiness(w: World, { requests, faults }: Seat): void {
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

export async function assertAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: string[] }[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  )
  assert.deepEqual(found, [], where)
}

/** Runs a journey; a picture of where it stopped is kept where SCREENSHOTS names a folder. */
export async function journey(name: string, here: Seat, steps: () => Promise<void>): Promise<void> {
  try {
    await steps()
  } catch (error) {
    await shot(here.page, `stopped-${name}`).catch(() => undefined)
    throw error
  }
}
