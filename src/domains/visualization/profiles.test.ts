import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: editors save profiles of an item, one of them its default; a profile that cannot render the item is never saved.
test('saved profiles', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const token = org.owner.token
  const id = await rasterItem(w, org, [
    { bytes: await scene() },
    { key: 'height', bytes: await scene({ bandNames: ['elevation'], dataType: 'float32' }) },
  ])
  const create = (input: object, who = token) =>
    w.call(who, 'visualization.profile.create', { item_id: id, name: 'Profile', type: 'rgb', config: { bands: [4, 3, 2] }, ...input })
  const createProfile = async (input: object = {}) => {
    const { status, body } = await create(input)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const list = async () =>
    (await w.ok(token, 'visualization.profiles.list', { item_id: id })) as { id: string; name: string; is_default: boolean }[]
  const tile = async (input: object = {}) =>
    (await w.call(token, 'items.tile.render', { item_id: id, ...tileAt(151.15, -33.1, 12), format: 'png', ...input })).bytes

  await t.test("'visualization.profile.create' and 'visualization.profile.get' return the whole record", async () => {
    const profile = await createProfile({
      name: 'Plants',
      type: 'expression',
      config: { expression: '(nir-red)/(nir+red)', colormap: 'rdylgn', rescale: '-1,1', bands: null },
      sort_order: 3,
    })
    assert.deepEqual(profile, {
      id: profile.id,
      item_id: id,
      name: 'Plants',
      layer: 'user',
      type: 'expression',
      kind: 'index',
      bands: null,
      expression: '(nir-red)/(nir+red)',
      colormap: 'rdylgn',
      rescale: '-1,1',
      is_default: false,
      sort_order: 3,
      config: { expression: '(nir-red)/(nir+red)', colormap: 'rdylgn', rescale: '-1,1' },
      asset_key: null,
      version: 1,
      created_by: org.owner.id,
      created_at: w.clock.now().toISOString(),
      updated_at: w.clock.now().toISOString(),
    })
    assert.deepEqual(await w.ok(token, 'visualization.profile.get', { item_id: id, profile_id: profile.id }), profile)
    assert.deepEqual(
      await tile({ profile: profile.id }),
      await tile({ expression: '(b4-b3)/(b4+b3)', colormap: 'rdylgn', rescale: '-1,1' }),
    )
  })

  await t.test(
    "the default is what an item is shown by; 'visualization.profile.set_default' moves it, 'visualization.profile.delete' leaves none",
    async () => {
      const natural = await tile()
      const first = await createProfile({ name: 'First', is_default: true })
      assert.deepEqual(await tile(), await tile({ bands: '4,3,2' }))
      const second = await createProfile({
        name: 'Height',
        type: 'singleband',
        config: { bands: [1], colormap: 'terrain' },
        asset_key: 'height',
        is_default: true,
      })
      assert.deepEqual(
        (await list()).filter((each) => each.is_default).map((each) => each.id),
        [second.id],
      )
      assert.deepEqual(
        await tile(),
        await tile({ asset_key: 'height', bands: '1', colormap: 'terrain' }),
        'a profile brings its asset along',
      )
      assert.equal((await w.ok(token, 'visualization.profile.set_default', { item_id: id, profile_id: first.id })).is_default, true)
      assert.deepEqual(
        (await list()).filter((each) => each.is_default).map((each) => each.id),
        [first.id],
      )
      const both = await Promise.all(
        [first, second]
          .flatMap(({ id: profile_id }) => [profile_id, profile_id])
          .map((profile_id) => w.call(token, 'visualization.profile.set_default', { item_id: id, profile_id })),
      )
      assert.deepEqual(
        both.map(({ status }) => status),
        [200, 200, 200, 200],
      )
      assert.equal((await list()).filter((each) => each.is_default).length, 1, 'one, even with concurrent calls')
      for (const profile_id of [first.id, second.id])
        assert.deepEqual(await w.ok(token, 'visualization.profile.delete', { item_id: id, profile_id }), { ok: true, id: profile_id })
      assert.deepEqual(await tile(), natural)
      assert.equal((await w.call(token, 'visualization.profile.delete', { item_id: id, profile_id: first.id })).status, 404)
    },
  )

  await t.test("'visualization.profile.update' keeps absent fields and increments the version, which TileJSON contains", async () => {
    const { id: profile_id } = await createProfile({ name: 'Mine', is_default: true })
    const update = (input: object) => w.call(token, 'visualization.profile.update', { item_id: id, profile_id, ...input })
    const renamed = (await update({ name: 'Ours', sort_order: null, config: null })).body
    assert.deepEqual([renamed.name, renamed.version, renamed.is_default, renamed.config], ['Ours', 2, true, { bands: [4, 3, 2] }])
    const { tiles } = await w.ok(token, 'items.tile.tilejson', { item_id: id })
    assert.match(tiles[0], new RegExp(`\\?profile=${profile_id}&v=2$`))
    assert.equal((await update({ type: 'singleband' })).status, 422, 'the config must fit the new type')
    const single = (await update({ type: 'singleband', config: { bands: [2], colormap: 'viridis' }, is_default: false })).body
    assert.deepEqual([single.type, single.is_default, single.version], ['singleband', false, 3])
    assert.equal((await update({ asset_key: 'height' })).status, 422, 'the other asset has one band')
    assert.equal((await update({ asset_key: 'height', config: { bands: [1] } })).body.asset_key, 'height')
    assert.equal((await update({ asset_key: null })).body.asset_key, null)
  })

  await t.test('profiles that cannot be rendered are rejected with the reason, and nothing is saved', async () => {
    const before = await list()
    const cases: [object, RegExp][] = [
      [{ config: { bands: [1, 2] } }, /3 bands/],
      [{ config: { bands: [1, 2, 9] } }, /band 9/],
      [{ type: 'singleband' }, /1 band /],
      [{ type: 'expression', config: {} }, /expression.*required/],
      [{ type: 'expression', config: { expression: 'b1 +' } }, /config/],
      [{ type: 'expression', config: { expression: 'b1', bands: [1] } }, /not allowed/],
      [{ config: { bands: [1, 2, 3], colormap: 'viridis' } }, /three bands/],
      [{ type: 'singleband', config: { bands: [1], colormap: 'nothing' } }, /cog.colormaps/],
      [{ config: { bands: [1, 2, 3], rescale: '5,1' } }, /min less than max/],
      [{ config: { bands: [1, 2, 3], gamma: 2 } }, /gamma/],
      [{ type: 'singleband', config: { bands: [1], color_table: true, rescale: '0,1' } }, /not stretched/],
      [{ type: 'singleband', config: { bands: [1], color_table: true }, asset_key: 'height' }, /colour table/],
      [{ name: '' }, /name/],
    ]
    for (const [input, detail] of cases) {
      const { status, body } = await create(input)
      assert.equal(status, 422, JSON.stringify(input))
      assert.match(body.detail, detail)
    }
    assert.equal((await create({ asset_key: 'nothing' })).status, 404)
    assert.deepEqual(await list(), before)
  })

  await t.test('only editors; profiles of other items are not found; an unreachable file is not an error', async () => {
    const viewer = await w.member(org, 'viewer')
    assert.equal((await create({}, viewer.token)).status, 403)
    const { id: profile_id } = await createProfile({ name: 'Own' })
    const other = await rasterItem(w, org, [{ bytes: await scene() }])
    for (const input of [
      { item_id: other, profile_id },
      { item_id: id, profile_id: newId() },
      { item_id: id, profile_id: 'ndvi' },
    ])
      assert.equal((await w.call(token, 'visualization.profile.get', input)).status, 404)
    assert.equal((await w.call(token, 'items.tile.render', { item_id: other, z: 0, x: 0, y: 0, profile: profile_id })).status, 404)
    const { id: remote } = await w.ok(token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Remote',
      assets: [{ key: 'data', href: 'https://data.example/a.tif' }],
    })
    assert.equal((await create({ item_id: remote })).status, 200)
  })

  await t.test('a duplicated item has copies of the profiles', async () => {
    const { id: profile_id } = await createProfile({ name: 'Kept', is_default: true })
    const copy = await w.ok(token, 'items.duplicate', { item_id: id })
    const copied = (await w.ok(token, 'visualization.profiles.list', { item_id: copy.id })) as {
      id: string
      name: string
      is_default: boolean
    }[]
    assert.deepEqual(
      copied.map(({ name, is_default }) => [name, is_default]),
      (await list()).map(({ name, is_default }) => [name, is_default]),
    )
    await w.ok(token, 'visualization.profile.delete', { item_id: id, profile_id })
    assert.equal((await w.ok(token, 'visualization.profiles.list', { item_id: copy.id })).length, copied.length)
  })

  await t.test('an item has at most a hundred profiles', async () => {
    await w.db
      .insertInto('visualization_profile')
      .values(
        Array.from({ length: 100 }, () => ({
          id: newId(),
          org_id: org.id,
          item_seq: 1,
          name: 'x',
          layer: 'user' as const,
          type: 'rgb' as const,
          config: '{"bands":[1,2,3]}',
          asset_key: null,
          created_by: null,
          created_at: w.clock.now(),
          updated_at: w.clock.now(),
        })),
      )
      .execute()
    const {
      rows: [row],
    } = { rows: await w.db.selectFrom('item').select('id').where('seq', '=', 1).execute() }
    assert.match((await create({ item_id: row!.id })).body.detail, /at most 100/)
  })
})
