// Goal: the open hosts work as they come: search, previews and files of Earth Search, the Planetary Computer and the Copernicus
// Data Space, with their own item documents, pages and signed files, against simulators that speak their protocols.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { world } from '../support/world.ts'

const [X, Y] = [2.3, 48.2]
const JUNE = { bbox: [X, Y, X, Y] as const, from: new Date('2029-06-01T00:00:00Z'), to: new Date('2029-06-30T00:00:00Z') }
const TOKEN = /[?&](se|sig|sp|sv)=/

const ZOOM = 14

/** A tile near the test location, so many tiles to the east of it. */
function tileAt(east: number): { z: number; x: number; y: number } {
  const n = 2 ** ZOOM
  const latitude = (Y * Math.PI) / 180
  return { z: ZOOM, x: Math.floor(((X + 180) / 360) * n) + east, y: Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * n) }
}

/** The simulated hosts, and a platform that knows no others; more platforms share its database. */
async function openWorld(t: TestContext) {
  let now = () => new Date('2030-01-01T00:00:00Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-open-hosts-'))
  const hosts = await startOpenHosts({ clock: { now: () => now() }, workDir })
  t.after(async () => {
    await hosts.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const sources = parseRegistry(await hosts.registryFile(), 'the registry of this test', { sandboxUrl: null })
  const settings = { sources, egressAllow: [new URL(hosts.url).host] }
  const w = await world(t, settings)
  now = w.clock.now
  return { hosts, w, settings }
}

test('open hosts', async (t) => {
  const { hosts, w, settings } = await openWorld(t)
  const { vendors, raster } = w.platform.services
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token, ['read']) // A session would expire before the tokens do.
  const first = async (hostName: string, collection: string) => {
    const { scenes } = await vendors.catalog(hostName).search({ ...JUNE, collections: [collection], limit: 1 })
    return scenes[0]!
  }
  const render = (url: string, east: number) =>
    w.call(key, 'cog.tile.render', { url, ...tileAt(east), format: 'png', bands: '1', rescale: '0,4000' })

  await t.test('each is searched page by page, and a scene is found by its ID', async () => {
    for (const [hostName, collections] of [
      ['earth-search', ['sentinel-2-l2a', 'sentinel-2-c1-l2a']],
      ['planetary-computer', ['sentinel-2-l2a', 'landsat-c2-l2']],
      ['cdse', ['sentinel-2-l2a']],
    ] as const) {
      const catalog = vendors.catalog(hostName)
      const query = { ...JUNE, collections, limit: 20 }
      const ids: string[] = []
      let cursor: string | null = null
      for (let page = 0; page < 20; page++) {
        const result = await catalog.search({ ...query, cursor })
        ids.push(...result.scenes.map(({ id }) => id))
        cursor = result.cursor
        if (cursor === null) break
      }
      assert.equal(cursor, null)
      assert.equal(new Set(ids).size, ids.length, 'no scene twice')
      assert.ok(ids.length > 20, `${hostName}: ${ids.length}`)
      assert.equal((await catalog.scene(ids.at(-1)!))?.id, ids.at(-1))
      assert.equal(await catalog.scene('S2B_NOTHING_20290601_0_L2A'), null)
      const clear = await catalog.search({ ...query, limit: 500, cloudCover: { operator: 'LT', percent: 20 } })
      assert.ok(clear.scenes.length > 0 && clear.scenes.every(({ cloudCover }) => cloudCover! < 20))
    }
  })

  await t.test('items state their bands, and public buckets have an https address', async () => {
    const sentinel = await first('earth-search', 'sentinel-2-l2a')
    assert.deepEqual(sentinel.assets['red']!.fields['raster:bands'], [
      { nodata: 0, data_type: 'uint16', bits_per_sample: 15, spatial_resolution: 10, scale: 0.0001, offset: -0.1 },
    ])
    assert.match(sentinel.assets['red-jp2']!.href, /^s3:/, 'a bucket that is not listed stays as it is')
    const elevation = await first('earth-search', 'cop-dem-glo-30')
    assert.match(elevation.assets['data']!.href, /^http:\/\/.*\/buckets\/copernicus-dem-30m\/.*\.tif$/)
    assert.equal((await raster.describe({ url: elevation.assets['data']!.href })).dataType, 'float32')
    const { features } = await w.ok(key, 'catalog.search', {
      host_name: 'planetary-computer',
      ids: [(await first('planetary-computer', 'sentinel-2-l2a')).id],
    })
    assert.deepEqual(features[0].assets.B8A['eo:bands'], [{ name: 'B8A', common_name: 'rededge' }])
    assert.equal(features[0].properties.simulated, false)
    assert.match(
      features[0].links.find(({ rel }: { rel: string }) => rel === 'xyz').href,
      /\/sentinel-2-l2a\/.*\?provider=planetary-computer$/,
    )
  })

  await t.test('previews', async () => {
    for (const [host_name, collection, type] of [
      ['earth-search', 'sentinel-2-l2a', 'image/jpeg'],
      ['planetary-computer', 'landsat-c2-l2', 'image/png'],
      ['cdse', 'sentinel-2-l2a', 'image/jpeg'],
    ] as const) {
      const { id: image_id } = await first(host_name, collection)
      for (const operation of ['catalog.image.thumbnail', 'catalog.image.quicklook']) {
        const { status, headers } = await w.call(key, operation, { host_name, image_id })
        assert.deepEqual([status, headers.get('content-type')], [200, type])
      }
    }
    const { id: image_id } = await first('earth-search', 'cop-dem-glo-30')
    assert.equal((await w.call(key, 'catalog.image.thumbnail', { host_name: 'earth-search', image_id })).status, 404)
  })

  await t.test('the same ground has the values that each host stores', async () => {
    const day = { ...JUNE, limit: 1 }
    const pixel = async (hostName: string, collection: string, asset: string) => {
      const [scene] = (await vendors.catalog(hostName).search({ ...day, collections: [collection] })).scenes
      const [value] = (await raster.point({ url: scene!.assets[asset]!.href }, { longitude: X, latitude: Y }))!
      return value!
    }
    const harmonized = await pixel('earth-search', 'sentinel-2-l2a', 'red')
    assert.ok(harmonized > 0)
    assert.equal(await pixel('planetary-computer', 'sentinel-2-l2a', 'B04'), harmonized + 1_000, 'since baseline 04.00')
  })

  const red = (await first('planetary-computer', 'sentinel-2-l2a')).assets['B04']!.href
  const nir = (await first('planetary-computer', 'sentinel-2-l2a')).assets['B08']!.href

  await t.test('files of the Planetary Computer are signed with one token per container, and nothing keeps it', async () => {
    assert.doesNotMatch(red, TOKEN)
    const [one, two] = await Promise.all([render(red, 0), render(nir, 0)])
    assert.deepEqual([one.status, two.status], [200, 200], one.bytes.toString())
    assert.equal(hosts.sas.issued, 1)
    assert.ok(hosts.reads.length > 0 && hosts.reads.every((url) => TOKEN.test(url)))
  })

  await t.test('another process uses the same token', async (t) => {
    const other = await world(t, { ...settings, databaseUrl: w.databaseUrl })
    assert.equal((await other.platform.services.raster.describe({ url: red })).width, 10_240)
    assert.equal(hosts.sas.issued, 1)
  })

  await t.test('a token that is about to expire is renewed, and one that is refused is renewed once', async () => {
    w.clock.advance({ minutes: 44, seconds: 30 })
    assert.equal((await render(red, 1)).status, 200)
    assert.equal(hosts.sas.issued, 2, 'less than a minute was left')
    hosts.sas.revoke()
    w.clock.advance({ seconds: 30 })
    const tiles = await Promise.all([2, 3, 4].flatMap((east) => [render(red, east), render(nir, east)]))
    assert.deepEqual(
      tiles.map(({ status }) => status),
      tiles.map(() => 200),
    )
    assert.equal(hosts.sas.issued, 3)
    hosts.sas.revoke()
    assert.notEqual((await render(red, -1)).status, 200, 'a token of a moment ago is not renewed')
    assert.equal(hosts.sas.issued, 3)
    w.clock.advance({ seconds: 30 })
    assert.equal((await render(red, -1)).status, 200)
    assert.equal(hosts.sas.issued, 4)
  })

  await t.test("a token's life is measured by the server's clock", async () => {
    hosts.sas.aheadSeconds = 3_600
    hosts.sas.lifetimeSeconds = 600
    w.clock.advance({ hours: 1 })
    assert.equal((await render(red, 5)).status, 200)
    assert.equal(hosts.sas.issued, 5)
    w.clock.advance({ minutes: 8 })
    assert.equal((await render(nir, 5)).status, 200)
    assert.equal(hosts.sas.issued, 5)
    w.clock.advance({ minutes: 1, seconds: 30 })
    assert.equal((await render(nir, 6)).status, 200)
    assert.equal(hosts.sas.issued, 6, 'ten minutes after it was issued, although the server says that it is an hour later')
    hosts.sas.aheadSeconds = 0
  })

  await t.test('a signing service that limits requests is asked again after its pause', async () => {
    w.clock.advance({ hours: 2 })
    hosts.sas.limit(1, 1)
    assert.equal((await render(red, 6)).status, 200)
    assert.equal(hosts.sas.issued, 7)
  })

  await t.test('a signing service that stays silent for long is an error that names it, without any token', async () => {
    w.clock.advance({ hours: 2 })
    hosts.sas.limit(1_000, 3_600)
    const { status, body } = await render(nir, 7)
    assert.equal(status, 502, JSON.stringify(body))
    assert.match(body.detail, /planetary-computer/)
    hosts.sas.limit(0, 1)
  })

  await t.test('only files of listed containers are signed', async () => {
    const other = red.replace('/sentinel2-l2/', '/private/')
    assert.equal(vendors.files.isSigned(other), false)
    assert.equal(vendors.files.isSigned(`${red}?se=2030-01-01&sig=x`), false, 'it is signed already')
    assert.equal(vendors.files.isSigned(red.replace('127.0.0.1', '127.0.0.2')), false)
    assert.equal(vendors.files.isSigned(red), true)
    assert.equal((await render(other, 0)).status, 422)
  })

  await t.test('no token is in a log line, an event or the audit', async () => {
    await w.flushAudit()
    const rows = await w.db.selectFrom('event').selectAll().execute()
    const audit = await w.db.selectFrom('audit').selectAll().execute()
    for (const text of [w.logLines.join('\n'), JSON.stringify(rows), JSON.stringify(audit)]) assert.doesNotMatch(text, /sig=|sr=c/)
  })

  await t.test('errors of a vendor name the host, never a signed URL', async () => {
    hosts.sas.limit(1_000, 3_600)
    w.clock.advance({ hours: 2 })
    await assert.rejects(vendors.files.sign(red, null), (error) => error instanceof VendorError && !TOKEN.test(error.message))
  })
})
