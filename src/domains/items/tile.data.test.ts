import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { readDataTile, type DataTile } from '../../../packages/console/src/map/live/data-tile.ts'
import { bytesOf } from '../../../packages/console/src/map/live/evaluate.ts'
import { DATA_TILE_TYPE } from '#raster/encode/format.ts'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const INSIDE = tileAt(151.15, -33.1, 12)
const OUTSIDE = tileAt(-60, 10, 12)
const NODATA = -9999

/** Floats with a nodata value, a NaN and an infinite one. */
const float = (band: number, x: number, y: number): number =>
  x % 40 < 4 ? NODATA : x === 77 && band === 0 ? Number.NaN : x === 78 && band === 0 ? Infinity : Math.sin(x / 9 + band) * (y + 1) * 0.37

const STYLES: readonly (readonly [asset: string, style: Record<string, string>])[] = [
  ['data', {}],
  ['data', { bands: '4,3,2' }],
  ['data', { bands: '4,3,2', rescale: '150,700' }],
  ['data', { bands: '4,4,1', rescale: '150,700;200,900;100,500' }],
  ['data', { bands: '2', rescale: '201.5,655.25' }],
  ['data', { expression: '(nir - red) / (nir + red)', rescale: '0.02,0.16' }],
  ['data', { expression: 'b4; where(b1 > 300, b2, b3); sqrt(b3) * 20', rescale: '100,900' }],
  ['bytes', {}],
  ['bytes', { bands: '1' }],
  ['bytes', { bands: '3,2,1', rescale: '20,210' }],
  ['floats', { bands: '1' }],
  ['floats', { bands: '1,2,3' }],
  ['floats', { bands: '1', rescale: '-20.5,30.25' }],
  ['floats', { expression: 'b1 ** 2 / (b2 + 3)', rescale: '-30,300' }],
]

