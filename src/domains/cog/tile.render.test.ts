import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a tile of an allowed COG in every style, cacheable by ETag; everything else is rejected with a reason.
test('cog.tile.render', async (t) => {
  const files = await fileHost(t)
  files.put('scene.tif', await scene())
  files.put('grey.tif', await scene({ bandNames: ['height'], dataType: 'float32' }))
  files.put('notes.txt', Buffer.from('this is no TIFF at all, only some text'))
  const w = await world(t, { egressAllow: [files.host] })
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token, ['read'])
  const inside = tileAt(151.15, -33.1, 12)
  const render = (input: object, headers: Record<string, string> = {}) =>
    w.call(key, 'cog.tile.render', { url: files.url('scene.tif'), ...inside, format: 'png', ...input }, headers)
  const pixelsOf = async (bytes: Buffer) => await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })

  await t.test('each format has its media type, long-lived caching and an ETag', async () => {
    for (const [format, type] of [
      ['png', 'image/png'],
      ['webp', 'image/webp'],
      ['jpg', 'image/jpeg'],
      ['jpeg', 'image/jpeg'],
    ]) {
      const { status, headers, bytes } = await render({ format })
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), type)
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.match(headers.get('etag')!, /^"[\w-]{27}"$/)
      const { info } = await pixelsOf(bytes)
      assert.deepEqual([info.width, info.height], [256, 256])
    }
    assert.equal((await pixelsOf((await render({ tile_size: 512 })).bytes)).info.width, 512)
  })

  await t.test('a matching ETag returns 304, and the ETag depends on the request and the file', async () => {
    const first = await render({ bands: '3,2,1' })
    const etag = first.headers.get('etag')!
    const again = await render({ bands: '3,2,1' }, { 'if-none-match': etag })
    assert.deepEqual([again.status, again.bytes.length, again.headers.get('etag')], [304, 0, etag])
    assert.equal((await render({ bands: '3,2,1' }, { 'if-none-match': `W/${etag}, "x"` })).status, 304)
    assert.notEqual((await render({ bands: '1,2,3' })).headers.get('etag'), etag)
    files.put('moving.tif', await scene())
    const moving = () => render({ url: files.url('moving.tif'), bands: '3,2,1' })
    const before = await moving()
    files.put('moving.tif', await scene({ value: () => 7 }))
    assert.equal((await moving()).headers.get('etag'), before.headers.get('etag'), 'for a minute the file is taken to be the same')
    w.clock.advance({ seconds: 61 })
    assert.notEqual((await moving()).headers.get('etag'), before.headers.get('etag'))
  })

  await t.test('every style renders the expected pixels', async () => {
    const centre = async (input: object) => {
      const { status, bytes } = await render(input)
      assert.equal(status, 200, bytes.toString())
      const { data } = await pixelsOf(bytes)
      return [...data.subarray((128 * 256 + 128) * 4, (128 * 256 + 128) * 4 + 4)]
    }
    const [red, green, blue, alpha] = await centre({ bands: '1,2,3', rescale: '0,1020' })
    assert.equal(alpha, 255)
    assert.ok(Math.abs(green! - red! - 25) <= 1 && Math.abs(blue! - green! - 25) <= 1, 'bands differ by 100 of 1020')
    const ndvi = await centre({ expression: '(b4-b3)/(b4+b3)', colormap: 'rdylgn', rescale: '-1,1' })
    const named = await centre({ expression: '(nir-red)/(nir+red)', colormap: 'RdYlGn', rescale: '-1,1' })
    assert.deepEqual(named, ndvi)
    const { colormap } = (await w.ok(owner.token, 'cog.formulas')).ndvi
    assert.deepEqual(
      await centre({ visualization: 'ndvi', rescale: '-1,1' }),
      await centre({ expression: '(nir-red)/(nir+red)', colormap, rescale: '-1,1' }),
    )
    const single = await centre({ bands: '4', colormap: 'viridis' })
    assert.notEqual(single[0], single[2])
    assert.equal((await render({ url: files.url('grey.tif'), colormap: 'terrain' })).status, 200)
  })

  await t.test('without data the tile is transparent, and white for JPEG', async () => {
    const away = tileAt(0, 0, 12)
    const { data } = await pixelsOf((await render(away)).bytes)
    assert.ok(data.every((value, index) => index % 4 !== 3 || value === 0))
    const white = await pixelsOf((await render({ ...away, format: 'jpeg' })).bytes)
    assert.deepEqual([...white.data.subarray(0, 4)], [255, 255, 255, 255])
  })

  await t.test('an area of interest clips the tile', async () => {
    const aoi = JSON.stringify({
      type: 'Polygon',
      coordinates: [
        [
          [151.1, -33.05],
          [151.12, -33.05],
          [151.12, -33.07],
          [151.1, -33.07],
          [151.1, -33.05],
        ],
      ],
    })
    const opaque = ({ data }: { data: Buffer }) => data.filter((value, index) => index % 4 === 3 && value > 0).length
    const [whole, cut] = [
      await pixelsOf((await render(tileAt(151.11, -33.06, 12))).bytes),
      await pixelsOf((await render({ ...tileAt(151.11, -33.06, 12), aoi })).bytes),
    ]
    assert.ok(opaque(cut) > 0 && opaque(cut) < opaque(whole) / 2)
  })

  await t.test('rejections say what to change', async () => {
    const cases: [object, number, RegExp][] = [
      [{ bands: '1,2,3', expression: 'b1' }, 422, /only one of/],
      [{ bands: '9' }, 422, /band 9 does not exist/],
      [{ bands: '1,2' }, 422, /one number, or three/],
      [{ bands: 'purple' }, 422, /numbers from 1 or band names/],
      [{ expression: 'b1 +* 2' }, 422, /at character 5/],
      [{ expression: 'b7' }, 422, /character/],
      [{ expression: 'process.exit()' }, 422, /character/],
      [{ colormap: 'viridis' }, 422, /colormap needs/],
      [{ expression: 'b1', colormap: 'nope' }, 422, /unknown colormap/],
      [{ rescale: '5,1' }, 422, /rescale/],
      [{ visualization: 'lava' }, 422, /no visualization/],
      [{ x: 2 ** 12 }, 422, /x: must be below 4096/],
      [{ z: 25 }, 422, /z/],
      [{ format: 'gif' }, 422, /format/],
      [{ quality: 0 }, 422, /quality/],
      [{ aoi: 'circle' }, 422, /aoi: must be GeoJSON/],
      [{ url: 'https://example.com/a.tif' }, 422, /host 'example.com' of url is not allowed; .*COG_HOSTS/],
      [{ url: 'file:///etc/passwd' }, 422, /https URL/],
      [{ url: files.url('notes.txt') }, 422, /TIFF/],
      [{ url: files.url('missing.tif') }, 422, /does not exist or is not public/],
    ]
    for (const [input, status, detail] of cases) {
      const response = await render(input)
      assert.deepEqual(
        [response.status, detail.test(response.body.detail)],
        [status, true],
        `${JSON.stringify(input)} → ${response.status} ${response.body?.detail}`,
      )
    }
  })
})
