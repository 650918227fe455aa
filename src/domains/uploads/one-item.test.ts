import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bandFile, reflectance } from '../../../test/support/stack.ts'
import { tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import { commonNamesOf, keysOf } from './one-item.lib.ts'

const CENTRE = { longitude: 150.85589, latitude: -33.79326 }

// Goal: several files of one scene, uploaded in one session, are one item with one layer; what is not one scene is rejected.
test('files of one scene become one item', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const size = { width: 300, height: 260, pixelM: 10 }
  const files = {
    'T56_red.tif': await bandFile({ ...size, value: reflectance(900) }),
    'T56_nir.tif': await bandFile({ ...size, value: reflectance(3_000, 1) }),
    'T56_swir.tif': await bandFile({ width: 150, height: 130, pixelM: 20, value: reflectance(2_000, 2) }),
  }

  await t.test('one item with an asset per file, rendered and measured as one layer', async () => {
    const { status, body } = await w.upload(token, org.projectId, files, {}, { as_one_item: true })
    assert.equal(status, 200, JSON.stringify(body))
    const [item_id] = body.item_ids
    assert.equal(body.item_ids.length, 1)
    const listed = await w.ok(token, 'items.list_assets', { item_id })
    assert.deepEqual(
      listed.map(({ key }: { key: string }) => key),
      ['red', 'nir', 'swir'],
    )
    const { results } = await w.ok(token, 'items.point', { item_id, ...CENTRE, expression: '(nir-red)/(nir+swir)' })
    assert.ok(results[0].value > 0)
    const tile = await w.call(token, 'items.tile.render', {
      item_id,
      ...tileAt(CENTRE.longitude, CENTRE.latitude, 14),
      format: 'png',
      profile: 'ndvi',
    })
    assert.equal(tile.status, 200, tile.bytes.toString().slice(0, 300))
  })

  await t.test('files of Sentinel-2 have the names of their bands; the item covers all of them', async () => {
    const product = 'T56HLH_20290101T000000'
    const wide = await bandFile({ width: 300, height: 130, pixelM: 20, value: reflectance(2_000, 2) })
    const given = { [`${product}_B04_10m.tif`]: files['T56_red.tif'], [`${product}_B8A_20m.tif`]: wide }
    const { status, body } = await w.upload(token, org.projectId, given, {}, { as_one_item: true })
    assert.equal(status, 200, JSON.stringify(body))
    const [item_id] = body.item_ids
    const { bands } = await w.ok(token, 'items.point', { item_id, ...CENTRE })
    assert.deepEqual(
      bands.map(({ name }: { name: string }) => name),
      ['red', 'nir08'],
    )
    for (const expression of ['B04_10m-red', 'nir-nir08'])
      assert.equal((await w.ok(token, 'items.point', { item_id, ...CENTRE, expression })).results[0].value, 0, expression)
    const { bbox } = await w.ok(token, 'items.get_stac', { item_id })
    const { bounds } = await w.ok(token, 'items.tile.tilejson', { item_id, asset_key: 'B8A_20m' })
    for (const [index, side] of bbox.entries()) assert.ok(Math.abs(side - bounds[index]) < 0.001, `${bbox} is not ${bounds}`)
  })

  await t.test('a file with several bands, a single file and files that do not overlap are rejected', async () => {
    const several = await bandFile({ ...size, bandCount: 3, value: reflectance(900) })
    const far = await bandFile({ ...size, left: 500_000, value: reflectance(900) })
    for (const [given, message] of [
      [{ 'a_red.tif': files['T56_red.tif'], 'a_all.tif': several }, /a_all\.tif has 3 bands/],
      [{ 'a_red.tif': files['T56_red.tif'] }, /needs 2 to 32 files; this session has 1/],
      [{ 'a_red.tif': files['T56_red.tif'], 'a_far.tif': far }, /do not overlap/],
    ] as const) {
      const before = (await w.ok(token, 'projects.get', { project_id: org.projectId })).item_count
      const { status, body } = await w.upload(token, org.projectId, given, {}, { as_one_item: true })
      assert.equal(status, 422, JSON.stringify(body))
      assert.match(JSON.stringify(body), message)
      assert.equal((await w.ok(token, 'projects.get', { project_id: org.projectId })).item_count, before)
    }
  })
})

test('asset keys follow from file names', () => {
  assert.deepEqual(keysOf(['LC09_SR_B4.TIF', 'LC09_SR_B5.TIF']), ['B4', 'B5'])
  assert.deepEqual(keysOf(['red.tif', 'nir.tif', 'a/red.tif']), ['red', 'nir', 'red_2'])
  assert.deepEqual(keysOf(['data.tif', 'x y.tif']), ['data_2', 'x_y'])
})

test('band names follow from the names of Sentinel-2 and Landsat files, unless they leave a doubt', () => {
  assert.deepEqual(commonNamesOf(['S2B_56HLH_20290101_0_L2A/B04.tif', 'S2B_56HLH_20290101_0_L2A/B8A.tif']), ['red', 'nir08'])
  assert.deepEqual(commonNamesOf(['T32TQM_20250101T101021_B02_10m.tif', 'T32TQM_20250101T101021_B11_20m.tif']), ['blue', 'swir16'])
  assert.deepEqual(commonNamesOf(['LC09_L2SP_090084_20290101_02_T1_SR_B4.TIF', 'LC09_L2SP_090084_20290101_02_T1_SR_B5.TIF']), [
    'red',
    'nir08',
  ])
  assert.deepEqual(commonNamesOf(['LT05_L2SP_090084_19900101_02_T1_SR_B4.TIF', 'LT05_L2SP_090084_19900101_02_T1_SR_B3.TIF']), [
    'nir08',
    'red',
  ])
  assert.deepEqual(commonNamesOf(['HLS.L30.T56HLH.2029001T000000.v2.0.B05.tif', 'HLS.S30.T56HLH.2029001T000000.v2.0.B05.tif']), [
    'nir08',
    'rededge1',
  ])
  assert.deepEqual(commonNamesOf(['B04.tif', 'B05.tif', 'B08.tif']), ['red', 'rededge1', 'nir'], 'only Sentinel-2 has B08')
  assert.deepEqual(commonNamesOf(['B04.tif', 'B05.tif']), ['red', null], 'B05 is red edge or near infrared')
  assert.deepEqual(commonNamesOf(['B4.tif', 'B5.tif', 'red.tif']), [null, null, null])
  assert.deepEqual(commonNamesOf(['S2A_x_B04_10m.tif', 'S2A_x_B04_20m.tif']), [null, null], 'two files of one band')
})
