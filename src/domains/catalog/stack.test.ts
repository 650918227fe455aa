import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { readRegistry } from '#adapters/vendors/registry.ts'
import { fileHost } from '../../../test/support/ranges.ts'
import { tileAt } from '../../../test/support/scene.ts'
import { bandFile, reflectance } from '../../../test/support/stack.ts'
import { world } from '../../../test/support/world.ts'

const CENTRE = [150.85589, -33.79326] as const
const LEVELS = { blue: 500, green: 700, red: 900, nir: 3_000 }
const SCENE = 'S2B_56HLH_20290101_0_L2A'

/** A STAC API with one scene, in the layout of Earth Search: one file per band, and an 8-bit image. */
async function stacHost(t: TestContext, urlOf: (file: string) => string): Promise<string> {
  const bands = Object.keys(LEVELS).map((name) => [
    name,
    {
      href: urlOf(`${name}.tif`),
      type: 'image/tiff; application=geotiff; profile=cloud-optimized',
      roles: ['data', 'reflectance'],
      gsd: 10,
      'eo:bands': [{ name, common_name: name }],
      'raster:bands': [{ data_type: 'uint16', nodata: 0, scale: 0.0001, offset: -0.1 }],
    },
  ])
  const [west, south, east, north] = [CENTRE[0] - 0.02, CENTRE[1] - 0.02, CENTRE[0] + 0.02, CENTRE[1] + 0.02]
  const feature = {
    type: 'Feature',
    stac_version: '1.0.0',
    id: SCENE,
    collection: 'sentinel-2-l2a',
    bbox: [west, south, east, north],
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [west, south],
          [east, south],
          [east, north],
          [west, north],
          [west, south],
        ],
      ],
    },
    properties: { datetime: '2029-01-01T00:00:00Z', 'eo:cloud_cover': 1, platform: 'sentinel-2b' },
    assets: Object.fromEntries(bands),
    links: [],
  }
  const server = createServer((request, response) => {
    request.resume()
    response
      .writeHead(200, { 'content-type': 'application/geo+json' })
      .end(JSON.stringify({ type: 'FeatureCollection', features: [feature], links: [] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// Goal: a search result whose bands are in several files is shown in colour and as an index before anything is saved.
test('an open scene with one file per band', async (t) => {
  const files = await fileHost(t)
  for (const [name, level] of Object.entries(LEVELS))
    files.put(`${name}.tif`, await bandFile({ width: 300, height: 260, pixelM: 10, nodata: 0, value: reflectance(level, level) }))
  const url = await stacHost(t, files.url)
  const shipped = await readRegistry(null, { sandboxUrl: null })
  const sources = {
    ...shipped,
    sources: shipped.sources.filter(({ hostName }) => hostName === 'earth-search'),
    hosts: shipped.hosts
      .filter(({ hostName }) => hostName === 'earth-search')
      .map((host) => ({ ...host, url, isSandbox: true, fileHosts: [files.host] })),
  }
  const w = await world(t, { sources, egressAllow: [files.host, new URL(url).host] })
  const { owner } = await w.organization()
  const render = (input: object) =>
    w.call(owner.token, 'catalog.tile.render', {
      collection: 'sentinel-2-l2a',
      scene_id: SCENE,
      ...tileAt(CENTRE[0], CENTRE[1], 14),
      format: 'png',
      ...input,
    })

  await t.test('true colour, false colour, an index and an expression', async () => {
    const images = new Set<string>()
    for (const input of [
      { visualization: 'rgb' },
      { visualization: 'cir' },
      { visualization: 'ndvi' },
      { expression: '(nir-red)/(nir+red)', colormap: 'viridis', rescale: '-1,1' },
      { expression: '(B08-B04)/(B08+B04)', colormap: 'viridis', rescale: '-1,1' },
    ]) {
      const { status, bytes } = await render(input)
      assert.equal(status, 200, `${JSON.stringify(input)} ${bytes.toString().slice(0, 300)}`)
      images.add(bytes.toString('base64'))
    }
    assert.equal(images.size, 4, 'B08 is nir and B04 is red')
  })

  await t.test('a band that the scene does not have', async () => {
    const { status, body } = await render({ expression: 'swir16/red' })
    assert.equal(status, 422)
    assert.match(body.errors[0].message, /The scene has no asset 'swir16'; use other bands/)
  })

  await t.test('its description has physical values, and no statistics of bands that it does not have', async () => {
    const info = await w.ok(owner.token, 'catalog.info.sentinel', { scene_id: SCENE })
    assert.equal(info.bands.length, 12)
    const index = info.bands.findIndex(({ role }: { role: string }) => role === 'RED')
    assert.ok(info.statistics[index].mean > -0.1 && info.statistics[index].mean < 0.1, JSON.stringify(info.statistics[index]))
    assert.equal(info.statistics[0].mean, null, 'coastal')
    assert.deepEqual([info.width, info.height], [300, 260])
  })
})
