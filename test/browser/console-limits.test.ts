// Goal: what is too large is refused before it is asked for, a lost connection loses nothing, and a clock that is a day off harms nobody.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

const DAY_MS = 86_400_000
const CORNERS = 1_200

for (const hands of HANDS)
  test(`the console: limits, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { vendors: true, startAt: new Date(Date.now() - DAY_MS).toISOString() })
    await limits(w, await w.organization(), await browser(t, hands))
  })

/** A ring of many corners around a place. */
function ringOf(count: number, radius: number): string {
  const ring = Array.from({ length: count }, (_, index) => {
    const turn = (index / count) * 2 * Math.PI
    return [2.3 + radius * Math.cos(turn), 48.2 + radius * Math.sin(turn)].map((degrees) => Number(degrees.toFixed(5)))
  })
  return JSON.stringify({ type: 'Polygon', coordinates: [[...ring, ring[0]]] })
}

async function pasteArea(page: Page, text: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Paste or upload' }).click()
  await dialog.getByRole('textbox').fill(text)
  await dialog.getByRole('button', { name: 'Use this area' }).click()
  await dialog.waitFor({ state: 'detached' })
}

// Goal (J16): 50,000 km² and more than 999 corners are refused with the remedy and without a call; offline keeps what is shown.
async function limits(w: World, org: Org, chromium: Browser): Promise<void> {
  await sceneItem(w, org, 'Loire valley, June')
  const here = await seat(w, chromium)
  const { page } = here
  const searches = () => here.requests.filter((url) => url.endsWith('/v1/op/catalog.search')).length
  await journey('limits', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/explore?sources=none`)
    await page.getByRole('button', { name: 'Enter coordinates', exact: true }).click()
    await pasteArea(page, ringOf(4, 4))
    await page.getByText('The maximum search area is 50,000 km²').waitFor()
    assert.equal(searches(), 0, 'nothing was asked')
    await assertAccessible(page, 'an area that is too large')
    await page.getByRole('button', { name: 'Edit area' }).click()
    await pasteArea(page, ringOf(CORNERS, 0.5))
    await page.getByText(/^This area has 1\d{3} points/).waitFor()
    assert.equal(searches(), 0, 'nothing was asked')
    await shot(page, 'limits')
    await page.getByRole('button', { name: 'Simplify to 400 points' }).click()
    await page.getByText(/[34]\d\d of 999 points/).waitFor()

    await page.goto(`${w.baseUrl}/app/library`)
    await page.getByText('Loire valley, June').first().waitFor()
    await page.context().setOffline(true)
    await page.getByText("You're offline.").waitFor()
    assert.ok(await page.getByText('Loire valley, June').first().isVisible(), 'what is shown stays')
    await page.context().setOffline(false)
    await page.getByText("You're offline.").waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('Loire valley, June').first().waitFor()
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}
