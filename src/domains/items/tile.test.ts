import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const INSIDE = tileAt(151.15, -33.1, 12)
const pixelsOf = async (bytes: Buffer) => await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
const centreOf = async (bytes: Buffer) => {
  const { data, info } = await pixelsOf(bytes)
  const at = ((info.height / 2) * info.width + info.width / 2) * 4
  return [...data.subarray(at, at + 4)]
}

// Goal: an item is rendered in its default style, a saved profile, a derived one or custom parameters, only for those who can read it.
test('tiles of items', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const id = await rasterItem(w, org, [
    { bytes: await scene() },
    { key: 'height', bytes: await scene({ bandNames: ['elevation'], dataType: 'float32' }) },
    { key: 'classes', bytes: await scene({ bandNames: ['landcover'], dataType: 'uint8', value: (_band, x) => x % 5 }) },
  ])
  const render = (input: object = {}, headers: Record<string, string> = {}, who = token) =>
    w.call(who, 'items.tile.render', { item_id: id, ...INSIDE, format: 'png', ...input }, headers)
  const centre = async (input: object) => {
    const { status, bytes } = await render(input)
    assert.equal(status, 200, bytes.toString())
    return await centreOf(bytes)
  }

  await t.test("'items.tile.render' renders every format and size, cached privately for a day, with an ETag", async () => {
    for (const [format, type] of [
      [undefined, 'image/webp'],
      ['png', 'image/png'],
      ['jpg', 'image/jpeg'],
      ['jpeg', 'image/jpeg'],
    ]) {
      const { status, headers, bytes } = await render({ format })
      assert.deepEqual([status, headers.get('content-type'), headers.get('cache-control')], [200, type, 'private, max-age=86400'])
      assert.equal((await pixelsOf(bytes)).info.width, 256)
      const again = await render({ format }, { 'if-none-match': headers.get('etag')! })
      assert.deepEqual([again.status, again.bytes.length], [304, 0])
    }
    assert.equal((await pixelsOf((await render({ tile_size: 512 })).bytes)).info.width, 512)
  })

  await t.test('without a profile: natural colours by band name, with one range for the whole image', async () => {
    const byHand = await w.ok(token, 'items.tile.statistics', { item_id: id, bands: '3,2,1' })
    const shown = (await pixelsOf((await render()).bytes)).data
    const linear = (await pixelsOf((await render({ bands: '3,2,1', rescale: byHand.rescale })).bytes)).data
    const widths = byHand.rescale
      .split(';')
      .map((pair: string) => pair.split(',').map(Number))
      .map(([low, high]: number[]) => high! - low!)
    for (const width of widths) assert.ok(Math.abs(width - widths[0]) < 1e-6, 'all three channels use the same range')
    for (let i = 0; i < shown.length; i += 4)
      for (const channel of [i, i + 1, i + 2])
        assert.ok(
          Math.abs(shown[channel]! - 255 * (linear[channel]! / 255) ** (1 / 1.3)) <= 4,
          'the same minimum and maximum, brighter in between',
        )
    const [left, right] = await Promise.all(
      [render(), render({ x: INSIDE.x + 1 })].map(async (tile) => (await pixelsOf((await tile).bytes)).data),
    )
    for (let row = 0; row < 256; row += 16) {
      const difference = Math.abs(left![(row * 256 + 255) * 4]! - right![row * 256 * 4]!)
      assert.ok(difference <= 3, `neighbouring tiles meet at row ${row}: ${difference}`)
    }
  })

  await t.test("'items.tile.legend' returns the colours and values that tiles are rendered with", async () => {
    const legendOf = (input: object) => w.ok(token, 'items.tile.legend', { item_id: id, ...input })
    const ndvi = await legendOf({ profile: 'ndvi' })
    const { visualizations } = await w.ok(token, 'visualization.list_for', { band_roles: { blue: 1, green: 2, red: 3, nir: 4 } })
    const derived = visualizations.find((each: { id: string }) => each.id === 'ndvi')
    assert.deepEqual(ndvi.names, [derived.expression])
    assert.equal(`${ndvi.legend.low},${ndvi.legend.high}`, derived.rescale)
    const half = (ndvi.legend.low + ndvi.legend.high) / 2
    const [first, last] = [ndvi.legend.colors[0], ndvi.legend.colors.at(-1)]
    const hex = (pixel: number[]) => `#${Buffer.from(pixel.slice(0, 3)).toString('hex')}`
    const flat = { expression: `b1*0+${half}`, colormap: derived.colormap }
    assert.equal(hex(await centre({ ...flat, rescale: `${half},${half + 1}` })), first, 'the first colour is that of the lowest value')
    assert.equal(hex(await centre({ ...flat, rescale: `${half - 1},${half}` })), last)
    assert.deepEqual((await legendOf({ profile: 'cir' })).legend.channels, ['nir', 'red', 'green'])
    const natural = await legendOf({})
    assert.deepEqual([natural.legend.kind, natural.names], ['composite', ['red', 'green', 'blue']])
    const height = await legendOf({ asset_key: 'height', rescale: '5,7', colormap: 'viridis' })
    assert.deepEqual([height.names, height.legend.low, height.legend.high], [['elevation'], 5, 7])
    assert.equal((await w.call(token, 'items.tile.legend', { item_id: id, profile: 'nowhere' })).status, 422)
    const stranger = await w.organization()
    assert.equal((await w.call(stranger.owner.token, 'items.tile.legend', { item_id: id })).status, 404)
  })

  await t.test('a derived visualization by its ID, with a custom range or colormap', async () => {
    const ndvi = await centre({ profile: 'ndvi' })
    const listed = (await w.ok(token, 'visualization.list_for', { band_roles: { blue: 1, green: 2, red: 3, nir: 4 } })).visualizations.find(
      (visualization: { id: string }) => visualization.id === 'ndvi',
    )
    assert.deepEqual(ndvi, await centre({ expression: listed.expression, colormap: listed.colormap, rescale: listed.rescale }))
    assert.notDeepEqual(ndvi, await centre({ profile: 'ndvi', rescale: '0,0.2' }))
    assert.notDeepEqual(ndvi, await centre({ profile: 'ndvi', colormap: 'viridis' }))
    const cir = await centre({ profile: 'cir' })
    assert.deepEqual(cir, await centre({ bands: '4,3,2' }))
    assert.match((await render({ profile: 'nbr' })).body.detail, /no visualization 'nbr'/)
  })

  await t.test('another asset; elevation and classes in their own colours', async () => {
    assert.notDeepEqual(await centre({ asset_key: 'height' }), await centre({}))
    const { data } = await pixelsOf((await render({ asset_key: 'classes' })).bytes)
    const colours = new Set<string>()
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) colours.add(data.subarray(i, i + 3).toString('hex'))
    assert.equal(colours.size, 5, 'five classes, not interpolated')
    assert.equal((await render({ asset_key: 'nothing' })).status, 404)
  })

  await t.test('band names set by users take precedence', async () => {
    const named = await rasterItem(w, org, [{ bytes: await scene(), bandNames: ['red', 'green', 'blue', 'nir'] }])
    assert.deepEqual(
      await centreOf((await render({ item_id: named })).bytes),
      await centreOf((await render({ item_id: named, bands: '1,2,3' })).bytes),
    )
    assert.equal((await render({ item_id: named, expression: '(nir-red)/(nir+red)' })).status, 200)
  })

  await t.test('a mosaic shows its pixels, not its source index', async () => {
    const files = [
      {
        key: 'a_provenance',
        bytes: await scene({ bandNames: ['source'], dataType: 'uint8', value: () => 3 }),
        roles: ['data', 'provenance'],
      },
      { key: 'visual', bytes: await scene(), roles: ['data'] },
    ]
    const mosaic = await rasterItem(w, org, files, { type: 'mosaic' })
    assert.deepEqual(await centre({ item_id: mosaic }), await centre({}))
    assert.notDeepEqual(await centre({ item_id: mosaic, asset_key: 'a_provenance' }), await centre({}))
  })

  await t.test('outside the image a tile is transparent, or white', async () => {
    assert.deepEqual(await centre({ ...tileAt(10, 50, 12) }), [0, 0, 0, 0])
    assert.deepEqual(await centre({ ...tileAt(10, 50, 12), format: 'jpg' }), [255, 255, 255, 255])
    assert.deepEqual(
      await centreOf((await w.call(token, 'items.tile.wmts_get_tile', { item_id: id, ...tileAt(10, 50, 12) })).bytes),
      [0, 0, 0, 0],
    )
    const tile = await w.call(token, 'items.tile.wmts_get_tile', { item_id: id, ...INSIDE, format: 'png', profile: 'ndvi' })
    assert.deepEqual(tile.bytes, (await render({ profile: 'ndvi', quality: 85 })).bytes)
  })

  await t.test('invalid requests are rejected with a reason', async () => {
    const cases: [object, number, RegExp][] = [
      [{ profile: 'rgb', bands: '1,2,3' }, 422, /cannot be combined with bands/],
      [{ bands: '9' }, 422, /band 9 does not exist/],
      [{ profile: '0199f2c6-4444-7abc-8def-0123456789ab' }, 404, /visualization profile/],
      [{ x: 4096 }, 422, /below 4096/],
      [{ expression: 'b1 +' }, 422, /expression|unexpected|end/i],
      [{ profile: 'rgb', colormap: 'viridis' }, 422, /three bands/],
      [{ z: 25 }, 422, /z/],
      [{ colour: 'red' }, 422, /colour/],
    ]
    for (const [input, status, detail] of cases) {
      const response = await render(input)
      assert.equal(response.status, status, JSON.stringify(input))
      assert.match(response.body.detail, detail)
    }
    const { id: vector } = await w.ok(token, 'items.create', {
      project_id: org.projectId,
      type: 'user_vector',
      name: 'Fields',
      assets: [{ key: 'data', href: 'https://data.example/f.json', media_type: 'application/geo+json' }],
    })
    assert.match((await render({ item_id: vector })).body.detail, /no raster/)
    const lost = await rasterItem(w, org, [{ bytes: await scene() }])
    await w.db
      .updateTable('asset')
      .set({ object_key: 'gone.tif' })
      .where('item_seq', '=', (e) => e.selectFrom('item').select('seq').where('id', '=', lost))
      .execute()
    assert.deepEqual(
      [(await render({ item_id: lost })).status, (await w.call(token, 'items.tile.tilejson', { item_id: lost })).body.detail],
      [502, 'The file is missing from the object store'],
    )
  })

  await t.test('readers see it; strangers get 404; a private project 403; a deleted item disappears at once', async () => {
    const viewer = await w.member(org, 'viewer')
    const stranger = await w.organization()
    assert.equal((await render({}, {}, viewer.token)).status, 200)
    const [foreign, missing] = [await render({}, {}, stranger.owner.token), await render({ item_id: 'none' }, {}, stranger.owner.token)]
    assert.deepEqual([foreign.status, { ...foreign.body, instance: '' }], [404, { ...missing.body, instance: '' }])
    await w.ok(token, 'projects.update', { project_id: org.projectId, visibility: 'private' })
    assert.equal((await render({}, {}, viewer.token)).status, 200)
    await w.ok(token, 'projects.remove_member', { project_id: org.projectId, user_id: viewer.id })
    assert.equal((await render({}, {}, viewer.token)).status, 403)
    const doomed = await rasterItem(w, org, [{ bytes: await scene() }])
    assert.equal((await render({ item_id: doomed })).status, 200)
    await w.ok(token, 'items.delete', { item_id: doomed })
    assert.equal((await render({ item_id: doomed })).status, 404)
  })

  await t.test('changes by another process apply within a second, and a newer profile version at once', async (tt) => {
    const shared = await rasterItem(w, org, [{ bytes: await scene() }])
    const { id: profile } = await w.ok(token, 'visualization.profile.create', {
      item_id: shared,
      name: 'Look',
      type: 'rgb',
      config: { bands: [3, 2, 1], rescale: '0,600' },
    })
    const other = await world(tt, { databaseUrl: w.databaseUrl })
    const renderHere = (input: object = {}) =>
      w.call(token, 'items.tile.render', { item_id: shared, ...INSIDE, format: 'png', profile, ...input })
    const before = await renderHere({ v: 1 })
    await other.ok(token, 'visualization.profile.update', {
      item_id: shared,
      profile_id: profile,
      config: { bands: [1, 2, 3], rescale: '0,600' },
    })
    assert.deepEqual((await renderHere()).headers.get('etag'), before.headers.get('etag'), 'cached for a second')
    assert.notEqual((await renderHere({ v: 2 })).headers.get('etag'), before.headers.get('etag'), 'but not for a URL with a newer version')
    await other.ok(token, 'items.delete', { item_id: shared })
    w.clock.advance({ seconds: 1 })
    assert.equal((await renderHere()).status, 404)
  })

  await t.test('many concurrent requests of several callers and items each get their own tile', async () => {
    const stranger = await w.organization()
    const theirs = await rasterItem(w, stranger, [{ bytes: await scene({ value: () => 9 }) }])
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 2 ? render({ item_id: i % 4 === 1 ? theirs : id }) : render({ item_id: i % 4 === 0 ? theirs : id }, {}, stranger.owner.token),
      ),
    )
    assert.deepEqual(
      responses.map(({ status }) => status),
      Array.from({ length: 40 }, (_, i) => [200, 404, 404, 200][i % 4]),
    )
  })
})

