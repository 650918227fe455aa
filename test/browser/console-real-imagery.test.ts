// Goal: with a network, somebody sees a real place of their choice in true colour and saves the scene; without one, nothing offers it.
// Earth Search is simulated, with its own protocol.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import probeSources from '#domains/catalog/probe-sources.task.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { until } from '../support/service.ts'
import { world, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

/** Near the middle of a simulated scene, at the Loire. */
const HERE = { latitude: 48.2, longitude: 2.3 }

for (const hands of HANDS)
  test(`the console: real imagery of a place, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    await realImagery(await onlineWorld(t), await browser(t, hands))
  })

async function onlineWorld(t: TestContext): Promise<World> {
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-real-imagery-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const sources = parseRegistry(await hosts.registryFile(), 'the registry of this test', { sandboxUrl: null })
  const w = await world(t, { sources, egressAllow: [new URL(hosts.url).host] })
  now = w.clock.now
  return w
}

async function realImagery(w: World, chromium: Browser): Promise<void> {
  const org = await w.organization()
  // A small window: each tile of the simulated host is computed on this machine.
  const here = await seat(w, chromium, { viewport: { width: 1_100, height: 640 }, geolocation: HERE, permissions: ['geolocation'] })
  const { page, requests } = here
  const form = page.getByLabel('Show real imagery of')
  const shown = page.getByRole('region', { name: 'Scene on the map' })
  await journey('real-imagery', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/explore`)
    await page.getByText('Choose an area').waitFor()
    assert.equal(await form.count(), 0, 'no host has responded yet')

    await w.runTask(probeSources, { at_start: true })
    await page.reload()
    await form.waitFor()
    await assertAccessible(page, 'the offer of real imagery')
    await shot(page, 'real-imagery-offer')
    await form.fill('Atlantis')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText("The city 'Atlantis' is not in the list").waitFor()

    await form.fill('LISBON')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL(/sel=earth-search/)
    await shown.getByText(/Copernicus Sentinel/).waitFor()
    await shown.getByRole('button', { name: 'True colour', pressed: true }).waitFor()
    await until('a tile', () => requests.some((url) => /\/tiles\/\d+\/\d+\/\d+@2x\.webp\?.*visualization=rgb/.test(url)))
    await shown.getByText('Loading…').waitFor({ state: 'detached' })
    assert.equal(await shown.getByRole('alert').count(), 0)
    await shot(page, 'real-imagery-lisbon')
    assert.equal(new URL(page.url()).searchParams.has('place'), false, 'the address is that of the scene')

    await page.getByRole('button', { name: 'Add to library' }).click()
    await page.getByRole('button', { name: 'Add to library, free' }).click()
    await page.waitForURL(/\/app\/view\//)
    await page.getByRole('tab', { name: 'Style' }).waitFor()

    await page.goto(`${w.baseUrl}/welcome`)
    await assertAccessible(page, 'the start page')
    await shot(page, 'real-imagery-start')
    await page.getByRole('button', { name: 'Use my location' }).click()
    await page.waitForURL(/\/app\/explore.*sel=earth-search/)
    await shown.waitFor()
    assert.ok(requests.some((url) => url.includes('/app/explore?place=48.2000%2C+2.3000')))
    await shot(page, 'real-imagery-here')
  })
  assertOwnBusiness(w, here)
}
