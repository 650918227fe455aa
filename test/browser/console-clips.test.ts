// Goal: a part of a raster becomes an item of its own, several become one, and both can be taken home.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import run from '#domains/processing/run.task.ts'
import { grant } from '../orders/support.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, sceneItem, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: clips and mosaics, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const email = `clipper-${process.pid}-${hands}@example.com`
    const w = await world(t, { startAt: new Date().toISOString(), clipUserEmail: email })
    const org = await foundedBy(w, email)
    await grant(w, org, 50_000)
    await clipsAndMosaics(w, org, await browser(t, hands))
  })

/** An organization of somebody whom the operator has let in to clips. */
async function foundedBy(w: World, email: string): Promise<Org> {
  const founder = await w.person(email)
  const { id } = await w.ok(founder.token, 'organizations.create', { name: 'Coast survey' })
  const owner = await w.signIn(founder, id)
  const { id: projectId } = await w.ok(owner.token, 'projects.create', { name: 'First project' })
  return { id, owner, projectId }
}

const jobIn = async (page: Page): Promise<string> => {
  await page.waitForURL(/\/app\/jobs\/[0-9a-f-]{36}/)
  return new URL(page.url()).pathname.split('/').at(-1)!
}

async function clipsAndMosaics(w: World, org: Org, chromium: Browser): Promise<void> {
  const first = await sceneItem(w, org, 'Loire, June', { datetime: '2025-06-12T10:40:00Z' })
  await sceneItem(w, org, 'Loire, July', { datetime: '2025-07-12T10:40:00Z' })
  const { bbox } = (await w.ok(org.owner.token, 'items.get', { item_id: first })).item
  const here = await seat(w, chromium)
  const { page } = here
  await journey('clips', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/clips`)
    await page.getByText('No clips yet').waitFor()
    await page.getByRole('link', { name: 'Clip an item' }).first().click()
    await page.getByRole('option', { name: /Loire, June/ }).waitFor({ state: 'attached' })
    await page.getByLabel('Item (optional)').selectOption(first)
    await page.getByLabel('Geometry (optional)').fill(wktOf(bbox))
    await page.getByLabel('Geometry (optional)').blur()
    await page.getByText('drawn on the map').waitFor()
    await page.getByRole('button', { name: /^Run, A\$/ }).click()
    const clip = await jobIn(page)
    await w.drain(run)
    await page.getByRole('link', { name: 'Open result' }).waitFor()
    await assertAccessible(page, 'clip job')
    await shot(page, 'clip-job')
    const [download] = await Promise.all([page.waitForEvent('download'), takeHome(page)])
    assert.match(download.suggestedFilename(), /\.tiff?$/)

    await page.goto(`${w.baseUrl}/app/mosaics`)
    await page.getByText('No mosaics yet').waitFor()
    await page.getByRole('link', { name: 'Create a mosaic' }).first().click()
    await page.getByRole('checkbox', { name: /Loire, June, 12/ }).check()
    await page.getByRole('checkbox', { name: /Loire, July/ }).check()
    await page.getByRole('button', { name: /^Run, A\$/ }).click()
    await jobIn(page)
    await w.drain(run)
    await page.getByRole('link', { name: 'Open result' }).waitFor()
    await page.goto(`${w.baseUrl}/app/mosaics`)
    await page.getByRole('heading', { name: '1 mosaic' }).waitFor()
    await assertAccessible(page, 'mosaics')

    await page.goto(`${w.baseUrl}/app/jobs/${clip}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('Job deleted').waitFor()
    assert.equal((await w.call(org.owner.token, 'processing.job.get', { job_id: clip })).status, 404)
  })
  await here.page.context().close()
  assertOwnBusiness(w, here)
}

async function takeHome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Download' }).click()
  await page.getByRole('menuitem').first().click()
}

/** The middle of a box. */
function wktOf([west, south, east, north]: [number, number, number, number]): string {
  const [w, s] = [west + (east - west) * 0.4, south + (north - south) * 0.4].map((value) => value.toFixed(4))
  const [e, n] = [west + (east - west) * 0.6, south + (north - south) * 0.6].map((value) => value.toFixed(4))
  return `POLYGON((${w} ${s}, ${e} ${s}, ${e} ${n}, ${w} ${n}, ${w} ${s}))`
}
