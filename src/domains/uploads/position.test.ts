import assert from 'node:assert/strict'
import { test } from 'node:test'
import { striped } from '../../../test/support/tiff.ts'
import { tileAt } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import clear from './clear.task.ts'
import convert from './convert.task.ts'
import expire from './expire.task.ts'

const SIZE = { width: 700, height: 600 }
const BOUNDS = [151, -33.06, 151.07, -33]
const nowhere = () => striped({ ...SIZE, georeference: false })

async function session(w: World, org: Org, files: Record<string, Uint8Array>): Promise<string> {
  const { token } = org.owner
  const total = Object.values(files).reduce((sum, { length }) => sum + length, 0)
  const { id } = await w.ok(token, 'uploads.initiate', {
    project_id: org.projectId,
    file_count: Object.keys(files).length,
    total_bytes: total,
  })
  for (const [name, bytes] of Object.entries(files)) {
    const { upload_url } = await w.ok(token, 'uploads.signed_url', { upload_id: id, file_name: name, content_type: 'image/tiff' })
    assert.equal(await w.put(upload_url, bytes, 'image/tiff'), 200)
  }
  return id
}

const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(4)))

// Goal: an image without a georeference can be positioned by its uploader, without sending it again.
test('uploads: a position given with the completion', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const complete = (id: string, positions?: unknown) =>
    w.call(token, 'uploads.complete', { upload_id: id, ...(positions === undefined ? {} : { positions }) })
  const rasterOf = async (itemId: string) => {
    const [{ id }] = await w.ok(token, 'items.list_assets', { item_id: itemId })
    return (await w.db.selectFrom('asset').select('raster').where('id', '=', id).executeTakeFirstOrThrow()).raster as Record<
      string,
      unknown
    >
  }

  await t.test('without a position the file stays, and the error says what to send', async () => {
    const id = await session(w, org, { 'nowhere.tif': nowhere() })
    const first = await complete(id)
    assert.deepEqual([first.status, first.body.code], [422, 'position-required'])
    assert.match(first.body.detail, /^nowhere\.tif: No usable georeference.*`positions`.*uploads\.complete/)
    const seen = await w.ok(token, 'uploads.progress', { upload_id: id })
    assert.deepEqual([seen.status, seen.files[0].state, seen.files[0].step], ['uploading', 'refused', 'position'])
    assert.ok(seen.reserved_bytes > 0)
    assert.equal((await complete(id)).body.code, 'position-required', 'completed again without a position')
    const positioned = await complete(id, [{ bounds: BOUNDS, crs: 'EPSG:4326' }])
    assert.equal(positioned.status, 200, JSON.stringify(positioned.body))
    const [itemId] = positioned.body.item_ids
    const { item } = await w.ok(token, 'items.get', { item_id: itemId })
    assert.deepEqual(rounded(item.bbox), BOUNDS)
    assert.match(item.properties.position_note, /specified at upload/)
    await w.drain(convert)
    assert.equal((await w.ok(token, 'uploads.progress', { upload_id: id })).files[0].state, 'ready')
    const raster = await rasterOf(itemId)
    assert.equal(raster['epsg'], 4326)
    assert.deepEqual(rounded(raster['transform'] as number[]), rounded([151, 0.0001, 0, -33, 0, -0.0001]))
    assert.equal(raster['placed_by'], 'caller')
    const tile = { item_id: itemId, ...tileAt(151.035, -33.03, 12), format: 'png' }
    assert.equal((await w.call(token, 'items.tile.render', tile)).status, 200)
  })

  await t.test('control points are fitted, and the residual is noted', async () => {
    const id = await session(w, org, { 'scan.tif': nowhere() })
    // UTM zone 56 south, turned by a quarter: columns go south, rows go west.
    const gcps = [
      { column: 0, row: 0, x: 340_000, y: 6_300_000 },
      { column: 700, row: 0, x: 340_000, y: 6_293_000 },
      { column: 0, row: 600, x: 334_000, y: 6_300_000 },
      { column: 700, row: 600, x: 334_000, y: 6_293_100 },
    ]
    const { status, body } = await complete(id, [{ file_name: 'scan.tif', gcps, crs: 'EPSG:32756' }])
    assert.equal(status, 200, JSON.stringify(body))
    const { item } = await w.ok(token, 'items.get', { item_id: body.item_ids[0] })
    assert.equal(item.properties['proj:epsg'], 32756)
    assert.match(item.properties.position_note, /affine fit of its control points has an error of 25 m/)
    await w.drain(convert)
    const raster = await rasterOf(body.item_ids[0])
    const [x, a, b, y, d, e] = raster['transform'] as number[]
    assert.ok(Math.abs(x! - 340_000) < 60 && Math.abs(y! - 6_300_000) < 60)
    assert.ok(Math.abs(a!) < 0.1 && Math.abs(b! + 10) < 0.1 && Math.abs(d! + 10) < 0.1 && Math.abs(e!) < 0.1)
  })

  await t.test('a CRS alone is enough if the file has a transform', async () => {
    const id = await session(w, org, { 'martian.tif': striped({ ...SIZE, epsg: 9999 }) })
    assert.equal((await complete(id)).body.code, 'position-required')
    const { status, body } = await complete(id, [{ crs: 'EPSG:4326' }])
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(rounded((await w.ok(token, 'items.get', { item_id: body.item_ids[0] })).item.bbox), BOUNDS)
    const other = await session(w, org, { 'nowhere.tif': nowhere() })
    const still = await complete(other, [{ crs: 'EPSG:4326' }])
    assert.deepEqual([still.status, still.body.code], [422, 'position-required'], 'but not where it has none')
    await w.ok(token, 'uploads.fail', { upload_id: other, error_message: 'wrong file' })
  })

  await t.test('an invalid position is rejected with its field, and nothing changes', async () => {
    const id = await session(w, org, { 'nowhere.tif': nowhere() })
    const line = [0, 1, 2].map((n) => ({ column: n, row: n, x: n, y: n }))
    const cases: [unknown, string, RegExp][] = [
      [[{ bounds: BOUNDS, crs: 'EPSG:999999' }], 'positions.0.crs', /Unknown code EPSG:999999/],
      [[{ bounds: BOUNDS, crs: 'WGS84' }], 'positions.0.crs', /EPSG code/],
      [[{ bounds: BOUNDS }], 'positions.0.crs', /required/],
      [[{ bounds: [151.07, -33.06, 151, -33], crs: 'EPSG:4326' }], 'positions.0.bounds', /left, bottom, right, top/],
      [[{ bounds: [151, -33.06, 151.07, 97], crs: 'EPSG:4326' }], 'positions.0.bounds', /area of use/],
      [[{ bounds: BOUNDS, gcps: line, crs: 'EPSG:4326' }], 'positions.0.gcps', /bounds/],
      [[{ gcps: line, crs: 'EPSG:4326' }], 'positions.0.gcps', /line/],
      [[{ gcps: line.slice(0, 2), crs: 'EPSG:4326' }], 'positions.0.gcps', /3/],
      [[{ file_name: 'other.tif', bounds: BOUNDS, crs: 'EPSG:4326' }], 'positions.0.file_name', /nowhere\.tif/],
      [
        [
          { bounds: BOUNDS, crs: 'EPSG:4326' },
          { file_name: 'nowhere.tif', crs: 'EPSG:4326' },
        ],
        'positions.1.file_name',
        /twice/,
      ],
      [[{ bounds: BOUNDS, crs: 'EPSG:4326', height: 3 }], 'positions.0.height', /./],
    ]
    for (const [positions, field, words] of cases) {
      const { status, body } = await complete(id, positions)
      assert.deepEqual([status, body.code], [422, 'invalid-input'], JSON.stringify(body))
      const error = body.errors.find((candidate: { field: string }) => candidate.field === field)
      assert.ok(error, `${field} in ${JSON.stringify(body.errors)}`)
      assert.match(error.message, words)
      assert.equal((await w.ok(token, 'uploads.progress', { upload_id: id })).files[0].state, 'awaiting')
    }
    assert.equal((await complete(id, [{ bounds: BOUNDS, crs: 'EPSG:4326' }])).status, 200)
  })

  await t.test('each file has its own position, and the session can complete without a file that has none', async () => {
    const id = await session(w, org, { 'a.tif': nowhere(), 'b.tif': nowhere(), 'c.tif': striped(SIZE) })
    const nameless = await complete(id, [{ bounds: BOUNDS, crs: 'EPSG:4326' }])
    assert.deepEqual(nameless.body.errors[0].field, 'positions.0.file_name')
    const east = [152, -33.06, 152.07, -33]
    const first = await complete(id, [{ file_name: 'a.tif', bounds: east, crs: 'EPSG:4326' }])
    assert.deepEqual([first.status, first.body.code, first.body.errors.length], [422, 'position-required', 1])
    assert.match(first.body.detail, /^b\.tif: /)
    const second = await complete(id, [{ file_name: 'a.tif', bounds: east, crs: 'EPSG:4326' }])
    assert.equal(second.status, 200, JSON.stringify(second.body))
    const boxes = await Promise.all(
      second.body.item_ids.map(async (itemId: string) => rounded((await w.ok(token, 'items.get', { item_id: itemId })).item.bbox)),
    )
    assert.deepEqual(boxes, [east, BOUNDS])
    await w.drain(clear)
    const bucket = await w.db.selectFrom('upload_session').select('bucket').where('id', '=', id).executeTakeFirstOrThrow()
    const { objects } = await w.storage.list(bucket.bucket)
    assert.deepEqual(
      objects.filter(({ key }) => key.startsWith(`uploads/${id}/`)),
      [],
      'what was left out is removed',
    )
  })

  await t.test("the caller's position replaces the one in the file", async () => {
    const id = await session(w, org, { 'moved.tif': striped({ ...SIZE, west: 10, north: 50 }) })
    const { body } = await complete(id, [{ bounds: BOUNDS, crs: 'EPSG:4326' }])
    await w.drain(convert)
    assert.deepEqual(rounded((await w.ok(token, 'items.get', { item_id: body.item_ids[0] })).item.bbox), BOUNDS)
  })

  await t.test('a session that waits for a position expires like any other', async () => {
    const id = await session(w, org, { 'nowhere.tif': nowhere() })
    await complete(id)
    w.clock.advance({ hours: 25 })
    await w.runTask(expire)
    await w.drain(clear)
    const seen = await w.db.selectFrom('upload_session').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    assert.deepEqual([seen.state, seen.reserved_bytes], ['failed', 0])
    const { objects } = await w.storage.list(seen.bucket)
    assert.deepEqual(
      objects.filter(({ key }) => key.startsWith(`uploads/${id}/`)),
      [],
    )
  })
})
