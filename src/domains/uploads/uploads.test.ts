import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { striped } from '../../../test/support/tiff.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import sweep from '#domains/assets/sweep.task.ts'
import clear from './clear.task.ts'
import convert from './convert.task.ts'
import expire from './expire.task.ts'
import resume from './resume.task.ts'

const GIB = 1024 ** 3
const account = (w: World, org: Org) =>
  w.db.selectFrom('storage_account').select(['used_bytes', 'reserved_bytes']).where('org_id', '=', org.id).executeTakeFirstOrThrow()
const bucketOf = async (w: World, org: Org) =>
  (await w.db.selectFrom('project').select('bucket_name').where('id', '=', org.projectId).executeTakeFirstOrThrow()).bucket_name!
const objects = async (w: World, org: Org) => (await w.storage.list(await bucketOf(w, org))).objects.map(({ key }) => key)

/** Invariants: quota, projects and rows agree, and every asset has its object. */
async function consistent(w: World, org: Org): Promise<void> {
  const { used_bytes: used, reserved_bytes: reserved } = await account(w, org)
  const rows = await w.db
    .selectFrom('asset as a')
    .innerJoin('item as i', 'i.seq', 'a.item_seq')
    .select(['a.bucket', 'a.object_key', 'a.file_size_bytes'])
    .where('a.org_id', '=', org.id)
    .where('i.deleted_at', 'is', null)
    .where('a.object_key', 'is not', null)
    .execute()
  assert.equal(
    used,
    rows.reduce((sum, row) => sum + row.file_size_bytes!, 0),
    'used bytes are those of the assets',
  )
  const open = await w.db.selectFrom('upload_session').select('reserved_bytes').where('org_id', '=', org.id).execute()
  assert.equal(
    reserved,
    open.reduce((sum, row) => sum + row.reserved_bytes, 0),
    'reserved bytes are those of the open sessions',
  )
  for (const { bucket, object_key } of rows)
    assert.notEqual(await w.storage.stat({ bucket: bucket!, key: object_key! }), null, 'every asset has its object')
}

// Goal: readers of a project see its current and past uploads, page by page.
test('uploads.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    ids.unshift((await w.ok(token, 'uploads.initiate', { project_id: org.projectId, total_bytes: n })).id)
    w.clock.advance({ minutes: 1 })
  }
  await w.ok(token, 'uploads.signed_url', { upload_id: ids[0], file_name: 'a.tif' })
  await w.ok(token, 'uploads.fail', { upload_id: ids[2], error_message: 'the line broke' })
  const idsOf = (page: { uploads: { id: string }[] }) => page.uploads.map(({ id }) => id)
  const all = await w.ok(token, 'uploads.list', { project_id: org.projectId })
  assert.deepEqual([idsOf(all), all.count, all.total], [ids, 3, 3])
  assert.deepEqual(
    all.uploads.map(({ files }: { files: { name: string }[] }) => files.map(({ name }) => name)),
    [['a.tif'], [], []],
  )
  const failed = await w.ok(token, 'uploads.list', { project_id: org.projectId, status: 'failed' })
  assert.deepEqual([idsOf(failed), failed.uploads[0].error_message], [[ids[2]], 'the line broke'])
  const second = await w.ok(token, 'uploads.list', { project_id: org.projectId, limit: 1, offset: 1 })
  assert.deepEqual([idsOf(second), second.count, second.total], [[ids[1]], 1, 3])
})

