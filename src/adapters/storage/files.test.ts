/** Goal: the embedded store passes the common suite and keeps its guarantees about the disk. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { openFileStore } from './files.ts'
import { StorageError } from '#ports/storage.ts'
import { collect, listeningStore, pattern } from './testing/place.ts'
import { storageSuite } from './testing/suite.ts'
import { fixedSecret } from './signature.ts'

const TYPE = 'image/tiff'
const DAY_SECONDS = 24 * 3_600
const failsWith = (code: StorageError['code']) => (error: unknown) => error instanceof StorageError && error.code === code

storageSuite('files', listeningStore)

test('an object and a folder can have the same name, as in S3', async (t) => {
  const { store, bucket } = await listeningStore(t)
  const put = (key: string) => store.put({ bucket, key }, Buffer.from(key), { contentType: TYPE })
  for (const key of ['a/b/c', 'a', 'a/b']) await put(key)
  assert.deepEqual(
    (await store.list(bucket)).objects.map(({ key }) => key),
    ['a', 'a/b', 'a/b/c'],
  )
  await store.remove({ bucket, key: 'a/b' })
  assert.equal((await collect(await store.read({ bucket, key: 'a/b/c' }))).toString(), 'a/b/c')
})

test('a symbolic link inside the store is not followed, for reading or writing', async (t) => {
  const { folder, root, store, bucket } = await listeningStore(t)
  const outside = path.join(folder, 'outside')
  await mkdir(outside)
  await writeFile(path.join(outside, 'canary'), 'secret')
  const twin = { bucket, key: 'real/x' }
  await store.put(twin, Buffer.from('secret'), { contentType: TYPE })
  await symlink(outside, path.join(root, bucket, 'linked'))
  await symlink(outside, path.join(root, 'linked-bucket'))
  for (const at of [
    { bucket, key: 'linked/x' },
    { bucket: 'linked-bucket', key: 'x' },
  ]) {
    for (const attempt of [
      () => store.put(at, Buffer.from('x'), { contentType: TYPE }),
      () => store.read(at),
      () => store.stat(at),
      () => store.copy(twin, at),
    ])
      await assert.rejects(attempt(), failsWith('damaged'))
  }
  // The bytes are replaced by a link with the same content and size: only the file type differs.
  const [data] = (await readdir(path.join(root, bucket, 'real'))).filter((name) => !name.endsWith('.json'))
  await rm(path.join(root, bucket, 'real', data!))
  await symlink(path.join(outside, 'canary'), path.join(root, bucket, 'real', data!))
  await assert.rejects(store.read(twin), failsWith('damaged'))
  assert.deepEqual(await readdir(outside), ['canary'])
})

test('truncated bytes are an error, not a short object', async (t) => {
  const { root, store, bucket } = await listeningStore(t)
  const at = { bucket, key: 'cut' }
  await store.put(at, pattern(1_000), { contentType: TYPE })
  const [data] = (await readdir(path.join(root, bucket))).filter((name) => !name.endsWith('.json'))
  await writeFile(path.join(root, bucket, data!), pattern(999))
  await assert.rejects(store.read(at), failsWith('damaged'))
  await assert.rejects(store.stat(at), failsWith('damaged'))
})

test('put reports its progress', async (t) => {
  const { store, bucket } = await listeningStore(t)
  const progress: number[] = []
  await store.put({ bucket, key: 'told' }, pattern(1_000_000), { contentType: TYPE, onProgress: (bytes) => progress.push(bytes) })
  assert.ok(progress.length > 1, 'more than once')
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  )
  assert.equal(progress.at(-1), 1_000_000)
})

test('after writing, replacing, copying and removing, each object is one file and one pointer, without empty folders', async (t) => {
  const { root, store, bucket } = await listeningStore(t)
  const at = (key: string) => ({ bucket, key })
  for (let round = 0; round < 3; round++) await store.put(at('a/b/kept'), pattern(100, round + 1), { contentType: TYPE })
  await store.put(at('c/d/gone'), pattern(10), { contentType: TYPE })
  await store.copy(at('a/b/kept'), at('c/copy'))
  await store.remove(at('c/d/gone'))
  await assert.rejects(
    store.put(
      at('a/b/failed'),
      (async function* () {
        yield pattern(10)
        throw new Error('gone')
      })(),
      { contentType: TYPE },
    ),
  )
  const files = (await readdir(path.join(root, bucket), { recursive: true }))
    .map((name) => name.replace(/@[0-9a-f]{16}$/, '@bytes'))
    .toSorted()
  assert.deepEqual(files, ['a', 'a/b', 'a/b/kept@bytes', 'a/b/kept@meta.json', 'c', 'c/copy@bytes', 'c/copy@meta.json'])
  assert.deepEqual(await readdir(path.join(root, '.incoming')), [])
})

test('the path of a source keeps its bytes, so that another process can open it', async (t) => {
  const { store, bucket } = await listeningStore(t)
  const at = { bucket, key: 'shared' }
  await store.put(at, pattern(5_000), { contentType: TYPE })
  const source = await store.source(at)
  t.after(() => source.close())
  assert.ok(pattern(5_000).equals(await readFile(source.path!)))
  await store.put(at, pattern(5_000, 2), { contentType: TYPE })
  await assert.rejects(readFile(source.path!), { code: 'ENOENT' })
})

test('concurrent writes and removals of neighbours lose nothing', async (t) => {
  const { store, bucket } = await listeningStore(t)
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const temporary = { bucket, key: `shared/${index % 4}/temporary-${index}` }
      await store.put(temporary, Buffer.from('x'), { contentType: TYPE })
      await store.put({ bucket, key: `shared/${index % 4}/kept-${index}` }, Buffer.from('x'), { contentType: TYPE })
      await store.remove(temporary)
    }),
  )
  assert.equal((await store.list(bucket)).objects.length, 40)
})

test('the sweep removes what killed writers left, and nothing recent or in use', async (t) => {
  const { root, store, clock, bucket } = await listeningStore(t)
  const at = { bucket, key: 'a/object' }
  await store.put(at, pattern(10), { contentType: TYPE })
  const [data] = (await readdir(path.join(root, bucket, 'a'))).filter((name) => !name.endsWith('.json'))
  const leftovers = [
    path.join(root, '.incoming', 'put-0123456789abcdef'),
    path.join(root, '.incoming', `upload-${'0'.repeat(32)}`),
    path.join(root, bucket, 'a', 'object@0123456789abcdef'),
    path.join(root, bucket, 'a', 'orphan@0123456789abcdef'),
  ]
  for (const file of leftovers) await writeFile(file, 'rest')
  await mkdir(path.join(root, '.incoming', 'bucket-0123456789abcdef/a'), { recursive: true })
  assert.equal(await store.sweep(), 0, 'everything is recent')
  clock.shift(DAY_SECONDS + 60)
  assert.equal(await store.sweep(), leftovers.length + 1)
  assert.deepEqual(await readdir(path.join(root, '.incoming')), [])
  assert.deepEqual((await readdir(path.join(root, bucket, 'a'))).toSorted(), [data, 'object@meta.json'].toSorted())
  assert.equal((await collect(await store.read(at))).length, 10)
})

test('two stores on one folder see the same objects', async (t) => {
  const { root, store, clock, secret, bucket } = await listeningStore(t)
  const second = await openFileStore({ root, publicUrl: () => 'http://localhost', secrets: fixedSecret(secret), clock })
  const candidates = [pattern(400_000, 1), pattern(400_001, 2)]
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      [store, second].map((writer, index) => writer.put({ bucket, key: 'contested' }, candidates[index]!, { contentType: TYPE })),
    )
    const stored = await collect(await second.read({ bucket, key: 'contested' }))
    assert.ok(candidates.some((bytes) => bytes.equals(stored)))
  }
  await assert.rejects(openFileStore({ root, publicUrl: () => '', secrets: fixedSecret(secret.subarray(1)), clock }), RangeError)
})
