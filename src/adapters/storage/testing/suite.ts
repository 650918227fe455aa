/** What every store must do: one suite, run for each adapter. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { partRange, StorageError, type Storage } from '#ports/storage.ts'
import { newId } from '#core/ids.ts'
import { collect, inChunks, pattern, tempFolder, type testClock } from './place.ts'

interface Opened {
  store: Storage
  clock: ReturnType<typeof testClock>
}

const TYPE = 'image/tiff'
/** The smallest that S3 accepts. */
const SUITE_PART = 5 * 2 ** 20
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const failsWith = (code: StorageError['code']) => (error: unknown) => error instanceof StorageError && error.code === code
const request = globalThis.fetch

/** `openStore` opens a store that is closed with the test. */
// A list of tests, each of which fits on a screen.
// oxlint-disable-next-line max-lines-per-function
export function storageSuite(name: string, openStore: (t: TestContext) => Promise<Opened>): void {
  const open = async (t: TestContext) => {
    const { store, clock } = await openStore(t)
    const bucket = `suite-${newId()}`
    await store.createBucket(bucket)
    t.after(() => store.deleteBucket(bucket))
    const at = (key: string) => ({ bucket, key })
    const put = (key: string, bytes: Uint8Array) => store.put(at(key), bytes, { contentType: TYPE })
    return { store, clock, bucket, at, put, all: async (key: string) => await collect(await store.read(at(key))) }
  }

  test(`${name}: bytes, chunks and files are returned unchanged, with size, type and hash`, async (t) => {
    const { store, at, all } = await open(t)
    const bytes = pattern(300_000)
    const file = path.join(await tempFolder(t), 'body')
    await writeFile(file, bytes)
    for (const [key, body] of [
      ['memory', bytes],
      ['chunks', inChunks(bytes, 7_777)],
      ['file', { path: file }],
    ] as const) {
      const written = await store.put(at(`a/${key}.tif`), body, { contentType: TYPE })
      assert.deepEqual({ size: written.size, sha256: written.sha256 }, { size: bytes.length, sha256: sha256(bytes) })
      assert.match(written.etag, /^"[^"]+"$/)
      const info = await store.stat(at(`a/${key}.tif`))
      assert.deepEqual(
        { size: info?.size, etag: info?.etag, contentType: info?.contentType },
        { size: bytes.length, etag: written.etag, contentType: TYPE },
      )
      assert.ok(info?.lastModified instanceof Date)
      assert.ok(bytes.equals(await all(`a/${key}.tif`)))
    }
  })

  test(`${name}: an upload in parts takes them in any order, lists them, and becomes an object once`, async (t) => {
    const { store, at, all } = await open(t)
    const { multipart } = store
    const bytes = pattern(2 * SUITE_PART + 1_000)
    const { id, hasMd5 } = await multipart.create(at('in/parts.tif'), TYPE)
    const upload = { ...at('in/parts.tif'), id, partBytes: SUITE_PART, totalBytes: bytes.length, hasMd5, contentType: TYPE }
    const send = async (number: number, body?: Uint8Array, md5?: string) => {
      const { offset, length } = partRange({ ...upload, number })
      const part = body ?? bytes.subarray(offset, offset + length)
      const url = await multipart.signPart({ ...upload, number, expiresInSeconds: 900 })
      const digest = md5 ?? createHash('md5').update(part).digest('base64')
      return (await request(url, { method: 'PUT', body: part as Uint8Array<ArrayBuffer>, headers: { 'content-md5': digest } })).status
    }
    assert.equal(await send(1, undefined, createHash('md5').digest('base64')), 400, 'another checksum')
    assert.equal(await send(3, pattern(1_001)), 403, 'another length')
    assert.deepEqual(await multipart.parts(upload), [])
    assert.deepEqual([await send(3), await send(1, pattern(SUITE_PART, 9))], [200, 200])
    await assert.rejects(multipart.complete(upload), failsWith('not-found'))
    assert.equal(await store.stat(upload), null)
    assert.deepEqual([await send(2), await send(1)], [200, 200], 'a part that is sent again replaces the former')
    const md5 = (number: number) => {
      const { offset, length } = partRange({ ...upload, number })
      return createHash('md5')
        .update(bytes.subarray(offset, offset + length))
        .digest('hex')
    }
    assert.deepEqual(
      await multipart.parts(upload),
      [1, 2, 3].map((number) => ({ number, md5: md5(number) })),
    )
    for (let times = 0; times < 3; times++) await multipart.complete(upload)
    assert.ok(bytes.equals(await all('in/parts.tif')))
    assert.equal((await store.stat(upload))?.contentType, TYPE)
    // S3 says that the upload does not exist; some compatible stores, that it has no parts.
    assert.deepEqual((await multipart.parts(upload)) ?? [], [])
    await multipart.abort(upload)
    assert.ok(await store.stat(upload), 'nothing is left to abort')

    const given = { ...upload, ...at('given/up.tif'), ...(await multipart.create(at('given/up.tif'), TYPE)) }
    await multipart.abort(given)
    assert.deepEqual((await multipart.parts(given)) ?? [], [])
  })

  test(`${name}: an object can be empty, and larger than one part of a multipart upload`, async (t) => {
    const { store, at, put, all } = await open(t)
    await put('empty', Buffer.alloc(0))
    assert.equal((await store.stat(at('empty')))?.size, 0)
    assert.equal((await all('empty')).length, 0)
    const large = pattern(40 * 2 ** 20)
    const written = await store.put(at('large'), inChunks(large, 1_000_003), { contentType: TYPE })
    assert.equal(written.sha256, sha256(large))
    assert.equal(sha256(await all('large')), sha256(large))
  })

  test(`${name}: a body that fails, is aborted or is too large leaves the previous object unchanged`, async (t) => {
    const { store, at, put, all } = await open(t)
    const former = pattern(1_000)
    await put('kept', former)
    for (const key of ['kept', 'never']) {
      const broken = async function* () {
        yield* inChunks(pattern(20 * 2 ** 20, 2), 2 ** 20)
        throw new Error('the sender is gone')
      }
      await assert.rejects(store.put(at(key), broken(), { contentType: TYPE }), /the sender is gone/)
      await assert.rejects(
        store.put(at(key), inChunks(pattern(5_000), 1_000), { contentType: TYPE, maxBytes: 4_999 }),
        failsWith('too-large'),
      )
      const controller = new AbortController()
      const endless = async function* () {
        for (let chunk = 0; ; chunk++) {
          if (chunk === 3) controller.abort(new Error('called off'))
          yield pattern(1_000)
        }
      }
      await assert.rejects(store.put(at(key), endless(), { contentType: TYPE, signal: controller.signal }), /called off|aborted/)
    }
    assert.ok(former.equals(await all('kept')))
    assert.equal(await store.stat(at('never')), null)
  })

  test(`${name}: any range of an object equals that range of its bytes, and ranges outside it are rejected`, async (t) => {
    const { store, at, put } = await open(t)
    const bytes = pattern(50_000)
    await put('ranges', bytes)
    const source = await store.source(at('ranges'))
    t.after(() => source.close())
    assert.equal(source.size, bytes.length)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), fc.nat(bytes.length), async (offset, requested) => {
        const length = Math.min(requested, bytes.length - offset)
        assert.ok(bytes.subarray(offset, offset + length).equals(await collect(await store.read(at('ranges'), { offset, length }))))
        assert.ok(bytes.subarray(offset, offset + length).equals(await source.fetch(offset, length)))
        assert.ok(bytes.subarray(offset).equals(await collect(await store.read(at('ranges'), { offset }))))
      }),
      { numRuns: 25 },
    )
    for (const [offset, length] of [
      [50_000, 1],
      [-1, 5],
      [0, 50_001],
      [0.5, 1],
      [10, -1],
    ] as const) {
      await assert.rejects(store.read(at('ranges'), { offset, length }), failsWith('invalid-range'))
      await assert.rejects(source.fetch(offset, length), failsWith('invalid-range'))
    }
  })

  test(`${name}: a missing object is missing for every method, and removing it again is not an error`, async (t) => {
    const { store, at, put } = await open(t)
    await put('gone', pattern(10))
    await store.remove(at('gone'))
    await store.remove(at('gone'))
    assert.equal(await store.stat(at('gone')), null)
    for (const attempt of [() => store.read(at('gone')), () => store.source(at('gone')), () => store.copy(at('gone'), at('other'))])
      await assert.rejects(attempt(), failsWith('not-found'))
    assert.deepEqual(await store.list(`no-such-${newId()}`), { objects: [], next: null })
  })

  test(`${name}: listing returns every key once, in byte order, for any page size, prefix and cursor`, async (t) => {
    const { store, bucket, put } = await open(t)
    const keys = [
      'a-b/x',
      'a.b',
      'a/1',
      'a/b/1',
      'a/b/2',
      'a/b-c',
      'a0',
      'b/c/d/e',
      'B/upper',
      'z_',
      'z-',
      'z.tif',
      'zz/1',
      'zz/10',
      'zz/2',
    ]
    for (const [index, key] of keys.entries()) await put(key, pattern(index + 1))
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const prefix of ['', 'a', 'a/', 'a/b', 'a/b/', 'z', 'zz/1', 'none']) {
      for (const limit of [1, 4, 1_000]) {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const page = await store.list(bucket, { prefix, cursor, limit })
          assert.ok(page.objects.length <= limit)
          for (const { key, size } of page.objects) assert.equal(size, keys.indexOf(key) + 1)
          seen.push(...page.objects.map(({ key }) => key))
          cursor = page.next
        } while (cursor !== null && seen.length <= keys.length)
        assert.deepEqual(
          seen,
          sorted.filter((key) => key.startsWith(prefix)),
          `prefix '${prefix}', pages of ${limit}`,
        )
      }
    }
  })

  test(`${name}: a copy is a separate object, and deleting a bucket does not affect its neighbours`, async (t) => {
    const { store, bucket, at, put, all } = await open(t)
    const neighbour = `${bucket}-x`
    const bytes = pattern(9_000)
    await store.createBucket(neighbour)
    t.after(() => store.deleteBucket(neighbour))
    await put('first', bytes)
    const copied = await store.copy(at('first'), { bucket: neighbour, key: 'deep/second' })
    assert.deepEqual({ size: copied.size, contentType: copied.contentType }, { size: bytes.length, contentType: TYPE })
    await put('first', pattern(10, 5))
    await store.copy({ bucket: neighbour, key: 'deep/second' }, at('first'))
    assert.ok(bytes.equals(await all('first')), 'a copy onto an object replaces it')
    await store.deleteBucket(bucket)
    await store.deleteBucket(bucket)
    assert.equal(await store.stat(at('first')), null)
    assert.ok(bytes.equals(await collect(await store.read({ bucket: neighbour, key: 'deep/second' }))))
  })

  test(`${name}: a reader of a replaced object gets the old bytes or an error, never both`, async (t) => {
    const { store, at, put } = await open(t)
    const [old, other] = [pattern(100_000, 1), pattern(100_000, 2)]
    await put('replaced', old)
    const source = await store.source(at('replaced'))
    t.after(() => source.close())
    await put('replaced', other)
    const seen = await source.fetch(50_000, 1_000).catch((error: unknown) => error)
    if (seen instanceof Uint8Array) assert.ok(old.subarray(50_000, 51_000).equals(seen))
    else assert.ok(failsWith('changed')(seen), String(seen))
  })

  test(`${name}: of two concurrent writers one wins completely`, async (t) => {
    const { store, at, all } = await open(t)
    const candidates = [1, 2, 3, 4].map((seed) => pattern(700_000 + seed, seed))
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(
        candidates.map((bytes) => store.put(at('contested'), inChunks(bytes, 50_000), { contentType: TYPE })),
      )
      const stored = await all('contested')
      const owner = candidates.findIndex((bytes) => bytes.equals(stored))
      assert.notEqual(owner, -1, 'the object is one of those written')
      assert.equal((await store.stat(at('contested')))?.etag, results[owner]!.etag)
    }
  })

  test(`${name}: a signed PUT accepts bytes of the signed type, a signed GET returns them with name, type and ranges`, async (t) => {
    const { store, at } = await open(t)
    const bytes = pattern(200_000)
    const putUrl = await store.signPut({ ...at('signed/file.tif'), contentType: TYPE, maxBytes: 1_000_000, expiresInSeconds: 900 })
    const other = await request(putUrl, { method: 'PUT', body: bytes, headers: { 'Content-Type': 'text/html' } })
    assert.equal(other.status, 403, 'another type')
    assert.equal(await store.stat(at('signed/file.tif')), null)
    const stored = await request(putUrl, { method: 'PUT', body: bytes, headers: { 'Content-Type': TYPE } })
    assert.equal(stored.status, 200, await stored.text())
    assert.equal((await store.stat(at('signed/file.tif')))?.etag, stored.headers.get('etag'))

    const getUrl = await store.signGet({
      ...at('signed/file.tif'),
      fileName: 'Überblick "1".tif',
      contentType: 'application/x-geotiff',
      expiresInSeconds: 900,
    })
    const whole = await request(getUrl)
    assert.equal(whole.headers.get('content-type'), 'application/x-geotiff')
    assert.match(
      whole.headers.get('content-disposition') ?? '',
      /^attachment; filename="_berblick _1_\.tif"; filename\*=UTF-8''%C3%9Cberblick%20_1_\.tif$/,
    )
    assert.ok(bytes.equals(Buffer.from(await whole.arrayBuffer())))
    const part = await request(getUrl, { headers: { Range: 'bytes=1000-1999' } })
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 1000-1999/200000'])
    assert.ok(bytes.subarray(1_000, 2_000).equals(Buffer.from(await part.arrayBuffer())))
    assert.equal((await request(getUrl, { headers: { Range: 'bytes=200000-' } })).status, 416)
  })

  test(`${name}: a signed URL is valid for one object, one method and a limited time`, async (t) => {
    const { store, clock, at, put } = await open(t)
    await put('mine', pattern(10))
    await put('other', pattern(10))
    const url = await store.signGet({ ...at('mine'), expiresInSeconds: 900 })
    assert.equal((await request(url)).status, 200)
    assert.equal((await request(url.replace('/mine?', '/other?'))).status, 403)
    assert.equal((await request(url, { method: 'PUT', body: 'x', headers: { 'Content-Type': TYPE } })).status, 403)
    clock.shift(-901)
    const stale = [
      await store.signGet({ ...at('mine'), expiresInSeconds: 900 }),
      await store.signPut({ ...at('mine'), contentType: TYPE, expiresInSeconds: 900 }),
    ] as const
    clock.shift(901)
    assert.equal((await request(stale[0])).status, 403)
    assert.equal((await request(stale[1], { method: 'PUT', body: 'x', headers: { 'Content-Type': TYPE } })).status, 403)
    for (const expiresInSeconds of [0, -1, 1.5, 604_801, Number.NaN])
      await assert.rejects(store.signGet({ ...at('mine'), expiresInSeconds }), RangeError)
  })

  test(`${name}: invalid names reach nothing`, async (t) => {
    const { store, bucket } = await open(t)
    const keys = [
      '',
      '/',
      'a//b',
      '/a',
      'a/',
      '.',
      '..',
      'a/../b',
      'a/./b',
      '../x',
      'a\\b',
      'a b',
      'a%2fb',
      'ä',
      'a\0b',
      'a@meta.json',
      'a\n',
      'x'.repeat(201),
      Array.from({ length: 17 }, () => 'x').join('/'),
    ]
    const refs = [
      ...keys.map((key) => ({ bucket, key })),
      ...['', 'ab', '..', '.incoming', 'A-bucket', 'a/b', 'a_b', '-ab', 'ab-', 'x'.repeat(64)].map((name) => ({ bucket: name, key: 'k' })),
    ]
    for (const ref of refs) {
      const attempts = [
        () => store.put(ref, Buffer.from('x'), { contentType: TYPE }),
        () => store.read(ref),
        () => store.stat(ref),
        () => store.remove(ref),
        () => store.source(ref),
        () => store.copy({ bucket, key: 'x' }, ref),
        () => store.signGet({ ...ref, expiresInSeconds: 60 }),
        () => store.signPut({ ...ref, contentType: TYPE, expiresInSeconds: 60 }),
      ]
      for (const attempt of attempts) await assert.rejects(attempt(), failsWith('invalid-name'), JSON.stringify(ref))
    }
    for (const contentType of ['', 'text', 'a/b\r\nX: y', 'a/b c', 'ä/b'])
      await assert.rejects(store.put({ bucket, key: 'x' }, Buffer.from('x'), { contentType }), failsWith('invalid-name'))
  })
}
