/**
 * Goal: a large file can be uploaded in parts, in any order and with checksums, on the embedded store as on S3: what has arrived is
 * listed, what is missing is signed in pages, nothing is stored twice, and what is abandoned is removed.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import clear from '#domains/uploads/clear.task.ts'
import convert from '#domains/uploads/convert.task.ts'
import expire from '#domains/uploads/expire.task.ts'
import sweep from '#domains/assets/sweep.task.ts'
import { Groundtrack, type UploadState } from '../../../packages/client/src/index.ts'
import { scene } from '../../../test/support/scene.ts'
import { striped } from '../../../test/support/tiff.ts'
import { world, type World } from '../../../test/support/world.ts'

const MIB = 2 ** 20
const PART = 16 * MIB
const NAME = 'large.tif'

interface Part {
  number: number
  offset: number
  length: number
  upload_url: string
}

const md5 = (bytes: Uint8Array, encoding: 'base64' | 'hex') => createHash('md5').update(bytes).digest(encoding)

/** A COG of three parts: bytes that follow the image belong to no raster. */
async function largeCog(): Promise<Buffer> {
  const bytes = Buffer.alloc(2 * PART + 54_321)
  bytes.set(await scene())
  for (let at = PART; at < bytes.length; at += 4_096) bytes.writeUInt32LE(at, at)
  return bytes
}

async function begin(t: TestContext) {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const open = async (bytes: Uint8Array) =>
    (await w.ok(token, 'uploads.initiate', { project_id: org.projectId, total_bytes: bytes.length })).id as string
  const parts = (upload_id: string, size_bytes: number, more: object = {}) =>
    w.call(token, 'uploads.parts', { upload_id, file_name: NAME, content_type: 'image/tiff', size_bytes, ...more })
  return { w, org, token, open, parts }
}

async function putPart(bytes: Uint8Array, { offset, length, upload_url }: Part, headers: Record<string, string> = {}) {
  const body = bytes.subarray(offset, offset + length)
  return await fetch(upload_url, { method: 'PUT', body, headers: { 'content-md5': md5(body, 'base64'), ...headers } })
}

const staged = async (w: World) => (await readdir(path.join(w.dataDir, 'objects', '.incoming'))).filter((name) => name.startsWith('parts-'))

test('a file in parts: pages, checksums, what has arrived, and an item that needs no copy', async (t) => {
  const { w, token, open, parts } = await begin(t)
  const bytes = await largeCog()
  const id = await open(bytes)
  const first = (await parts(id, bytes.length, { limit: 2 })).body
  assert.deepEqual([first.part_bytes, first.part_count, first.received_bytes, first.next], [PART, 3, 0, 2])
  assert.deepEqual(
    first.parts.map(({ number, offset, length }: Part) => [number, offset, length]),
    [
      [1, 0, PART],
      [2, PART, PART],
    ],
  )
  const last = (await parts(id, bytes.length, { after: first.next })).body
  assert.deepEqual([last.parts.length, last.parts[0].length, last.next], [1, 54_321, null])

  await t.test('a part that was changed on the way is not stored, nor is one of another length or with another URL', async () => {
    const damaged = await putPart(bytes, last.parts[0], { 'content-md5': md5(Buffer.from('other'), 'base64') })
    const { code } = (await damaged.json()) as { code: string }
    assert.deepEqual([damaged.status, code], [400, 'checksum-mismatch'])
    assert.equal((await putPart(bytes, { ...last.parts[0], length: 54_320 })).status, 403)
    assert.equal((await putPart(bytes, last.parts[0], { 'content-md5': 'x' })).status, 400)
    const forged = last.parts[0].upload_url.replace(/(part=[0-9a-f]+)\.3\./, '$1.2.')
    assert.equal((await putPart(bytes, { ...last.parts[0], upload_url: forged })).status, 403)
    assert.equal((await parts(id, bytes.length)).body.received_bytes, 0)
  })

  const answer = await putPart(bytes, last.parts[0])
  assert.deepEqual([answer.status, answer.headers.get('etag')], [200, `"${md5(bytes.subarray(2 * PART), 'hex')}"`])
  assert.equal((await putPart(bytes, first.parts[0])).status, 200)
  const missing = (await parts(id, bytes.length)).body
  assert.deepEqual(
    [missing.parts.map(({ number }: Part) => number), missing.received.map(({ number }: Part) => number), missing.next],
    [[2], [1, 3], null],
  )
  assert.equal(missing.received[0].md5, md5(bytes.subarray(0, PART), 'hex'))
  assert.equal((await w.ok(token, 'uploads.progress', { upload_id: id })).bytes_uploaded, PART + 54_321)
  const early = await w.call(token, 'uploads.complete', { upload_id: id })
  assert.deepEqual([early.status, /large\.tif has not been uploaded yet/.test(early.body.detail)], [400, true])

  assert.equal((await putPart(bytes, missing.parts[0])).status, 200)
  const { item_ids } = await w.ok(token, 'uploads.complete', { upload_id: id })
  assert.deepEqual((await w.ok(token, 'uploads.complete', { upload_id: id })).item_ids, item_ids, 'completing again creates nothing')
  assert.equal((await putPart(bytes, missing.parts[0])).status, 404, 'no URL can change what was checked')
  assert.deepEqual(await staged(w), [])
  const asset = await w.db.selectFrom('asset').select(['object_key', 'file_size_bytes', 'sha256']).executeTakeFirstOrThrow()
  assert.equal(w.storage.uriOf({ bucket: missing.object_path.split('/')[2], key: asset.object_key! }), missing.object_path)
  assert.equal(asset.sha256?.toString('hex'), createHash('sha256').update(bytes).digest('hex'))
  await w.drain(clear)
  const { url } = await w.ok(token, 'items.asset.download', { item_id: item_ids[0], asset_id: 'data' })
  assert.ok(bytes.equals(Buffer.from(await (await fetch(url)).arrayBuffer())))
})

