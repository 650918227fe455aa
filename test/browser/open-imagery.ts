/** What journeys over open imagery share: a simulated Earth Search as a source, scenes of it, and the map as numbers. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { guestsLeave } from '../support/guests.ts'
import { world, type Org, type World } from '../support/world.ts'
import { PHONE } from './console.ts'
import { pixelsOf } from './support/pixels.ts'

export const EARTH_SEARCH = 'earth-search'
export const SENTINEL = 'sentinel-2-l2a'
/** Fields around a village. */
export const EDGES = { West: 2.27, South: 48.195, East: 2.3, North: 48.215 }
/** One of them. */
export const FIELD = 'POLYGON((2.2912 48.202, 2.2928 48.202, 2.2928 48.2034, 2.2912 48.2034, 2.2912 48.202))'

interface RegistryFile {
  sources: { hostName: string; url: string }[]
}

/** A platform whose only source is Earth Search, simulated. */
export async function openImagery(t: TestContext): Promise<World> {
  await createConsoleBuild().run(new AbortController().signal)
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-open-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await guestsLeave(t)
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const { sources, ...file } = JSON.parse(await hosts.registryFile()) as RegistryFile
  const used = sources.filter(({ hostName }) => hostName === EARTH_SEARCH)
  const registry = parseRegistry(JSON.stringify({ ...file, sources: used }), 'the registry of this journey', { sandboxUrl: null })
  const w = await world(t, { sources: registry, egressAllow: [new URL(hosts.url).host] })
  now = w.clock.now
  return w
}

/** Scenes over the fields, the oldest first. */
export async function scenesOf(w: World, org: Org, datetime: string, maxCloud: number): Promise<{ id: string; datetime: string }[]> {
  const { features } = await w.ok(org.owner.token, 'catalog.search', {
    host_name: EARTH_SEARCH,
    collections: [SENTINEL],
    bbox: [EDGES.West, EDGES.South, EDGES.East, EDGES.North],
    datetime,
    query: { cloudCoverage: { LTE: maxCloud } },
    limit: 100,
  })
  return features
    .map(({ id, properties }: { id: string; properties: { datetime: string } }) => ({ id, datetime: properties.datetime }))
    .toSorted((a: { datetime: string }, b: { datetime: string }) => a.datetime.localeCompare(b.datetime))
}

export const save = async (w: World, org: Org, id: string, more: object = {}): Promise<string> =>
  (await w.ok(org.owner.token, 'catalog.scene.save', { host_name: EARTH_SEARCH, id, project_id: org.projectId, ...more })).item.id

const SIDE_PX = 160
/** On a phone, between the panel at the top and the sheet. */
const PHONE_TOP_PX = 150

/** The centre of the map, once nothing of it is loading. */
export async function mapCentre(page: Page): Promise<Buffer> {
  await page.locator('[aria-busy="false"]:has(> .maplibregl-canvas-container)').waitFor()
  const { x, y, width, height } = (await page.locator('canvas.maplibregl-canvas').boundingBox())!
  const top = page.viewportSize()!.width > PHONE.viewport.width ? (height - SIDE_PX) / 2 : PHONE_TOP_PX
  return await pixelsOf(page, { x: x + (width - SIDE_PX) / 2, y: y + top, width: SIDE_PX, height: SIDE_PX })
}
