import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { cropOf } from '../../../sandbox/scenes/index.ts'
import { EARTH_SEARCH_BUCKETS } from '../../../sandbox/vendors/earth-search/products.ts'
import { HOSTS } from '../../../sandbox/vendors/hosts.ts'
import { Library } from '../../../sandbox/vendors/library.ts'
import { sceneIdOf } from '../../../sandbox/vendors/open-hosts/product.ts'
import { startOpenHosts } from '../../../sandbox/vendors/open-hosts/server.ts'
import { world } from '../../../test/support/world.ts'

const AREA = {
  type: 'Polygon' as const,
  coordinates: [
    [
      [2.2, 48.15],
      [2.35, 48.15],
      [2.35, 48.25],
      [2.2, 48.25],
      [2.2, 48.15],
    ] as [number, number][],
  ],
}
const MAX_DIFFERENCE = 4

// Goal: the cloud cover over an area is that of the mask of the source, not that of the scene, and nothing is guessed without one.
test('catalog.scene.cloud_cover', async (t) => {
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-clouds-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const registry = parseRegistry(await hosts.registryFile(), 'the registry of this test', { sandboxUrl: null })
  const w = await world(t, { sources: registry, egressAllow: [new URL(hosts.url).host] })
  now = w.clock.now
  const { owner } = await w.organization()
  const cloud = (host_name: string, id: string, area: object = AREA) =>
    w.call(owner.token, 'catalog.scene.cloud_cover', { host_name, id, area })
  const search = async (host_name: string, collections: string[]) =>
    (await w.ok(owner.token, 'catalog.search', { host_name, collections, intersects: AREA, datetime: '2029-10-01/2029-12-31', limit: 20 }))
      .features as { id: string; properties: Record<string, unknown> }[]

  await t.test('as many clouds as are over the area', async () => {
    const scenes = await search('earth-search', ['sentinel-2-l2a'])
    const library = new Library(
      { ...HOSTS.find(({ name }) => name === 'sandbox-open')!, name: 'sandbox-open', sensor: 'sandbox-open' },
      now,
    )
    const partly = scenes.filter(({ properties }) => {
      const cover = properties['eo:cloud_cover'] as number
      return cover > 5 && cover < 95
    })
    assert.ok(partly.length >= 2, 'scenes with some clouds')
    let differs = 0
    for (const { id, properties } of partly.slice(0, 3)) {
      const { status, body } = await cloud('earth-search', id)
      assert.equal(status, 200)
      const scene = library.scene(sceneIdOf(EARTH_SEARCH_BUCKETS['sentinel-cogs']!, id)!)!
      const expected = cropOf(scene, AREA).cloudCover!
      assert.ok(Math.abs(body.area_cloud_cover - expected) <= MAX_DIFFERENCE, `${body.area_cloud_cover} instead of ${expected}`)
      assert.equal(body.scene_cloud_cover, properties['eo:cloud_cover'])
      assert.equal(body.mask, 'scl')
      if (Math.abs(body.area_cloud_cover - body.scene_cloud_cover) > MAX_DIFFERENCE) differs++
    }
    assert.ok(differs > 0, 'some scene has other clouds over the area')
  })

  await t.test('an area outside the scene has none', async () => {
    const [scene] = await search('earth-search', ['sentinel-2-l2a'])
    const far = { type: 'Polygon', coordinates: [AREA.coordinates[0]!.map(([x, y]) => [x + 40, y])] }
    const { status, body } = await cloud('earth-search', scene!.id, far)
    if (status === 200) assert.equal(body.area_cloud_cover, null)
    else assert.equal(status, 422)
  })

  await t.test('without a mask it is unknown', async () => {
    const [scene] = await search('planetary-computer', ['landsat-c2-l2'])
    const { body } = await cloud('planetary-computer', scene!.id)
    assert.deepEqual([body.area_cloud_cover, body.mask], [null, null])
    assert.equal(body.scene_cloud_cover, scene!.properties['eo:cloud_cover'])
    assert.equal((await cloud('planetary-computer', 'nothing')).status, 404)
  })
})