test('the client sends what is missing, and replaces parts of a file that has changed', async (t) => {
  const { w, org, token } = await begin(t)
  const { key } = await w.key(token, ['write'])
  const original = await largeCog()
  const edited = Buffer.from(original)
  edited[PART + 5] = 1
  const real = globalThis.fetch
  const sent: number[] = []
  let left = 2
  t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
    if (init.method !== 'PUT') return await real(url, init)
    if (left-- <= 0) throw new TypeError('fetch failed')
    sent.push(Number(/part=[0-9a-f]+\.(\d)/.exec(url)![1]))
    return await real(url, init)
  })
  const gt = new Groundtrack({ baseUrl: w.baseUrl, apiKey: key })
  const stop = new AbortController()
  let state: UploadState | undefined
  const cut = gt.upload({
    projectId: org.projectId,
    files: [{ name: NAME, data: original }],
    signal: stop.signal,
    onState: (known) => (state = structuredClone(known)),
    onProgress: ({ sentBytes }) => {
      if (sent.length === 2 && sentBytes > PART) stop.abort(new Error('the machine is switched off'))
    },
  })
  await assert.rejects(cut, /switched off/)
  const before = new Set(sent)
  sent.length = 0
  left = Infinity
  const uploaded = await gt.upload({ projectId: org.projectId, files: [{ name: NAME, data: edited }], resume: state })
  assert.deepEqual(
    sent.toSorted((a, b) => a - b),
    [1, 2, 3].filter((number) => number === 2 || !before.has(number)),
    'only what is missing or differs',
  )
  const { url } = await w.ok(token, 'items.asset.download', { item_id: uploaded.item_ids[0], asset_id: 'data' })
  assert.ok(edited.equals(Buffer.from(await (await real(url)).arrayBuffer())))
})

test('sizes: 5 TiB fits into 10,000 parts, more is rejected, and the quota counts before the first byte', async (t) => {
  const { w, org, open, parts } = await begin(t)
  const id = await open(Buffer.alloc(0))
  const limit = 5 * 2 ** 40
  assert.equal((await parts(id, limit + 1)).status, 422)
  assert.equal((await parts(id, limit)).body.code, 'storage-quota-exceeded')
  await w.db.updateTable('organization').set({ plan_id: 'business' }).where('id', '=', org.id).execute()
  const page = (await parts(id, limit, { after: 9_900 })).body
  assert.ok(page.part_count <= 10_000 && page.part_bytes * page.part_count >= limit, JSON.stringify([page.part_count, page.part_bytes]))
  assert.equal(page.parts.at(-1).number, page.part_count)
  assert.equal(page.parts.at(-1).offset + page.parts.at(-1).length, limit)
  assert.equal((await parts(id, limit, { numbers: [10_000] })).status, page.part_count === 10_000 ? 200 : 422)
  assert.equal((await parts(id, limit, { limit: 501 })).status, 422)
})

test('rejected and abandoned uploads in parts leave nothing behind; a file that needs a position is kept', async (t) => {
  const { w, org, token, open, parts } = await begin(t)
  const send = async (id: string, bytes: Buffer) => {
    for (const part of (await parts(id, bytes.length)).body.parts) assert.equal((await putPart(bytes, part)).status, 200)
  }
  const objects = async () => {
    const { bucket_name: bucket } = await w.db.selectFrom('project').select('bucket_name').executeTakeFirstOrThrow()
    return (await w.storage.list(bucket!)).objects.length
  }
  const noise = Buffer.alloc(PART + 1, 'not a raster')
  const rejected = await open(noise)
  await send(rejected, noise)
  assert.equal((await w.call(token, 'uploads.complete', { upload_id: rejected })).body.code, 'unreadable-raster')
  assert.equal(await objects(), 0)

  const plain = Buffer.concat([striped({ georeference: false }), Buffer.alloc(PART)])
  const kept = await open(plain)
  await send(kept, plain)
  assert.equal((await w.call(token, 'uploads.complete', { upload_id: kept })).body.code, 'position-required')
  await w.runTask(sweep)
  w.clock.advance({ hours: 13 })
  await w.runTask(sweep)
  assert.equal(await objects(), 1, 'the sweep keeps what an open session needs')
  const position = { crs: 'EPSG:4326', bounds: [151, -34, 152, -33] }
  const { token: later } = await w.signIn(org.owner)
  await w.ok(later, 'uploads.complete', { upload_id: kept, positions: [position] })
  assert.equal(await w.drain(convert), 1)

  const { id: abandoned } = await w.ok(later, 'uploads.initiate', { project_id: org.projectId, total_bytes: plain.length })
  await w.ok(later, 'uploads.parts', { upload_id: abandoned, file_name: NAME, size_bytes: plain.length })
  assert.equal((await staged(w)).length, 1)
  w.clock.advance({ hours: 25 })
  await w.runTask(expire)
  await w.drain(clear)
  assert.deepEqual(await staged(w), [])
})
