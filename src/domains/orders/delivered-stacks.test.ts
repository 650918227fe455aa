import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { orderViolations } from '../../../test/orders/invariants.ts'
import { startLiar } from '../../../test/orders/liar.ts'
import { balance, eventsOf, grant, square, work } from '../../../test/orders/support.ts'
import { scene, tileAt, type Scene } from '../../../test/support/scene.ts'
import { world, type World } from '../../../test/support/world.ts'

/** Covers the ordered area, 0.01° × 0.01°; bands of 11 and of 22 m. */
const FINE = { west: 2.2995, north: 48.2105, degrees: 0.00011, width: 100, height: 100 }
const COARSE = { ...FINE, degrees: 0.00022, width: 50, height: 50 }
const BANDS: Record<string, Scene> = {
  red: { ...FINE, bandNames: ['red'], value: (_band, x, y) => 900 + x + y },
  nir: { ...FINE, bandNames: ['nir'], value: (_band, x, y) => 3_000 + 2 * x - y },
  swir16: { ...COARSE, bandNames: ['swir16'], value: (_band, x, y) => 2_000 + x * y },
}
const POINT = { longitude: 2.305, latitude: 48.205 }

interface Delivered {
  asset_key: string
  bytes: Uint8Array
  role?: string
  media_type?: string
  bands?: string[]
  scene_id?: string
}

/** Files of one item, as the vendor describes them. */
const described = (sceneId: string, files: readonly Delivered[]) =>
  files.map(({ asset_key, bytes, role, media_type = 'image/tiff', bands = [], scene_id = sceneId }, index) => ({
    id: `file-${index}-${asset_key}`,
    file_name: `${sceneId}_${asset_key}${media_type === 'image/tiff' ? '.tif' : ''}`,
    scene_id,
    item_key: sceneId,
    asset_key,
    ...(role ? { role } : {}),
    media_type,
    bytes: bytes.length,
    geometry: square(),
    datetime: '2029-12-30T10:00:00Z',
    cloud_cover: 3,
    bands: bands.map((name) => ({ name, role: null })),
    properties: { platform: 'test-1' },
  }))