// Goal: a data tile has the samples that the image of the same style is rendered from, with all that is needed to render them, for
// those who can read the item and nobody else.
test('data tiles of items', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const id = await rasterItem(w, org, [
    { bytes: await scene() },
    {
      key: 'bytes',
      bytes: await scene({ dataType: 'uint8', nodata: 0, value: (band, x, y) => (x % 30 < 2 ? 0 : (x * (band + 2) + y) % 256) }),
    },
    { key: 'floats', bytes: await scene({ dataType: 'float32', nodata: NODATA, value: float }) },
    { key: 'height', bytes: await scene({ bandNames: ['elevation'], dataType: 'float32' }) },
  ])
  const render = (input: object, who = token, headers: Record<string, string> = {}) =>
    w.call(who, 'items.tile.render', { item_id: id, ...INSIDE, format: 'bin', ...input }, headers)
  const dataOf = async (input: object): Promise<DataTile> => {
    const { status, bytes } = await render(input)
    assert.equal(status, 200, bytes.toString())
    return await readDataTile(Uint8Array.from(bytes).buffer)
  }

  await t.test('rendered by the rules of the guide, it is the image of the service, pixel by pixel', async () => {
    for (const [index, [asset_key, style]] of STYLES.entries())
      for (const tile_size of index === 0 ? [256, 512] : [256]) {
        const data = await dataOf({ asset_key, ...style, tile_size })
        const png = await render({ asset_key, ...style, tile_size, format: 'png' })
        const shown = await sharp(png.bytes).ensureAlpha().raw().toBuffer()
        const what = `${asset_key} ${JSON.stringify(style)} of ${tile_size} pixels`
        assert.deepEqual(Buffer.compare(imageOf(data), shown), 0, what)
        assert.ok(new Set(shown).size > 20, `${what} shows something`)
      }
  })

  await t.test('a saved profile with smooth pixels has smooth samples', async () => {
    const config = { bands: [3], resampling: 'bilinear', rescale: '300,800' }
    const { id: profile } = await w.ok(token, 'visualization.profile.create', { item_id: id, name: 'Smooth', type: 'singleband', config })
    const data = await dataOf({ profile })
    assert.equal(data.header.type, 'float32')
    const png = await render({ profile, format: 'png' })
    assert.deepEqual(imageOf(data), await sharp(png.bytes).ensureAlpha().raw().toBuffer())
  })

  await t.test('the header describes the samples and the style', async () => {
    const { header } = await dataOf({ expression: '(nir - red) / max(nir, 2 * 3, red)', rescale: '-1,1' })
    assert.deepEqual(header, {
      width: 256,
      height: 256,
      type: 'uint16',
      bands: [3, 4],
      scales: null,
      style: { kind: 'expression', results: [['b4', 'b3', '-', 'b4', 6, 'max', 'b3', 'max', '/']], colormap: null },
      ranges: [[-1, 1]],
      predictor: 2,
      data: 'all',
    })
    const natural = await dataOf({})
    assert.deepEqual([natural.header.bands, natural.header.ranges[0]!.length], [[3, 2, 1], 3], 'natural colours have a gamma')
    const shaded = await dataOf({ asset_key: 'height', bands: '1', colormap: 'terrain' })
    assert.deepEqual(shaded.header.style, { kind: 'single', band: 1, colormap: 'terrain', hillshade: true })
    const empty = await dataOf(OUTSIDE)
    assert.deepEqual([empty.header.data, empty.planes], ['none', []])
  })

  await t.test('it is cached, counted and refused like an image', async () => {
    const path = `/api/v1/items/${id}/tiles/${INSIDE.z}/${INSIDE.x}/${INSIDE.y}@2x.bin?bands=1`
    const get = (headers: Record<string, string>) => fetch(`${w.baseUrl}${path}`, { headers })
    const first = await get({ authorization: `Bearer ${token}` })
    const head = ['content-type', 'cache-control', 'vary'].map((name) => first.headers.get(name))
    assert.deepEqual([first.status, ...head], [200, DATA_TILE_TYPE, 'private, max-age=86400', 'Authorization, X-API-Key'])
    assert.equal((await readDataTile(await first.arrayBuffer())).header.width, 512)
    assert.equal((await get({ authorization: `Bearer ${token}`, 'if-none-match': first.headers.get('etag')! })).status, 304)
    assert.equal((await get({})).status, 401)
    const stranger = await w.organization()
    assert.equal((await render({}, stranger.owner.token)).status, 404)
    const many = Array.from({ length: 4 }, (_, band) => `b${band + 1}`).join('+')
    assert.equal((await render({ expression: many, tile_size: 512 })).status, 200)
    assert.equal((await render({ expression: 'b1 +' })).status, 422)
  })

  await t.test('a signed URL is for colours only, and so are other layers', async () => {
    const { tiles } = await w.ok(token, 'items.tile.tilejson', { item_id: id, signed_seconds: 600 })
    const signed = tiles[0].replace('{z}/{x}/{y}', `${INSIDE.z}/${INSIDE.x}/${INSIDE.y}`)
    assert.equal((await fetch(signed)).status, 200)
    assert.equal((await fetch(signed.replace(/\.webp/, '.bin'))).status, 401)
    const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'All' })
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await fetch(`${w.baseUrl}/api/v1/collections/${collection}/tiles/0/0/0.bin`, { headers })).status, 404)
  })

  await t.test('a file with more bands than fit is refused by name', async () => {
    const bandNames = Array.from({ length: 17 }, (_, band) => `band${band + 1}`)
    const wide = await rasterItem(w, org, [{ bytes: await scene({ width: 16, height: 16, bandNames }) }])
    const expression = bandNames.map((_, band) => `b${band + 1}`).join('+')
    const { status, body } = await w.call(token, 'items.tile.render', {
      item_id: wide,
      ...INSIDE,
      format: 'bin',
      expression,
      tile_size: 512,
    })
    assert.equal(status, 422)
    assert.match(JSON.stringify(body), /at most 16 bands/)
  })
})

/** The image of a data tile without colormap, as RGBA. */
function imageOf({ header, planes, mask }: DataTile): Buffer {
  const count = header.width * header.height
  const out = Buffer.alloc(count * 4)
  const bytesAt = bytesOf(header, header.ranges)
  for (let i = 0; i < count && planes.length > 0; i++) {
    const alpha = mask ? mask[i]! : 255
    const bytes = alpha === 0 ? null : bytesAt(planes.map((plane) => plane[i]!))
    if (!bytes) continue
    const [red, green = red, blue = red] = bytes
    out.set([red!, green!, blue!, alpha], i * 4)
  }
  return out
}
