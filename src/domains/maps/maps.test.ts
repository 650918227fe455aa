import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_PER_ORGANIZATION } from '#model/imagery/map.ts'
import { newId } from '#core/ids.ts'
import { world } from '../../../test/support/world.ts'

const POINT = { type: 'Point', coordinates: [151.1, -33.1] }
const AREA = { type: 'Polygon', coordinates: [[[151, -33], [151.2, -33], [151.2, -33.2], [151, -33]]] } // prettier-ignore
const CAMERA = { longitude: 151.1, latitude: -33.1, zoom: 11.5, bearing: 0, pitch: 0 }

// Goal: a map is kept as it was saved, for whoever can read its project; it shows imagery of that project only, a change that was late
// is refused, and what is invalid is refused by its place and changes nothing.
test('maps', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const newItem = async (project_id = org.projectId, name = 'Harbour') =>
    (await w.ok(token, 'items.create', { project_id, type: 'user_raster', name })).id as string
  const item = await newItem()
  const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Reefs' })
  const create = (input: object, who = editor.token) => w.call(who, 'maps.create', { project_id: org.projectId, name: 'Bay', ...input })
  const group = { id: newId(), name: 'Imagery', visible: true }
  const whole = {
    description: ' What the bay looks like ',
    groups: [group],
    layers: [
      { item_id: item, name: 'Green', group_id: group.id, opacity: 0.5, blend: 'multiply', style: { profile: 'ndvi' } },
      { collection_id: collection, group_id: group.id, visible: false, style: { expression: '(b2-b1)/(b2+b1)', colormap: 'viridis' } },
      { features: [{ name: 'Fence', geometry: AREA }, { geometry: POINT }], color: '#1a7f64', name: 'Fences' },
    ],
    camera: CAMERA,
    annotations: [{ geometry: POINT, text: '<b>Jetty</b>', color: '#c2410c' }],
  }

  await t.test('comes back as it was saved, with names of what it shows', async () => {
    const { status, body } = await create(whole)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(await w.ok(viewer.token, 'maps.get', { map_id: body.id }), body)
    assert.deepEqual([body.name, body.description, body.version, body.created_by], ['Bay', 'What the bay looks like', 1, editor.id])
    assert.deepEqual(
      body.layers.map((layer: Record<string, unknown>) => [layer['name'], layer['source_name'], layer['visible'], layer['opacity']]),
      [
        ['Green', 'Harbour', true, 0.5],
        [null, 'Reefs', false, 1],
        ['Fences', null, true, 1],
      ],
    )
    const style = { profile: null, asset_key: null, bands: null, expression: null, colormap: null, rescale: null }
    assert.deepEqual(
      body.layers.map((layer: { style: unknown }) => layer.style),
      [{ ...style, profile: 'ndvi' }, { ...style, expression: '(b2-b1)/(b2+b1)', colormap: 'viridis' }, null],
    )
    assert.deepEqual(body.layers[2].features, [
      { name: 'Fence', geometry: AREA },
      { name: null, geometry: POINT },
    ])
    assert.deepEqual([body.groups, body.camera, body.annotations[0].text], [[group], CAMERA, '<b>Jetty</b>'])
  })

  await t.test('is listed, the one that changed last first, page by page', async () => {
    w.clock.advance({ minutes: 1 })
    const { body: second } = await create({ name: 'Empty' })
    const { maps, count, total } = await w.ok(viewer.token, 'maps.list', { project_id: org.projectId, limit: 1 })
    assert.deepEqual([maps[0].id, maps[0].layer_count, count, total], [second.id, 0, 1, 2])
    const rest = await w.ok(viewer.token, 'maps.list', { limit: 10, offset: 1 })
    assert.deepEqual(
      rest.maps.map((map: Record<string, unknown>) => [map['name'], map['layer_count'], map['annotation_count']]),
      [['Bay', 3, 1]],
    )
    assert.equal('layers' in rest.maps[0], false)
  })

  await t.test('a change replaces what it names; whoever was late is refused', async () => {
    const { body: map } = await create(whole)
    const change = (input: object) => w.call(editor.token, 'maps.update', { map_id: map.id, ...input })
    const { body: renamed } = await change({ name: ' Cove ', version: 1 })
    assert.deepEqual([renamed.name, renamed.version, renamed.layers.length, renamed.camera], ['Cove', 2, 3, CAMERA])
    const late = await change({ layers: [], version: 1 })
    assert.deepEqual([late.status, late.body.code, late.body.current_version], [409, 'map-changed', 2])
    const [top, middle, bottom] = map.layers.map((layer: object) => ({ ...layer, source_name: undefined }))
    const { body: reordered } = await change({ layers: [bottom, top, middle], version: 2 })
    assert.deepEqual(
      reordered.layers.map(({ id }: { id: string }) => id),
      [bottom.id, top.id, middle.id],
      'the order is kept',
    )
    const { body: cleared } = await change({ description: null, camera: null })
    assert.deepEqual([cleared.description, cleared.camera, cleared.layers.length], [null, null, 3])
    assert.equal((await change({})).status, 400)
    const both = await Promise.all([change({ name: 'A', version: 4 }), change({ name: 'B', version: 4 })])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409])
    const removed = await change({ groups: [] })
    assert.deepEqual([removed.status, removed.body.errors[0].field], [422, 'layers.1.group_id'], 'a group that has layers')
  })

  await t.test('only editors write, and nobody outside the project reads', async () => {
    const { body: map } = await create({})
    assert.equal((await create({}, viewer.token)).status, 403)
    assert.equal((await w.call(viewer.token, 'maps.update', { map_id: map.id, name: 'Mine' })).status, 403)
    assert.equal((await w.call(viewer.token, 'maps.delete', { map_id: map.id })).status, 403)
    const hidden = await w.ok(token, 'projects.create', { name: 'Hidden', visibility: 'private' })
    const { body: secret } = await create({ project_id: hidden.id }, token)
    assert.equal((await w.call(viewer.token, 'maps.get', { map_id: secret.id })).status, 403)
    const { maps } = await w.ok(viewer.token, 'maps.list')
    assert.equal(
      maps.some(({ id }: { id: string }) => id === secret.id),
      false,
    )
    const stranger = await w.organization()
    for (const [operation, input] of [
      ['maps.get', {}],
      ['maps.update', { name: 'Mine' }],
      ['maps.delete', {}],
    ] as const)
      // prettier-ignore
      assert.equal((await w.call(stranger.owner.token, operation, { map_id: map.id, ...input })).status, 404, operation)
    assert.equal((await w.ok(token, 'maps.get', { map_id: map.id })).name, 'Bay')
  })

  await t.test('shows imagery of its own project only, and says what is gone', async () => {
    const elsewhere = await w.ok(token, 'projects.create', { name: 'Elsewhere' })
    const foreign = await newItem(elsewhere.id)
    const stranger = await w.organization()
    const { id: theirs } = await w.ok(stranger.owner.token, 'items.create', {
      project_id: stranger.projectId,
      type: 'user_raster',
      name: 'Theirs',
    })
    const { id: theirCollection } = await w.ok(stranger.owner.token, 'collections.create', { project_id: stranger.projectId, name: 'X' })
    for (const layer of [{ item_id: foreign }, { item_id: theirs }, { item_id: newId() }, { collection_id: theirCollection }]) {
      const { status, body } = await create({ layers: [layer] }, token)
      assert.deepEqual([status, body.errors[0].message], [422, `is not ${'item_id' in layer ? 'an item' : 'a collection'} of this project`])
    }
    const doomed = await newItem()
    const { body: map } = await create({ layers: [{ item_id: doomed }, { item_id: item }] })
    await w.ok(token, 'items.delete', { item_id: doomed })
    const read = await w.ok(token, 'maps.get', { map_id: map.id })
    assert.deepEqual(
      read.layers.map((layer: { source_name: string | null }) => layer.source_name),
      [null, 'Harbour'],
    )
    const kept = await w.call(token, 'maps.update', { map_id: map.id, layers: [{ item_id: item }, { item_id: doomed }] })
    assert.equal(kept.status, 200, 'a layer that was there before can stay')
    assert.equal((await create({ layers: [{ item_id: doomed }] })).status, 422)
  })

  await t.test('what is invalid is refused by its place', async () => {
    const id = newId()
    const line = { type: 'LineString', coordinates: [[0, 0], [1, 1]] } // prettier-ignore
    const many = { type: 'LineString', coordinates: Array.from({ length: 50_001 }, () => [0, 0]) }
    const cases: [object, RegExp][] = [
      [{ layers: [{}] }, /layers.0.*exactly one/],
      [{ layers: [{ item_id: item, collection_id: collection }] }, /exactly one/],
      [{ layers: [{ item_id: item, opacity: 1.1 }] }, /opacity/],
      [{ layers: [{ item_id: item, blend: 'hue' }] }, /blend/],
      [{ layers: [{ item_id: item, style: { profile: 'ndvi', bands: '1' } }] }, /profile.*cannot be combined/],
      [{ layers: [{ collection_id: collection, style: { profile: newId() } }] }, /derived profile/],
      [{ layers: [{ features: [], style: { profile: 'rgb' } }] }, /applies to imagery/],
      [
        {
          layers: [
            { id, item_id: item },
            { id, item_id: item },
          ],
        },
        /layers.1.id.*twice/,
      ],
      [{ layers: [{ item_id: item, group_id: id }] }, /not a group/],
      [{ layers: [{ item_id: item, url: 'https://x.example' }] }, /url/],
      [{ layers: [{ features: [{ geometry: { type: 'Point', coordinates: [200, 0] } }] }] }, /features.0.geometry.*WGS 84/],
      [{ layers: [{ features: [{ geometry: { type: 'GeometryCollection' } }] }] }, /features.0.geometry/],
      [{ layers: [{ features: [{ geometry: { type: 'Polygon', coordinates: [[0, 0]] } }] }] }, /coordinates/],
      [{ layers: [{ features: [{ geometry: many }] }] }, /50001 positions/],
      [{ layers: [{ features: [{ geometry: line }], color: 'red' }] }, /color/],
      [{ layers: Array.from({ length: 51 }, () => ({ item_id: item })) }, /layers/],
      [{ annotations: [{ geometry: { type: 'MultiPoint', coordinates: [[0, 0]] }, text: '' }] }, /annotations.0.geometry/],
      [{ annotations: [{ geometry: POINT, text: 'x'.repeat(2_001) }] }, /text/],
      [{ camera: { ...CAMERA, zoom: 30 } }, /zoom/],
      [{ name: ' ' }, /name/],
    ]
    const { total } = await w.ok(token, 'maps.list')
    for (const [input, expected] of cases) {
      const { status, body } = await create(input)
      assert.equal(status, 422, JSON.stringify(body))
      assert.match(JSON.stringify(body), expected)
    }
    assert.equal((await w.ok(token, 'maps.list')).total, total)
  })

  await t.test('is deleted, and ends with its project', async () => {
    const { body: map } = await create({})
    assert.deepEqual(await w.ok(editor.token, 'maps.delete', { map_id: map.id }), { ok: true, id: map.id })
    assert.equal((await w.call(token, 'maps.get', { map_id: map.id })).status, 404)
    assert.equal((await w.call(token, 'maps.delete', { map_id: map.id })).status, 404)
    const project = await w.ok(token, 'projects.create', { name: 'Short' })
    const { body: last } = await create({ project_id: project.id }, token)
    await w.ok(token, 'projects.delete', { project_id: project.id })
    assert.equal((await w.call(token, 'maps.get', { map_id: last.id })).status, 404)
    assert.equal((await w.db.selectFrom('map').select('id').where('id', '=', last.id).execute()).length, 0)
  })

  await t.test('their number is limited', async () => {
    const { total } = await w.ok(token, 'maps.list')
    const row = await w.db.selectFrom('map').selectAll().where('org_id', '=', org.id).limit(1).executeTakeFirstOrThrow()
    const missing = MAX_PER_ORGANIZATION - total
    await w.db
      .insertInto('map')
      .values(Array.from({ length: missing }, () => ({ ...row, content: JSON.stringify(row.content), id: newId() })))
      .execute()
    const { status, body } = await create({})
    assert.deepEqual([status, body.used, body.limit], [400, MAX_PER_ORGANIZATION, MAX_PER_ORGANIZATION])
  })
})
