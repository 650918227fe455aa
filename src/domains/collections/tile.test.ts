import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a collection is one layer: the newest valid pixel on top, gaps filled from older items at every zoom, for all kinds of items.
test('a collection as one layer', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const { id: collectionId } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Coast' })
  const add = async (bytes: Uint8Array, datetime: string, bbox: number[], more: object = {}) =>
    await rasterItem(w, org, [{ bytes }], { collection_id: collectionId, datetime, bbox, ...more })
  const west = [151, -33.2, 151.3, -33]
  // The newest has no data in its left half; below it is an older grey image; beside both is a photograph.
  await add(
    await scene({ nodata: 0, value: (band, column) => (column < 150 ? 0 : 100 * (band + 1) + column) }),
    '2029-06-01T00:00:00Z',
    west,
  )
  const older = await add(await scene({ bandNames: ['pan'], value: (_band, column, row) => column + row }), '2028-06-01T00:00:00Z', west)
  await add(
    await scene({ west: 151.3, bandNames: ['r', 'g', 'b'], dataType: 'uint8', value: (band, column) => (band * 60 + column) % 256 }),
    '2027-06-01T00:00:00Z',
    [151.3, -33.2, 151.6, -33],
  )
  const render = (input: object, who = token) =>
    w.call(who, 'collections.tile.render', { collection_id: collectionId, format: 'png', ...input })
  const alphaShare = async (bytes: Buffer) => {
    const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    let opaque = 0
    for (let i = 3; i < data.length; i += 4) if (data[i] === 255) opaque++
    return opaque / (data.length / 4)
  }

  await t.test("'collections.tile.render' fills gaps of the newest item from older ones, at every zoom", async () => {
    for (const zoom of [8, 10, 12, 13]) {
      for (const longitude of [151.08, 151.149, 151.299, 151.45]) {
        const tile = tileAt(longitude, -33.1, zoom)
        const shares = await Promise.all(
          [
            render(tile),
            ...(longitude < 151.3 ? [older] : []).map((item_id) => w.call(token, 'items.tile.render', { item_id, ...tile, format: 'png' })),
          ].map(async (response) => await alphaShare((await response).bytes)),
        )
        assert.ok(shares[0]! >= (shares[1] ?? 0.0001), `${zoom} ${longitude}: ${shares.join(' ')}`)
      }
    }
    const full = await render(tileAt(151.15, -33.1, 13))
    assert.equal(await alphaShare(full.bytes), 1, 'no seam where one item ends')
  })
  await t.test('pixels are those of the first item that has them', async () => {
    const tile = tileAt(151.25, -33.1, 13)
    const pixels = await sharp((await render(tile)).bytes)
      .ensureAlpha()
      .raw()
      .toBuffer()
    const { items } = await w.ok(token, 'items.list', { project_id: org.projectId })
    const newest = items.find((item: { datetime: string }) => item.datetime.startsWith('2029'))
    assert.deepEqual(
      pixels,
      await sharp((await w.call(token, 'items.tile.render', { item_id: newest.id, ...tile, format: 'png' })).bytes)
        .ensureAlpha()
        .raw()
        .toBuffer(),
    )
  })
  await t.test('a style for all items: those it does not fit are skipped; if none is left, the reason is returned', async () => {
    assert.equal((await render({ ...tileAt(151.25, -33.1, 12), profile: 'ndvi' })).status, 200)
    assert.match((await render({ ...tileAt(151.5, -33.1, 13), expression: 'b4' })).body.detail, /b4|band 4/)
    assert.match(
      (await render({ z: 0, x: 0, y: 0, profile: '0199f2c6-4444-7abc-8def-0123456789ab' })).body.detail,
      /saved profile belongs to one item/,
    )
  })
  await t.test('areas without items are transparent; ETags match; a deleted item disappears at once', async () => {
    assert.equal(await alphaShare((await render(tileAt(10, 50, 12))).bytes), 0)
    const tile = tileAt(151.08, -33.1, 12)
    const first = await render(tile)
    assert.deepEqual(
      [
        first.headers.get('cache-control'),
        (
          await w.call(
            token,
            'collections.tile.render',
            { collection_id: collectionId, format: 'png', ...tile },
            { 'if-none-match': first.headers.get('etag')! },
          )
        ).status,
      ],
      ['private, max-age=300', 304],
    )
    await w.ok(token, 'items.delete', { item_id: older })
    assert.ok((await alphaShare((await render(tile)).bytes)) < (await alphaShare(first.bytes)))
  })
  await t.test("'collections.tile.tilejson', and both by URL", async () => {
    const { key } = await w.key(token, ['read'])
    const document = (await w.request('GET', `/api/v1/collections/${collectionId}/tilejson.json?key=${key}`)).body
    assert.deepEqual([document.name, document.bounds, document.minzoom, document.maxzoom], ['Coast', [151, -33.2, 151.6, -33], 8, 11])
    const { z: zoom, x: column, y: row } = tileAt(151.45, -33.1, 11)
    const tile = await w.request(
      'GET',
      document.tiles[0].slice(w.baseUrl.length).replace('{z}', zoom).replace('{x}', column).replace('{y}', row),
    )
    assert.deepEqual([tile.status, tile.headers.get('content-type')], [200, 'image/webp'])
    const { id: empty } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Empty' })
    assert.equal((await w.ok(token, 'collections.tile.tilejson', { collection_id: empty })).minzoom, 0)
    const stranger = await w.organization()
    assert.equal((await render(tileAt(151.08, -33.1, 12), stranger.owner.token)).status, 404)
  })
  await t.test('a tile shows a limited number of items, and minzoom accounts for it', async () => {
    const { id: many } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Many' })
    const features = Array.from({ length: 40 }, (_, i) => {
      const [left, right] = [151 + i * 0.02, 151.02 + i * 0.02]
      return {
        type: 'Feature',
        stac_version: '1.0.0',
        id: `many-${i}`,
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [left, -33.02],
              [right, -33.02],
              [right, -33],
              [left, -33],
              [left, -33.02],
            ],
          ],
        },
        properties: { datetime: '2029-01-01T00:00:00Z' },
        assets: { data: { href: 'https://data.example/x.tif' } },
        links: [],
      }
    })
    await w.ok(token, 'items.import_stac', {
      project_id: org.projectId,
      collection_id: many,
      features: { type: 'FeatureCollection', features },
    })
    const at = { bucket: `svc-${org.projectId}`, key: 'small.tif' }
    await w.storage.put(at, await scene({ width: 20, height: 20 }), { contentType: 'image/tiff' })
    await w.db
      .updateTable('asset')
      .set({ href: null, bucket: at.bucket, object_key: at.key, file_size_bytes: 0 })
      .where('href', '=', 'https://data.example/x.tif')
      .execute()
    const { minzoom } = await w.ok(token, 'collections.tile.tilejson', { collection_id: many })
    assert.ok(minzoom > 8, `${minzoom}`)
    assert.equal((await w.call(token, 'collections.tile.render', { collection_id: many, z: 5, x: 29, y: 19 })).status, 200)
  })
})
