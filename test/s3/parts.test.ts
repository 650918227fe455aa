/**
 * Goal: a file far larger than memory reaches S3 by signed parts although its upload is interrupted ten times, each time by a process
 * that ends; no part is sent without need, and every byte is right. Small by default; CAMPAIGN=long sends 50 GB, from a sparse file,
 * and digs holes into what the server stores, so that neither end needs the space. It needs an S3 server: `test/s3/server.sh`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { openS3Store } from '#adapters/storage/s3.ts'
import { systemClock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { partBytesFor } from '#ports/storage.ts'
import { Groundtrack, type UploadState } from '../../packages/client/src/index.ts'
import { openFile } from '../../packages/client/src/node.ts'
import { campaign } from '../support/campaign.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

const BUCKET = 'groundtrack-test'
const INTERRUPTIONS = 10
const IN_FLIGHT = 4
const BLOCK_BYTES = 64 * 1024
/** The smallest has one part more than ten interruptions can complete. */
const SMALL = 16 * 2 ** 20 * INTERRUPTIONS * IN_FLIGHT + 12_345
const SIZE = campaign({ short: SMALL, ci: SMALL, long: 50 * 10 ** 9 })
/** Larger files are compared in blocks that are spread over all parts. */
const WHOLE_BYTES = 2 ** 30
const EVERY_MS = 2_000
const endpoint = process.env['TEST_S3_ENDPOINT'] ?? ''
const credentials = { accessKeyId: process.env['TEST_S3_KEY'] ?? '', secretAccessKey: process.env['TEST_S3_SECRET'] ?? '' }

/** A block of noise in each part, at another place each time; zeros between them take no space. */
const blockAt = (part: number, partBytes: number): number =>
  Math.min(SIZE - BLOCK_BYTES, part * partBytes + ((part * 1_234_577) % (partBytes - BLOCK_BYTES)))
const noise = (part: number): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES)
  for (let at = 0; at < BLOCK_BYTES; at += 32) createHash('sha256').update(`${part} ${at}`).digest().copy(block, at)
  return block
}

async function sparseFile(t: TestContext, partBytes: number): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'groundtrack-sparse-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'huge.tif')
  const handle = await open(file, 'w')
  try {
    await handle.truncate(SIZE)
    for (let part = 1; part * partBytes < SIZE; part++) await handle.write(noise(part), 0, BLOCK_BYTES, blockAt(part, partBytes))
    const cog = await scene()
    await handle.write(cog, 0, cog.length, 0)
  } finally {
    await handle.close()
  }
  return file
}

/** Frees the zeros in the server's files as they grow, until the test ends; the server writes each from its beginning to its end. */
function digHoles(t: TestContext, folder: string): void {
  let isOver = false
  const dug = new Map<string, number>()
  const round = async () => {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      const file = path.join(entry.parentPath, entry.name)
      const changed = entry.isFile() ? await stat(file).catch(() => null) : null
      if (!changed || dug.get(file) === changed.mtimeMs) continue
      dug.set(file, changed.mtimeMs)
      await promisify(execFile)('fallocate', ['--dig-holes', file]).catch(() => {})
    }
  }
  const digging = (async () => {
    while (!isOver) {
      await round()
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  })()
  t.after(async () => {
    isOver = true
    await digging
  })
}

async function sha256Of(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

test(
  'a large file by signed parts, interrupted ten times',
  { skip: endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false },
  async (t) => {
    const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
    t.after(() => client.destroy())
    await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
      if (!/BucketAlready/.test(error.name)) throw error
    })
    const prefix = `parts/${newId()}`
    const storage = openS3Store({ url: `s3://${BUCKET}/${prefix}`, endpoint, region: '', clock: systemClock, credentials })
    const w = await world(t, { storage, startAt: new Date().toISOString() })
    const org = await w.organization()
    await w.db.updateTable('organization').set({ plan_id: 'business' }).where('id', '=', org.id).execute()
    const { key } = await w.key(org.owner.token, ['write'])
    const partBytes = partBytesFor(SIZE)
    const partCount = Math.ceil(SIZE / partBytes)
    const file = await sparseFile(t, partBytes)
    const data = process.env['S3_SERVER_DATA']
    if (data && SIZE > WHOLE_BYTES) digHoles(t, data)

    const real = globalThis.fetch
    /** Also parts whose response nobody waited for. */
    const begun: number[] = []
    let answered = 0
    let onPart = () => {}
    t.after(() => (globalThis.fetch = real))
    // Not a mock of the test runner, which would keep every call with its body.
    globalThis.fetch = async (url, init) => {
      if (init?.method !== 'PUT') return await real(url, init)
      begun.push(Number(new URL(String(url)).searchParams.get('partNumber')))
      const response = await real(url, init)
      answered++
      onPart()
      return response
    }
    let state: UploadState | undefined
    const send = async (signal?: AbortSignal) =>
      await new Groundtrack({ baseUrl: w.baseUrl, apiKey: key }).upload({
        projectId: org.projectId,
        files: [await openFile(file)],
        ...(state ? { resume: state } : {}),
        ...(signal ? { signal } : {}),
        onState: (known) => (state = structuredClone(known)),
      })
    for (let interruption = 1; interruption <= INTERRUPTIONS; interruption++) {
      const stop = new AbortController()
      const until = answered + Math.max(1, Math.floor((partCount - INTERRUPTIONS * IN_FLIGHT) / (INTERRUPTIONS + 1)))
      onPart = () => {
        if (answered >= until) stop.abort(new Error('the machine is switched off'))
      }
      await assert.rejects(send(stop.signal), /switched off/)
      const early = await w.call(org.owner.token, 'uploads.complete', { upload_id: state!.uploadId })
      assert.equal(early.status, 400, 'a file with missing parts is not complete')
    }
    onPart = () => {}
    const uploaded = await send()
    t.diagnostic(`${SIZE} bytes in ${partCount} parts, ${begun.length} requests, ${INTERRUPTIONS} interruptions`)
    assert.equal(new Set(begun).size, partCount)
    assert.ok(begun.length <= partCount + INTERRUPTIONS * IN_FLIGHT, 'only what was under way is sent again')

    const again = await w.ok(org.owner.token, 'uploads.complete', { upload_id: uploaded.id })
    assert.deepEqual(again.item_ids, uploaded.item_ids, 'completing again creates nothing')
    const stored = await w.db.selectFrom('asset').select(['bucket', 'object_key', 'file_size_bytes']).executeTakeFirstOrThrow()
    const at = { bucket: stored.bucket!, key: stored.object_key! }
    assert.equal(stored.file_size_bytes, SIZE)
    if (SIZE <= WHOLE_BYTES) assert.equal(await sha256Of(await storage.read(at)), await sha256Of(createReadStream(file)))
    const source = await storage.source(at)
    for (let part = 1; part < partCount; part++) {
      const bytes = Buffer.from(await source.fetch(blockAt(part, partBytes), BLOCK_BYTES))
      assert.ok(bytes.equals(noise(part)), `the block in part ${part + 1}`)
    }
    await source.close()
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: prefix }))
    assert.deepEqual(Uploads, [], 'no parts are left')
    await storage.deleteBucket(at.bucket)
  },
)