// Goal: a COG that is PUT to a signed URL becomes an item with bands, statistics, footprint and profile, ready for display.
test('uploads: a COG', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const bytes = await scene({ nodata: 0, value: (band, x, y) => (x < 60 ? 0 : 100 * (band + 1) + x + y) })

  const { id } = await w.ok(token, 'uploads.initiate', {
    project_id: org.projectId,
    transfer_method: 'signed_url',
    file_count: 1,
    total_bytes: bytes.length + 1000,
  })
  assert.deepEqual(await account(w, org), { used_bytes: 0, reserved_bytes: bytes.length + 1000 })
  const incomplete = await w.call(token, 'uploads.complete', { upload_id: id })
  assert.equal(incomplete.status, 400)
  assert.match(incomplete.body.detail, /No file has been uploaded/)

  const signed = await w.ok(token, 'uploads.signed_url', {
    upload_id: id,
    file_name: '../../etc/Über sicht.tif',
    content_type: 'image/tiff',
  })
  assert.match(signed.object_path, /^store:\/\/svc-[0-9a-f-]{36}\/uploads\/[0-9a-f-]{36}\/1\/Uber_sicht\.tif$/)
  const again = await w.ok(token, 'uploads.signed_url', {
    upload_id: id,
    file_name: '../../etc/Über sicht.tif',
    content_type: 'image/tiff',
  })
  assert.equal(again.object_path, signed.object_path, 'the same name is the same file')
  const missing = await w.call(token, 'uploads.complete', { upload_id: id })
  assert.equal(missing.status, 400)
  assert.match(missing.body.detail, /^Über sicht\.tif has not been uploaded yet/)

  assert.equal(await w.put(signed.upload_url, bytes, 'text/html'), 403, 'another type')
  assert.equal(await w.put(signed.upload_url, bytes, 'image/tiff'), 200)
  assert.equal((await w.ok(token, 'uploads.progress', { upload_id: id })).bytes_uploaded, bytes.length, 'known without a report')
  const reported = await w.ok(token, 'uploads.progress', { upload_id: id, status: 'uploaded', bytes_uploaded: bytes.length })
  assert.deepEqual([reported.status, reported.bytes_uploaded, reported.files[0].state], ['uploading', bytes.length, 'awaiting'])
  assert.equal((await w.call(token, 'uploads.progress', { upload_id: id, status: 'done' })).status, 422)

  const completed = await w.ok(token, 'uploads.complete', { upload_id: id })
  assert.deepEqual(Object.keys(completed), ['id', 'item_ids'])
  const [itemId] = completed.item_ids
  assert.deepEqual(await account(w, org), { used_bytes: bytes.length, reserved_bytes: 0 })

  await t.test('the item has its metadata and footprint', async () => {
    const { item } = await w.ok(token, 'items.get', { item_id: itemId })
    assert.deepEqual([item.name, item.type, item.upload_id, item.datetime], ['Über sicht', 'user_raster', id, null])
    assert.equal(item.geometry.type, 'Polygon')
    assert.deepEqual(
      item.bbox.map((value: number) => Number(value.toFixed(3))),
      [151.06, -33.2, 151.3, -33],
      'without the frame of nothing',
    )
    assert.ok(Math.abs(item.gsd - 101.8) < 1, `${item.gsd}`)
    const [asset] = await w.ok(token, 'items.list_assets', { item_id: itemId })
    assert.deepEqual(
      [asset.key, asset.state, asset.file_size_bytes, asset.band_names],
      ['data', 'ready', bytes.length, ['blue', 'green', 'red', 'nir']],
    )
    assert.match(asset.media_type, /profile=cloud-optimized/)
    const { raster } = await w.db.selectFrom('asset').select('raster').where('id', '=', asset.id).executeTakeFirstOrThrow()
    const { bands } = raster as { bands: { statistics: { min: number; max: number; valid_percent: number } }[] }
    assert.deepEqual([bands[0]!.statistics.min, bands[0]!.statistics.max, bands[0]!.statistics.valid_percent], [160, 598, 80])
    const profiles = await w.ok(token, 'visualization.profiles.list', { item_id: itemId })
    assert.deepEqual(
      profiles.map((profile: { is_default: boolean; config: object }) => [profile.is_default, profile.config]),
      [[true, { bands: [3, 2, 1] }]],
    )
  })

  await t.test('it can be displayed at once', async () => {
    const { status, headers } = await w.call(token, 'items.tile.render', { item_id: itemId, ...tileAt(151.2, -33.1, 10), format: 'png' })
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/png'])
  })

  await t.test('lineage and events', async () => {
    const graph = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: itemId, direction: 'both' })
    assert.deepEqual(
      graph.edges
        .map((edge: { src_type: string; relation: string; dst_type: string }) => `${edge.src_type} ${edge.relation} ${edge.dst_type}`)
        .toSorted(),
      ['asset uploaded item', 'item uploaded project'],
    )
    const events = await w.db
      .selectFrom('event')
      .select(['type', 'data'])
      .where('org_id', '=', org.id)
      .where('type', '<>', 'project.created')
      .orderBy('seq')
      .execute()
    assert.deepEqual(
      events.map((event) => event.type),
      ['item.created', 'upload.completed'],
    )
  })

  await t.test('completing again creates nothing, and a URL that is still valid changes nothing', async () => {
    assert.deepEqual(await w.ok(token, 'uploads.complete', { upload_id: id }), completed)
    assert.equal(await w.put(signed.upload_url, Buffer.from('other bytes'), 'image/tiff'), 400)
    assert.equal((await w.db.selectFrom('event').select('type').where('type', '=', 'item.created').execute()).length, 1)
    assert.equal((await w.call(token, 'items.tile.render', { item_id: itemId, ...tileAt(151.1, -33.05, 11), format: 'png' })).status, 200)
    assert.equal((await w.call(token, 'uploads.signed_url', { upload_id: id, file_name: 'more.tif' })).status, 400)
    assert.equal((await w.call(token, 'uploads.fail', { upload_id: id, error_message: 'no' })).status, 400)
    await consistent(w, org)
  })

  await t.test('uploaded objects are removed; the sweep removes later ones, and the files of deleted items', async () => {
    await w.drain(clear)
    assert.equal((await objects(w, org)).filter((key) => key.startsWith('uploads/')).length, 0)
    await w.put(signed.upload_url, Buffer.from('late'), 'image/tiff')
    const shared = await w.ok(token, 'items.duplicate', { item_id: itemId })
    await w.ok(token, 'items.delete', { item_id: itemId })
    const rounds = async () => {
      await w.runTask(sweep)
      w.clock.advance({ hours: 13 })
      await w.runTask(sweep)
      return (await objects(w, org)).map((key) => key.split('/')[0])
    }
    assert.deepEqual(await rounds(), ['assets'], 'a copy of the item still shows the file')
    await consistent(w, org)
    const { token: later } = await w.signIn(org.owner)
    await w.ok(later, 'items.delete', { item_id: shared.id })
    await w.runTask(sweep)
    assert.equal((await objects(w, org)).length, 1, 'seen once, it may still find an owner')
    assert.deepEqual(await rounds(), [])
    assert.deepEqual(await account(w, org), { used_bytes: 0, reserved_bytes: 0 })
  })
})