// Goal: a map client gets the bounds, zoom levels and tile URLs of an item; no URL has a range or a key that was not requested.
test('TileJSON, statistics and values', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const id = await rasterItem(
    w,
    org,
    [{ bytes: await scene({ nodata: 0, value: (band, x, y) => (x < 10 ? 0 : 100 * (band + 1) + x + y) }) }],
    { name: 'Harbour', description: 'A scene' },
  )

  await t.test("'items.tile.tilejson'", async () => {
    const plain = await w.ok(token, 'items.tile.tilejson', { item_id: id })
    assert.deepEqual(plain, {
      tilejson: '3.0.0',
      name: 'Harbour',
      description: 'A scene',
      version: '1.0.0',
      scheme: 'xyz',
      tiles: [`${w.baseUrl}/api/v1/items/${id}/tiles/{z}/{x}/{y}.webp`],
      minzoom: 8,
      maxzoom: 11,
      bounds: [151, -33.2, 151.3, -33],
      center: [151.15, plain.center[1], 10],
    })
    assert.ok(Math.abs(plain.center[1] - -33.1) < 0.001)
    const {
      tiles: [template],
    } = await w.ok(token, 'items.tile.tilejson', { item_id: id, profile: 'ndvi', asset_key: 'data', key: 'svc_a&b' })
    assert.equal(template, `${w.baseUrl}/api/v1/items/${id}/tiles/{z}/{x}/{y}.webp?profile=ndvi&asset_key=data&key=svc_a%26b`)
    assert.equal((await w.call(token, 'items.tile.tilejson', { item_id: id, profile: 'nonsense' })).status, 422)
    await w.ok(token, 'items.update', { item_id: id, description: null })
    assert.ok(!('description' in (await w.ok(token, 'items.tile.tilejson', { item_id: id }))), 'TileJSON allows a string or nothing')
  })
  await t.test("'items.tile.statistics' returns the range that tiles use, without nodata", async () => {
    const { p2, p98, min, max, rescale, results } = await w.ok(token, 'items.tile.statistics', { item_id: id, bands: '1' })
    assert.ok(min >= 110 && p2 > min && p98 < max && max <= 600)
    assert.equal(rescale, `${p2},${p98}`)
    assert.deepEqual(results, [{ name: 'b1', p2, p98, min, max }])
    const ratio = await w.ok(token, 'items.tile.statistics', { item_id: id, expression: 'b1/b2; b2/b1; b1/b1' })
    assert.deepEqual(
      ratio.results.map(({ name }: { name: string }) => name),
      ['b1/b2', 'b2/b1', 'b1/b1'],
    )
    assert.equal(ratio.min, ratio.results[0].min)
    assert.equal(ratio.max, ratio.results[1].max)
  })
  await t.test("'items.tile.statistics' returns a histogram, over the item and within an area", async () => {
    const statistics = (more: object) => w.ok(token, 'items.tile.statistics', { item_id: id, bands: '1', bins: 16, ...more })
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
    const whole = await statistics({})
    const { counts, edges } = whole.results[0].histogram
    assert.deepEqual([counts.length, edges.length, edges[0], edges.at(-1)], [16, 17, whole.min, whole.max])
    const area = (east: number) => ({
      type: 'Polygon',
      coordinates: [
        [
          [151.1, -33.15],
          [east, -33.15],
          [east, -33.05],
          [151.1, -33.05],
          [151.1, -33.15],
        ],
      ],
    })
    const within = await statistics({ geometry: area(151.2) })
    const half = await statistics({ geometry: area(151.15) })
    assert.ok(within.min >= whole.min && within.max <= whole.max)
    const share = sum(half.results[0].histogram.counts) / sum(within.results[0].histogram.counts)
    assert.ok(share > 0.4 && share < 0.6, `half of the area has ${share} of its pixels`)
    assert.equal(
      (await w.call(token, 'items.tile.statistics', { item_id: id, bands: '1', geometry: { type: 'Point', coordinates: [1, 2] } })).status,
      422,
    )
  })
  await t.test("'items.point' returns bands and results, null without data", async () => {
    const { bands, results, inside, asset_key } = await w.ok(token, 'items.point', {
      item_id: id,
      longitude: 151.1505,
      latitude: -33.1005,
      expression: 'nir - red',
    })
    assert.deepEqual([inside, asset_key], [true, 'data'])
    assert.deepEqual(
      bands,
      ['blue', 'green', 'red', 'nir'].map((name, band) => ({ band: band + 1, name, value: 100 * (band + 1) + 150 + 100 })),
    )
    assert.deepEqual(results, [{ expression: 'nir - red', value: 100 }])
    const empty = await w.ok(token, 'items.point', { item_id: id, longitude: 151.0005, latitude: -33.1005, profile: 'ndvi' })
    assert.deepEqual([empty.inside, empty.bands[0].value, empty.results[0].value], [true, null, null])
    assert.equal((await w.ok(token, 'items.point', { item_id: id, longitude: 10, latitude: 50 })).inside, false)
  })
})
