import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proposeBands } from '#raster/formulas/propose.ts'
import type { Band, DataType } from '#raster/types.ts'
import { scene } from '../../../test/support/scene.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world } from '../../../test/support/world.ts'

// Goal: the bands of a raster are detected, with the source of the information, and can be overridden by users.
test('bands of assets', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const viewer = await w.member(org)
  const item = async () => (await w.ok(owner.token, 'items.create', { project_id, type: 'user_raster', name: 'n' })).id as string
  const detect = (item_id: string, asset_id?: string) =>
    w.call(viewer.token, 'items.detect_asset_bands', { item_id, ...(asset_id ? { asset_id } : {}) })
  const withAssets = async (id: string, assets: object) => {
    await w.ok(owner.token, 'items.import_stac', {
      project_id,
      ndjson: JSON.stringify({ type: 'Feature', id, geometry: null, properties: { datetime: '2029-01-01T00:00:00Z' }, assets }),
    })
    return id
  }
  const href = 'https://data.example/a.tif'

  await t.test('from the file itself', async () => {
    const item_id = await item()
    const asset_id = await storeFile(w, item_id, { bytes: await scene({ bandNames: ['blue', 'rededge', 'NIR'] }) })
    const { status, body } = await detect(item_id, asset_id)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body, {
      bands: [
        { index: 1, name: 'blue', role: 'BLUE', data_type: 'uint16' },
        { index: 2, name: 'rededge', role: 'REDEDGE1', data_type: 'uint16' },
        { index: 3, name: 'NIR', role: 'NIR', data_type: 'uint16' },
      ],
      source: 'file',
      suggested_band_names: ['blue', 'rededge', 'NIR'],
      current_band_names: [],
      method: 'file',
    })
    assert.deepEqual((await detect(item_id)).body, body, 'the primary asset unless another is named')
  })

  await t.test('from STAC metadata, old and new, where the file cannot be read', async () => {
    const id = await withAssets('stac-bands', {
      data: {
        href,
        'eo:bands': [
          { name: 'B04', common_name: 'red' },
          { name: 'B08', common_name: 'nir' },
        ],
        'raster:bands': [{ data_type: 'uint16' }, { data_type: 'uint16' }],
      },
      newer: { href, bands: [{ name: 'one', 'eo:common_name': 'green', data_type: 'float32' }, { name: 'two' }] },
      silent: { href },
    })
    const old = (await detect(id)).body
    assert.deepEqual(
      [old.source, old.bands],
      [
        'stac',
        [
          { index: 1, name: 'B04', role: 'RED', data_type: 'uint16' },
          { index: 2, name: 'B08', role: 'NIR', data_type: 'uint16' },
        ],
      ],
    )
    assert.deepEqual((await detect(id, 'newer')).body.bands, [
      { index: 1, name: 'one', role: 'GREEN', data_type: 'float32' },
      { index: 2, name: 'two', role: null, data_type: null },
    ])
    const silent = await detect(id, 'silent')
    assert.deepEqual([silent.status, silent.body.code], [422, 'invalid-input'], 'the bands are unknown, and the detail says why')
    assert.match(silent.body.detail, /data\.example/)
  })

  await t.test('from colours, or guessed from the number of bands', () => {
    const band = (color: Band['color'] = 'undefined', name: string | null = null): Band => ({
      name,
      color,
      nodata: null,
      scale: 1,
      offset: 0,
      unit: null,
    })
    const of = (bands: Band[], dataType: DataType = 'uint16') => {
      const { source, bands: proposed } = proposeBands({ bands, dataType }, null)!
      return [source, proposed.map(({ name }) => name).join(' '), proposed.map(({ role }) => role ?? '-').join(' ')]
    }
    const plain = (count: number) => Array.from({ length: count }, () => band())
    assert.deepEqual(of([band('red'), band('green'), band('blue'), band('alpha')]), [
      'color',
      'red green blue alpha',
      'RED GREEN BLUE ALPHA',
    ])
    assert.deepEqual(of([band('red'), band('green'), band('blue'), band()]), ['color', 'red green blue band_4', 'RED GREEN BLUE -'])
    assert.deepEqual(of(plain(4)), ['band_count', 'blue green red nir', 'BLUE GREEN RED NIR'])
    assert.deepEqual(of(plain(4), 'uint8'), ['band_count', 'red green blue nir', 'RED GREEN BLUE NIR'])
    assert.deepEqual(of([...plain(4), band('alpha')])[1], 'blue green red nir alpha')
    assert.deepEqual(of([band('gray')]), ['band_count', 'band_1', '-'])
    assert.deepEqual(of(plain(9))[1], Array.from({ length: 9 }, (_, i) => `band_${i + 1}`).join(' '))
    assert.deepEqual(of([band('undefined', 'nir'), band('undefined', 'NIR')]), ['file', 'nir NIR', 'NIR -'], 'one band has a role')
    assert.deepEqual(of([band('undefined', 'nir'), band()])[0], 'band_count', 'a file that names only some bands counts as unnamed')
    for (const count of [3, 5, 6, 7, 8, 10, 12, 13]) assert.equal(new Set(of(plain(count))[1]!.split(' ')).size, count)
    assert.equal(proposeBands(null, null), null)
    assert.deepEqual(
      proposeBands({ bands: plain(1), dataType: 'uint8' }, [
        { name: 'a', commonName: null, dataType: null },
        { name: 'b', commonName: null, dataType: null },
      ])?.source,
      'band_count',
      'metadata with another number of bands is ignored',
    )
  })

  await t.test('set: one name per band, one event, by editors', async () => {
    const item_id = await item()
    const asset_id = await storeFile(w, item_id, { bytes: await scene({ bandNames: ['a', 'b'] }) })
    const set = (band_names: unknown, token = owner.token, more: object = {}) =>
      w.call(token, 'items.set_asset_band_names', { item_id, asset_id, band_names, ...more })
    w.clock.advance({ seconds: 1 })
    const done = await set(['red', 'nir'])
    assert.deepEqual(
      [done.status, done.body.id, done.body.band_names, done.body.updated_at],
      [200, asset_id, ['red', 'nir'], w.clock.now().toISOString()],
    )
    assert.deepEqual((await detect(item_id)).body.current_band_names, ['red', 'nir'])
    await set(['red', 'nir'])
    const events = await w.db
      .selectFrom('event')
      .select('data')
      .where('entity_id', '=', item_id)
      .where('type', '=', 'item.updated')
      .execute()
    assert.deepEqual(
      events.map(({ data }) => data['changed_fields']),
      [['assets']],
    )
    for (const names of [['red'], ['red', 'nir', 'x'], ['red', 'red'], ['red', ''], [], 'red']) {
      const refused = await set(names)
      assert.equal(refused.status, 422, JSON.stringify(names))
      assert.match(refused.body.detail, /band_names/)
    }
    assert.match((await set(['red'])).body.detail, /each of the 2 bands, not 1/)
    assert.equal((await set(['red', 'nir'], viewer.token)).status, 403)
    assert.equal((await set(['red', 'nir'], owner.token, { asset_id: 'nothing' })).status, 404)
    const id = await withAssets('named-elsewhere', { data: { href, 'eo:bands': [{ name: 'B1' }, { name: 'B2' }] }, silent: { href } })
    assert.deepEqual(
      (await set(['x', 'y'], owner.token, { item_id: id, asset_id: 'data' })).body.band_names,
      ['x', 'y'],
      'the metadata has the number of bands',
    )
    assert.equal((await set(['x'], owner.token, { item_id: id, asset_id: 'data' })).status, 422)
    assert.equal((await set(['x'], owner.token, { item_id: id, asset_id: 'silent' })).status, 422, 'the number of bands is unknown')
  })
})