// Goal: a GeoTIFF that is not a COG becomes an item at once, is marked as converting, and can be displayed after conversion.
test('uploads: conversion', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const original = striped({ bandCount: 3, value: (x, y, band) => (x < 100 && y < 600 ? 0 : ((x + y + band) % 250) + 1) })
  const { status, body } = await w.upload(token, org.projectId, { 'plain.tif': original })
  assert.equal(status, 200, JSON.stringify(body))
  const [itemId] = body.item_ids
  const progress = () => w.ok(token, 'uploads.progress', { upload_id: body.id })
  const tile = (item_id: string = itemId) => w.call(token, 'items.tile.render', { item_id, ...tileAt(151.04, -33.03, 14), format: 'png' })

  const {
    files: [waiting],
  } = await progress()
  assert.deepEqual(
    [waiting.state, waiting.step, waiting.fraction, waiting.item_id, waiting.size_bytes],
    ['converting', 'queued', 0, itemId, original.length],
  )
  const before = await tile()
  assert.deepEqual([before.status, before.body.code], [400, 'asset-not-ready'])
  assert.match(before.body.detail, /still being converted.*uploads\.progress/)
  const [asset] = await w.ok(token, 'items.list_assets', { item_id: itemId })
  assert.deepEqual([asset.state, asset.media_type], ['converting', 'image/tiff; application=geotiff'])
  assert.deepEqual(
    (await w.ok(token, 'items.get', { item_id: itemId })).item.bbox.map((value: number) => Number(value.toFixed(4))),
    [151, -33.06, 151.07, -33],
  )
  assert.equal((await w.ok(token, 'visualization.profiles.list', { item_id: itemId })).length, 1)
  const copy = await w.ok(token, 'items.duplicate', { item_id: itemId })
  await consistent(w, org)

  assert.equal(await w.drain(convert), 1)
  const {
    files: [done],
    status: state,
  } = await progress()
  assert.deepEqual([state, done.state, done.step, done.fraction, done.error], ['completed', 'ready', 'done', 1, null])
  for (const id of [itemId, copy.id]) assert.equal((await tile(id)).status, 200, 'and so is its copy')
  const [ready] = await w.ok(token, 'items.list_assets', { item_id: itemId })
  assert.deepEqual([ready.state, ready.file_size_bytes, ready.id], ['ready', done.size_bytes, asset.id])
  assert.match(ready.media_type, /cloud-optimized/)
  const { item } = await w.ok(token, 'items.get', { item_id: itemId })
  assert.deepEqual(
    item.bbox.map((value: number) => Number(value.toFixed(4))),
    [151.01, -33.06, 151.07, -33],
    'the footprint is that of the data',
  )
  const updates = await w.db
    .selectFrom('event')
    .select('entity_id')
    .where('type', '=', 'item.updated')
    .where('org_id', '=', org.id)
    .execute()
  assert.deepEqual(updates.map((event) => event.entity_id).toSorted(), [itemId, copy.id].toSorted())
  await consistent(w, org)
  assert.equal(await w.drain(convert), 0)
  await w.runTask(convert, { file_id: (await w.db.selectFrom('upload_file').select('id').executeTakeFirstOrThrow()).id })
  await w.drain(clear)
  assert.equal((await objects(w, org)).length, 1, 'the original is gone')

  await t.test('class codes are not interpolated', async () => {
    const classes = await w.upload(
      token,
      org.projectId,
      { 'classes.tif': striped({ value: (x) => (x % 2 ? 10 : 200) }) },
      { is_categorical: true },
    )
    await w.drain(convert)
    const profiles = await w.ok(token, 'visualization.profiles.list', { item_id: classes.body.item_ids[0] })
    assert.deepEqual(profiles[0].config, { bands: [1], color_table: true, colormap: 'tab20' })
    const [{ bucket, objectKey }] = (await w.db
      .selectFrom('asset as a')
      .innerJoin('item as i', 'i.seq', 'a.item_seq')
      .select(['a.bucket', 'a.object_key as objectKey'])
      .where('i.id', '=', classes.body.item_ids[0])
      .execute()) as [{ bucket: string; objectKey: string }]
    const statistics = await w.platform.services.raster.statistics(
      { object: { bucket, key: objectKey } },
      { maxPixels: 400 * 400, percentiles: [2, 50, 98] },
    )
    assert.ok(statistics.level > 0)
    assert.ok(
      [statistics.bands[0]!.min, statistics.bands[0]!.max, ...statistics.bands[0]!.percentiles].every(
        (value) => value === 10 || value === 200,
      ),
      JSON.stringify(statistics.bands[0]),
    )
  })

  await t.test('a crashed run is resumed; a replaced run changes nothing', async () => {
    const { body: session } = await w.upload(token, org.projectId, { 'again.tif': striped() })
    const { id: fileId } = await w.db.selectFrom('upload_file').select('id').where('upload_id', '=', session.id).executeTakeFirstOrThrow()
    await w.db
      .updateTable('upload_file')
      .set({ heartbeat_at: w.clock.now(), run_id: '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10', attempts: 1 })
      .where('id', '=', fileId)
      .execute()
    await w.drain(convert)
    assert.equal((await w.ok(token, 'uploads.progress', { upload_id: session.id })).files[0].state, 'converting', 'another run works on it')
    await w.runTask(resume)
    assert.equal(await w.drain(convert), 0)
    w.clock.advance({ minutes: 3 })
    await w.runTask(resume)
    assert.equal(await w.drain(convert), 1)
    assert.equal((await w.ok(token, 'uploads.progress', { upload_id: session.id })).files[0].state, 'ready')
  })

  await t.test('a damaged file deletes its item and frees its storage', async () => {
    const used = (await account(w, org)).used_bytes
    const damaged = Buffer.from(striped({ width: 2000, height: 2000 }))
    damaged.writeUInt16LE(5, damaged.indexOf(Buffer.from([0x03, 0x01, 0x03, 0x00])) + 8) // Says LZW, is not.
    const { status: taken, body: session } = await w.upload(token, org.projectId, { 'damaged.tif': damaged })
    assert.equal(taken, 200, JSON.stringify(session))
    await w.drain(convert)
    const {
      files: [failed],
      ...report
    } = await w.ok(token, 'uploads.progress', { upload_id: session.id })
    assert.deepEqual([failed.state, failed.step], ['failed', 'convert'])
    assert.match(failed.error, /damaged/)
    assert.deepEqual([report.status, report.error_step, report.completed_at], ['failed', 'convert', null], 'the session has failed')
    assert.match(report.error_message, /^damaged\.tif: .*damaged/)
    assert.equal((await w.call(token, 'uploads.complete', { upload_id: session.id })).status, 400)
    const gone = await w.call(token, 'items.get', { item_id: session.item_ids[0] })
    assert.deepEqual([gone.status, gone.body.code, gone.body.upload_id], [410, 'gone', session.id])
    assert.match(gone.body.detail, /damaged\.tif could not be converted \(/)
    const stranger = await w.organization()
    assert.equal((await w.call(stranger.owner.token, 'items.get', { item_id: session.item_ids[0] })).status, 404, 'others learn nothing')
    assert.equal((await account(w, org)).used_bytes, used)
    await consistent(w, org)
  })

  await t.test('one damaged file of two has an error, and the session stays completed', async () => {
    const damaged = Buffer.from(striped({ width: 2000, height: 2000 }))
    damaged.writeUInt16LE(5, damaged.indexOf(Buffer.from([0x03, 0x01, 0x03, 0x00])) + 8)
    const { body: session } = await w.upload(token, org.projectId, { 'bad.tif': damaged, 'good.tif': striped() })
    await w.drain(convert)
    const report = await w.ok(token, 'uploads.progress', { upload_id: session.id })
    assert.deepEqual([report.status, report.error_message], ['completed', null])
    assert.match(report.files.find(({ name }: { name: string }) => name === 'bad.tif').error, /damaged/)
    assert.deepEqual(report.files.map(({ state }: { state: string }) => state).toSorted(), ['failed', 'ready'])
  })

  await t.test('a conversion that exceeds the storage quota fails with that reason', async () => {
    const fill = (bytes: number) =>
      w.db
        .updateTable('storage_account')
        .set((e) => ({ used_bytes: e('used_bytes', '+', bytes) }))
        .where('org_id', '=', org.id)
        .execute()
    const noise = striped({
      width: 600,
      height: 600,
      value: (x, y) => Math.imul(Math.imul(x + 1, 73_856_093) ^ Math.imul(y + 1, 19_349_663), 0x9e3779b1) >>> 24,
    })
    const { body: session } = await w.upload(token, org.projectId, { 'noise.tif': noise })
    await fill(10 * GIB)
    await w.drain(convert)
    const {
      files: [failed],
    } = await w.ok(token, 'uploads.progress', { upload_id: session.id })
    await fill(-10 * GIB)
    assert.equal(failed.state, 'failed')
    assert.match(failed.error, /do not fit/)
    await consistent(w, org)
  })
})