const storedFiles = (w: World) =>
  readdirSync(path.join(w.dataDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted()

// Goal: a vendor that delivers one file per band gives one item that is one layer, with its money, lineage and events in one change;
// files that do not belong together fail the order, and nothing is charged or kept.
test('deliveries with several files per scene', async (t) => {
  const vendor = await startLiar(t)
  const w = await world(t, { sources: vendor.sources, hostDeadlineFactor: 1 })
  const org = await w.organization()
  const { token } = org.owner
  await grant(w, org, 1_000_000)
  const bandFiles = await Promise.all(
    Object.entries(BANDS).map(async ([name, about]): Promise<Delivered> => ({ asset_key: name, bytes: await scene(about), bands: [name] })),
  )
  const delivering = (files: readonly Delivered[]) => {
    const list = described('a', files)
    vendor.script = {
      look: (view) => ({ ...view, status: 'delivered', captures: [{ scene_id: 'a', status: 'delivered', reason: null }], files: list }),
      file: (id) => ({ bytes: files[list.findIndex((file) => file.id === id)]!.bytes }),
    }
  }
  const ordered = async () => {
    const captures = [{ id: 'a', geometry: square(), host: 'sandbox-hr' }]
    const { id } = await w.ok(token, 'orders.archive.place', { projectId: org.projectId, captures })
    await work(w, [id])
    return await w.ok(token, 'orders.get', { id })
  }

  await t.test('one item with an asset per file, rendered and measured as one layer', async () => {
    const before = await balance(w, org)
    delivering([
      ...bandFiles,
      {
        asset_key: 'quality',
        role: 'mask',
        bytes: await scene({ ...FINE, dataType: 'uint8', bandNames: ['quality'], value: (_b, x) => x % 3 }),
      },
      { asset_key: 'preview', role: 'overview', media_type: 'image/png', bytes: Buffer.from('\x89PNG preview') },
      { asset_key: 'about', role: 'metadata', media_type: 'application/json', bytes: Buffer.from('{"sun":41}') },
    ])
    const order = await ordered()
    assert.deepEqual([order.status, order.itemIds.length, order.failureReason], ['fulfilled', 1, null], JSON.stringify(order))
    assert.equal(before[0] - (await balance(w, org))[0], order.capturedCredits)
    const [item_id] = order.itemIds
    const { item } = await w.ok(token, 'items.get', { item_id })
    assert.deepEqual([item.stac_id, item.type, item.cloud_cover, item.properties.platform], ['a', 'satellite_capture', 3, 'test-1'])
    const assets = await w.ok(token, 'items.list_assets', { item_id })
    assert.deepEqual(
      assets.map(({ key, roles, band_names, media_type }: Record<string, unknown>) => [
        key,
        roles,
        band_names,
        String(media_type).split(';')[0],
      ]),
      [
        ['red', ['data'], ['red'], 'image/tiff'],
        ['nir', ['data'], ['nir'], 'image/tiff'],
        ['swir16', ['data'], ['swir16'], 'image/tiff'],
        ['quality', ['mask'], ['quality'], 'image/tiff'],
        ['preview', ['overview'], null, 'image/png'],
        ['about', ['metadata'], null, 'application/json'],
      ],
    )
    const point = await w.ok(token, 'items.point', { item_id, ...POINT, expression: '(nir-red)/(nir+red)' })
    assert.deepEqual(
      point.bands.map(({ name }: { name: string }) => name),
      ['red', 'nir', 'swir16'],
    )
    const [column, row] = [
      Math.floor((POINT.longitude - FINE.west) / FINE.degrees),
      Math.floor((FINE.north - POINT.latitude) / FINE.degrees),
    ]
    const [red, nir] = [900 + column + row, 3_000 + 2 * column - row]
    assert.equal(point.results[0].value, (nir - red) / (nir + red))
    const tile = await w.call(token, 'items.tile.render', {
      item_id,
      ...tileAt(POINT.longitude, POINT.latitude, 15),
      format: 'png',
      profile: 'ndvi',
    })
    assert.equal(tile.status, 200, tile.bytes.toString())
    assert.deepEqual((await eventsOf(w, order.id)).at(-1), 'order.fulfilled')
    assert.deepEqual(await eventsOf(w, item_id), ['item.created'])
    const { edges } = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: item_id, direction: 'up' })
    assert.ok(
      edges.some(({ relation, dst_id }: { relation: string; dst_id: string }) => relation === 'delivered_for' && dst_id === order.id),
      JSON.stringify(edges),
    )
  })

  const lies: Record<string, [files: () => Promise<Delivered[]>, reason: RegExp]> = {
    'bands of different places': [
      async () => [bandFiles[0]!, { ...bandFiles[1]!, bytes: await scene({ ...BANDS['nir'], west: 12.3 }) }],
      /delivered a in files that do not fit together: The assets '(red|nir)' and '(red|nir)' do not overlap/,
    ],
    'a band that cannot be read': [
      async () => [bandFiles[0]!, { ...bandFiles[1]!, bytes: Buffer.from('not an image') }],
      /delivered a file that cannot be read/,
    ],
    'two files as one asset': [async () => [bandFiles[0]!, { ...bandFiles[1]!, asset_key: 'red' }], /two files as the asset 'red' of a/],
    'metadata without an image': [
      async () => [{ asset_key: 'about', role: 'metadata', media_type: 'application/json', bytes: Buffer.from('{}') }],
      /delivered no image of a/,
    ],
    'files of another scene in the item': [
      async () => [bandFiles[0]!, { ...bandFiles[1]!, scene_id: 'b' }],
      /files of several scenes as one item: a, b/,
    ],
  }
  for (const [lie, [files, reason]] of Object.entries(lies))
    await t.test(`${lie}: the order fails, and nothing is charged or kept`, async () => {
      const [before, stored] = [await balance(w, org), storedFiles(w)]
      delivering(await files())
      const order = await ordered()
      assert.deepEqual([order.status, order.capturedCredits, order.itemIds], ['failed', 0, []], JSON.stringify(order))
      assert.match(order.failureReason, reason)
      assert.deepEqual([await balance(w, org), storedFiles(w)], [before, stored])
    })
  assert.deepEqual(await orderViolations(w.db), [])
})
