// Goal: the bands of an item with several files have the order, the names and the expressions of decision G229, clause by clause.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileHost } from '../../../test/support/ranges.ts'
import { tileAt } from '../../../test/support/scene.ts'
import { bandFile } from '../../../test/support/stack.ts'
import { world } from '../../../test/support/world.ts'

const CENTRE = { longitude: 150.85589, latitude: -33.79326 }
const TILE = tileAt(CENTRE.longitude, CENTRE.latitude, 14)
const SIZE = { width: 300, height: 260, pixelM: 10 }
/** Each file has one value everywhere. */
const VALUES = { blue: 500, green: 700, red: 900, nir: 3_000, swir: 2_000 } as const
type File = keyof typeof VALUES | 'wide'

interface Asset {
  file: File
  bands: object
}

interface Band {
  band: number
  name: string
  value: number
}

/** A band as STAC before 1.1 states it. */
const eo = (name: string, common_name?: string) => ({ 'eo:bands': [{ name, ...(common_name ? { common_name } : {}) }] })

const box = (west: number, south: number, east: number, north: number) => ({
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
})

test('G229: bands of several assets', async (t) => {
  const host = await fileHost(t)
  const w = await world(t, { egressAllow: [host.host] })
  const { owner, projectId } = await w.organization()
  for (const [name, value] of Object.entries(VALUES)) host.put(`${name}.tif`, await bandFile({ ...SIZE, value: () => value }))
  let count = 0
  const imported = async (assets: Record<string, Asset>, properties: object = {}): Promise<string> => {
    const id = `item-${count++}`
    const feature = {
      type: 'Feature',
      stac_version: '1.1.0',
      id,
      geometry: box(150.84, -33.81, 150.87, -33.78),
      properties: { datetime: '2029-01-01T00:00:00Z', ...properties },
      assets: Object.fromEntries(
        Object.entries(assets).map(([key, { file, bands }]) => [
          key,
          { href: host.url(`${file}.tif`), type: 'image/tiff; application=geotiff', roles: ['data'], ...bands },
        ]),
      ),
    }
    const { created, errors } = await w.ok(owner.token, 'items.import_stac', {
      project_id: projectId,
      features: { type: 'FeatureCollection', features: [feature] },
    })
    assert.equal(created, 1, JSON.stringify(errors))
    return id
  }
  /** Number, name and value of each band. */
  const bandsOf = async (item_id: string): Promise<string[]> => {
    const { bands } = await w.ok(owner.token, 'items.point', { item_id, ...CENTRE })
    return bands.map(({ band, name, value }: Band) => `${band} ${name} ${value}`)
  }
  const valueOf = async (item_id: string, expression: string): Promise<number> =>
    (await w.ok(owner.token, 'items.point', { item_id, ...CENTRE, expression })).results[0].value

  const plain = await imported({
    red: { file: 'red', bands: eo('red') },
    nir: { file: 'nir', bands: eo('nir') },
    blue: { file: 'blue', bands: eo('blue') },
  })

  await t.test("in the order of the item's assets", async () => {
    assert.deepEqual(await bandsOf(plain), ['1 red 900', '2 nir 3000', '3 blue 500'])
    const { bands } = await w.ok(owner.token, 'items.detect_asset_bands', { item_id: plain })
    assert.deepEqual(
      bands.map(({ name }: { name: string }) => name),
      ['red', 'nir', 'blue'],
    )
  })

  await t.test('which is the order in which they are listed and returned as STAC, also of a copy', async () => {
    const copy = (await w.ok(owner.token, 'items.duplicate', { item_id: plain })).id
    for (const item_id of [plain, copy]) {
      const listed = await w.ok(owner.token, 'items.list_assets', { item_id })
      assert.deepEqual(
        listed.map(({ key }: { key: string }) => key),
        ['red', 'nir', 'blue'],
      )
      assert.deepEqual(Object.keys((await w.ok(owner.token, 'items.get_stac', { item_id })).assets), ['red', 'nir', 'blue'])
      assert.deepEqual(await bandsOf(item_id), ['1 red 900', '2 nir 3000', '3 blue 500'])
    }
    const bearer = { headers: { authorization: `Bearer ${owner.token}` } }
    const { features } = (await w.request('GET', `/stac/search?ids=${plain}`, bearer)).body
    assert.deepEqual(Object.keys(features[0].assets), ['red', 'nir', 'blue'])
  })

  await t.test("in the order of the item's `bands`; others follow in the order of the assets", async () => {
    const item = await imported(
      {
        a: { file: 'green', bands: { bands: [{ name: 'B03' }] } },
        b: { file: 'blue', bands: { bands: [{ name: 'B02' }] } },
        c: { file: 'nir', bands: { bands: [{ name: 'B08' }] } },
        d: { file: 'red', bands: { bands: [{ name: 'B04' }] } },
      },
      { bands: [{ name: 'B02', 'eo:common_name': 'blue' }, { name: 'B04', 'eo:common_name': 'red' }] }, // prettier-ignore
    )
    assert.deepEqual(await bandsOf(item), ['1 blue 500', '2 red 900', '3 B03 700', '4 B08 3000'])
  })

  const named = await imported({
    'band-4': { file: 'red', bands: eo('B04', 'red') },
    nir_file: { file: 'nir', bands: eo('B08', 'nir') },
    third: { file: 'green', bands: eo('B03') },
    fourth: { file: 'swir', bands: { 'raster:bands': [{ data_type: 'uint16' }] } },
  })

  await t.test('named by common name, otherwise by band name, otherwise by asset key', async () => {
    assert.deepEqual(await bandsOf(named), ['1 red 900', '2 nir 3000', '3 B03 700', '4 fourth 2000'])
    const modern = await imported({
      one: { file: 'red', bands: { bands: [{ name: 'x', 'eo:common_name': 'red' }] } },
      two: { file: 'nir', bands: { bands: [{ name: 'y' }] } },
    })
    assert.deepEqual(await bandsOf(modern), ['1 red 900', '2 y 3000'])
  })

  await t.test('by band name if several bands have the same common name', async () => {
    const item = await imported({
      B05: { file: 'red', bands: eo('B05', 'rededge') },
      B06: { file: 'green', bands: eo('B06', 'rededge') },
      B08: { file: 'nir', bands: eo('B08', 'nir') },
    })
    assert.deepEqual(await bandsOf(item), ['1 B05 900', '2 B06 700', '3 nir 3000'])
  })

  await t.test('by the name that a user has set', async () => {
    const item = await imported({ one: { file: 'red', bands: eo('B04', 'red') }, two: { file: 'nir', bands: eo('B08', 'nir') } })
    await w.ok(owner.token, 'items.set_asset_band_names', { item_id: item, asset_id: 'one', band_names: ['rouge'] })
    assert.deepEqual(await bandsOf(item), ['1 rouge 900', '2 nir 3000'])
    assert.equal(await valueOf(item, 'red-rouge'), 0)
  })

  await t.test('expressions can use bN, names and asset keys', async () => {
    // A key that is not a name is written with underscores.
    for (const red of ['b1', 'red', 'B04', 'band_4']) assert.equal(await valueOf(named, `${red} - 900`), 0, red)
    for (const nir of ['b2', 'nir', 'B08', 'nir_file', 'nir_file:B08']) assert.equal(await valueOf(named, `${nir} - 3000`), 0, nir)
    for (const bands of ['1', 'red', 'B04', 'band-4']) {
      const tile = await w.call(owner.token, 'items.tile.render', { item_id: named, ...TILE, format: 'png', bands, rescale: '0,4000' })
      assert.equal(tile.status, 200, bands)
    }
    const unknown = await w.call(owner.token, 'items.point', { item_id: named, ...CENTRE, expression: 'swir22' })
    assert.equal(unknown.status, 422)
    assert.match(JSON.stringify(unknown.body), /the bands are b1 \([^)]*red/)
  })

  await t.test('`band_mapping` maps names to these numbers', async () => {
    const { results } = (
      await w.ok(owner.token, 'analytics.execute', {
        operation: 'zonal_stats',
        params: {
          item_id: named,
          geometry: box(150.85, -33.8, 150.86, -33.79),
          expression: 'short - long',
          band_mapping: { short: 3, long: 2 },
          statistics: ['mean'],
        },
      })
    ).result.zones[0]
    assert.equal(results[0].mean, VALUES.green - VALUES.nir)
  })

  await t.test('an operation with `asset_key` uses that asset alone', async () => {
    const point = await w.ok(owner.token, 'items.point', { item_id: named, ...CENTRE, asset_key: 'nir_file' })
    assert.deepEqual(
      point.bands.map(({ band, value }: Band) => [band, value]),
      [[1, 3_000]],
    )
    const render = (input: object) => w.call(owner.token, 'items.tile.render', { item_id: named, ...TILE, format: 'png', ...input })
    const [alone, band] = await Promise.all([
      render({ asset_key: 'nir_file', bands: '1', rescale: '0,4000' }),
      render({ bands: 'nir', rescale: '0,4000' }),
    ])
    assert.deepEqual([alone.status, band.status], [200, 200])
    assert.deepEqual(alone.bytes, band.bytes)
    assert.equal((await render({ asset_key: 'nir_file', bands: '2' })).status, 422)
  })

  await t.test('the layer covers all files that it shows', async () => {
    host.put('wide.tif', await bandFile({ ...SIZE, width: 600, value: () => 1 }))
    const extentOf = async (input: object): Promise<number[]> => (await w.ok(owner.token, 'items.tile.tilejson', input)).bounds
    const item_id = await imported({
      red: { file: 'red', bands: eo('red') },
      green: { file: 'green', bands: eo('green') },
      blue: { file: 'wide', bands: eo('blue') },
    })
    const [colour, red, blue] = await Promise.all(
      [{}, { asset_key: 'red' }, { asset_key: 'blue' }].map((more) => extentOf({ item_id, ...more })),
    )
    assert.ok(blue![2]! > red![2]! + 0.02, `${blue} and ${red}`)
    for (const [index, side] of colour!.entries()) assert.ok(Math.abs(side - blue![index]!) < 0.001, `${colour} is not ${blue}`)
    const beyond = { longitude: CENTRE.longitude + 0.025, latitude: CENTRE.latitude }
    const { bands } = await w.ok(owner.token, 'items.point', { item_id, ...beyond, expression: 'blue' })
    assert.deepEqual(
      bands.map(({ value }: Band) => value),
      [null, null, 1],
    )
  })
})