// Goal: unsupported files are rejected by their content, with a helpful reason; nothing is left behind.
test('uploads: refusals', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const cog = await scene({ width: 64, height: 64 })

  await t.test('files that are not georeferenced rasters', async () => {
    const cases: [string, Uint8Array, RegExp][] = [
      ['empty.tif', new Uint8Array(0), /not a GeoTIFF/],
      ['picture.tif', Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1'), /a PNG image/],
      ['archive.tif', Buffer.from('PK\x03\x04 and so on', 'latin1'), /ZIP archive: unpack it/],
      ['page.tiff', Buffer.from('<html></html>'), /XML or HTML/],
      ['header.tif', Buffer.from('II*\0\x08\0\0\0'), /damaged|not a GeoTIFF/],
      ['cut.tif', striped().subarray(0, 20_000), /damaged/],
    ]
    for (const [name, bytes, pattern] of cases) {
      const { status, body } = await w.upload(token, org.projectId, { [name]: bytes })
      assert.deepEqual([name, status, body.code], [name, 422, 'unreadable-raster'])
      assert.match(body.detail, pattern, name)
      assert.equal(body.errors[0].field, name)
      assert.deepEqual(await objects(w, org), [], name)
      assert.deepEqual(await account(w, org), { used_bytes: 0, reserved_bytes: 0 })
    }
    const sessions = await w.db.selectFrom('upload_session').select(['id', 'state', 'error_step']).execute()
    assert.deepEqual([...new Set(sessions.map((session) => `${session.state} ${session.error_step}`))], ['failed check'])
    const { status, body } = await w.call(token, 'uploads.complete', { upload_id: sessions[0]!.id })
    assert.equal(status, 400)
    assert.match(body.detail, /has failed \(empty\.tif: The file is not a GeoTIFF/)
    assert.equal((await w.call(token, 'uploads.signed_url', { upload_id: sessions[0]!.id, file_name: 'x.tif' })).status, 400)
    assert.equal(
      (await w.ok(token, 'uploads.fail', { upload_id: sessions[0]!.id, error_message: 'too late' })).error_step,
      'check',
      'the first reason stays',
    )
  })

  await t.test('one bad file among good ones can be replaced or omitted', async () => {
    const bad = Buffer.from('{"type":"FeatureCollection"}')
    const first = await w.upload(token, org.projectId, { 'a.tif': cog, 'b.tif': bad })
    assert.equal(first.status, 422)
    assert.match(first.body.detail, /^b\.tif: The file is not a GeoTIFF, but a JSON document.*complete the session without it/)
    const { id: uploadId } = await w.db
      .selectFrom('upload_session')
      .select('id')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    const seen = await w.ok(token, 'uploads.progress', { upload_id: uploadId })
    assert.deepEqual(
      seen.files.map((file: { state: string }) => file.state),
      ['awaiting', 'refused'],
    )
    assert.equal((await objects(w, org)).length, 1, 'the good file is kept')
    const { upload_url: url } = await w.ok(token, 'uploads.signed_url', {
      upload_id: uploadId,
      file_name: 'b.tif',
      content_type: 'image/tiff',
    })
    assert.equal(await w.put(url, bad, 'image/tiff'), 200)
    assert.equal((await w.call(token, 'uploads.complete', { upload_id: uploadId })).status, 422)
    assert.equal((await w.ok(token, 'uploads.complete', { upload_id: uploadId })).item_ids.length, 1)
    await consistent(w, org)
  })

  await t.test('sessions: who can open one, for which target, and how large', async () => {
    const viewer = await w.member(org, 'viewer')
    const stranger = await w.organization()
    const initiate = (credential: string, more: object = {}) =>
      w.call(credential, 'uploads.initiate', { project_id: org.projectId, ...more })
    assert.equal((await initiate(viewer.token)).status, 403)
    assert.equal((await initiate(stranger.owner.token)).status, 404)
    assert.equal((await initiate(token, { transfer_method: 'ftp' })).status, 422)
    assert.equal((await initiate(token, { target_collection_id: 'nothing' })).status, 404)
    assert.equal((await initiate(token, { target_item_id: 'nothing' })).status, 404)
    const { status, body } = await initiate(token, { total_bytes: 11 * GIB })
    assert.deepEqual([status, body.title, body.limit], [402, 'Storage Quota Exceeded', 10 * GIB])
    const {
      body: { id },
    } = await initiate(token)
    for (const [operation, input] of [
      ['uploads.progress', {}],
      ['uploads.complete', {}],
      ['uploads.fail', { error_message: 'x' }],
      ['uploads.signed_url', { file_name: 'x' }],
    ] as const) {
      const foreign = await w.call(stranger.owner.token, operation, { upload_id: id, ...input })
      const missing = await w.call(stranger.owner.token, operation, { upload_id: '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10', ...input })
      assert.deepEqual([foreign.status, { ...foreign.body, instance: '' }], [404, { ...missing.body, instance: '' }])
      assert.equal((await w.call(viewer.token, operation, { upload_id: id, ...input })).status, 403)
    }
    await w.db.updateTable('project').set({ bucket_name: null }).where('id', '=', stranger.projectId).execute()
    assert.equal((await w.call(stranger.owner.token, 'uploads.initiate', { project_id: stranger.projectId })).status, 400)
    await w.ok(token, 'uploads.fail', { upload_id: id, error_message: 'not needed', error_step: 'upload' })
  })

  await t.test('more bytes than announced are taken from the quota, or rejected with 402', async () => {
    const {
      body: { id },
    } = await w.call(token, 'uploads.initiate', { project_id: org.projectId, total_bytes: 10 })
    const { upload_url: url } = await w.ok(token, 'uploads.signed_url', {
      upload_id: id,
      file_name: 'large.tif',
      content_type: 'image/tiff',
    })
    const { reserved_bytes: before } = await account(w, org)
    assert.equal(await w.put(url, cog, 'image/tiff'), 200)
    const { used_bytes: used, reserved_bytes: reserved } = await account(w, org)
    assert.equal(reserved - before, cog.length - 10, 'taken when the bytes came')
    await w.db
      .updateTable('storage_account')
      .set({ used_bytes: 10 * GIB - 20 - reserved })
      .where('org_id', '=', org.id)
      .execute()
    const tight = await w.ok(token, 'uploads.signed_url', { upload_id: id, file_name: 'next.tif', content_type: 'image/tiff' })
    assert.equal(await w.put(tight.upload_url, cog, 'image/tiff'), 402, 'the store accepts no more than the quota')
    await w.db.updateTable('storage_account').set({ used_bytes: used }).where('org_id', '=', org.id).execute()
    await w.db.deleteFrom('upload_file').where('name', '=', 'next.tif').execute()
    assert.equal((await w.call(token, 'uploads.complete', { upload_id: id })).status, 200)
    await consistent(w, org)
  })

  await t.test('an abandoned session expires after a day and releases its storage', async () => {
    const {
      body: { id },
    } = await w.call(token, 'uploads.initiate', { project_id: org.projectId, total_bytes: 5000 })
    const { upload_url: url } = await w.ok(token, 'uploads.signed_url', {
      upload_id: id,
      file_name: 'late.tif',
      content_type: 'image/tiff',
    })
    await w.put(url, cog, 'image/tiff')
    w.clock.advance({ hours: 23 })
    const { token: day } = await w.signIn(org.owner)
    await w.ok(day, 'uploads.progress', { upload_id: id, bytes_uploaded: 10 })
    w.clock.advance({ hours: 23 })
    await w.runTask(expire)
    const { token: next } = await w.signIn(org.owner)
    assert.equal((await w.ok(next, 'uploads.progress', { upload_id: id })).status, 'uploading')
    w.clock.advance({ hours: 1 })
    await w.runTask(expire)
    await w.drain(clear)
    const { token: last } = await w.signIn(org.owner)
    const ended = await w.ok(last, 'uploads.progress', { upload_id: id })
    assert.deepEqual([ended.status, ended.error_message, ended.reserved_bytes], ['failed', 'No activity for 24 hours', 0])
    assert.equal((await objects(w, org)).filter((key) => key.startsWith(`uploads/${id}`)).length, 0)
    await consistent(w, org)
  })
})

// Goal: files can be added to an existing item; a session can have many files; concurrent completions have one effect.
test('uploads: targets and races', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const cog = await scene({ width: 64, height: 64 })
  const { id: collectionId } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Field work' })
  const many = await w.upload(
    token,
    org.projectId,
    { 'a/one.tif': cog, 'b/one.tif': cog, 'two.tif': cog },
    { target_collection_id: collectionId, asset_key: 'ortho' },
  )
  assert.equal(many.body.item_ids.length, 3)
  const { items } = await w.ok(token, 'items.list', { project_id: org.projectId, collection_id: collectionId })
  assert.deepEqual(items.map((item: { name: string }) => item.name).toSorted(), ['one', 'one', 'two'])
  const [target] = many.body.item_ids

  const added = await w.upload(token, org.projectId, { 'x.tif': cog, 'y.tif': striped() }, { target_item_id: target })
  assert.deepEqual(added.body.item_ids, [target])
  const assets = await w.ok(token, 'items.list_assets', { item_id: target })
  assert.deepEqual(
    assets.map((asset: { key: string; state: string }) => `${asset.key} ${asset.state}`),
    ['data ready', 'ortho ready', 'data_2 converting'],
  )
  const taken = await w.call(token, 'uploads.initiate', { project_id: org.projectId, target_item_id: target, asset_key: 'ortho' })
  assert.deepEqual([taken.status, taken.body.detail.slice(0, 33)], [400, "The item already has an asset 'or"])
  await w.drain(convert)
  assert.equal((await w.ok(token, 'items.list_assets', { item_id: target })).length, 3)
  const graph = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: target, direction: 'both' })
  assert.deepEqual(graph.edges.map((edge: { src_type: string; relation: string }) => `${edge.src_type} ${edge.relation}`).toSorted(), [
    'asset uploaded',
    'asset uploaded',
    'asset uploaded',
    'item uploaded',
  ])
  await consistent(w, org)

  await t.test('ten concurrent completions create one set of items', async () => {
    const { id } = await w.ok(token, 'uploads.initiate', { project_id: org.projectId, total_bytes: cog.length })
    const { upload_url: url } = await w.ok(token, 'uploads.signed_url', {
      upload_id: id,
      file_name: 'race.tif',
      content_type: 'image/tiff',
    })
    await w.put(url, cog, 'image/tiff')
    const answers = await Promise.all(Array.from({ length: 10 }, () => w.call(token, 'uploads.complete', { upload_id: id })))
    assert.equal(new Set(answers.map((answer) => `${answer.status} ${JSON.stringify(answer.body)}`)).size, 1)
    await w.drain(clear)
    const owned = await w.db.selectFrom('asset').select('object_key').where('org_id', '=', org.id).execute()
    assert.deepEqual((await objects(w, org)).toSorted(), owned.map((row) => row.object_key!).toSorted(), 'the others left nothing')
    await consistent(w, org)
  })

  await t.test('sessions opened, reported, aborted, expired and completed in any order keep the quota correct', async () => {
    const { key: fresh } = await w.key((await w.signIn(org.owner)).token, ['write'])
    type Step = 'open' | 'progress' | 'fail' | 'expire' | 'complete'
    const steps = fc.array(
      fc.tuple(
        fc.constantFrom<Step>('open', 'open', 'progress', 'fail', 'expire', 'complete'),
        fc.nat(5),
        fc.integer({ min: 0, max: 50_000 }),
      ),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const ids: string[] = []
        for (const [step, index, bytes] of script) {
          const id = ids[index % Math.max(1, ids.length)]
          if (step === 'open') ids.push((await w.ok(fresh, 'uploads.initiate', { project_id: org.projectId, total_bytes: bytes })).id)
          else if (step === 'expire') {
            w.clock.advance({ hours: 1 })
            await w.runTask(expire)
          } else if (id && step === 'progress') await w.call(fresh, 'uploads.progress', { upload_id: id, bytes_uploaded: bytes })
          else if (id && step === 'fail') await w.call(fresh, 'uploads.fail', { upload_id: id, error_message: 'x' })
          else if (id) {
            const signed = await w.call(fresh, 'uploads.signed_url', { upload_id: id, file_name: 'p.tif', content_type: 'image/tiff' })
            if (signed.status === 200) await w.put(signed.body.upload_url, cog, 'image/tiff')
            await w.call(fresh, 'uploads.complete', { upload_id: id })
          }
        }
        await consistent(w, org)
      }),
      { numRuns: 8 },
    )
  })
})
