// Goal: a file that cannot be uploaded says what to do instead before a byte moves, and an interrupted upload goes on only with its file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { QueuedFile } from '../../packages/client/src/upload-queue.ts'
import type { Upload } from '../../packages/console/src/api/contract.ts'
import { mismatchOf, refusalOf, sceneName, sceneRefusalOf } from '../../packages/console/src/screens/uploads/file-checks.ts'
import { progressOf } from '../../packages/console/src/screens/uploads/file-progress.ts'
import { addFiles, addScene, continueUpload, isUploading, queue } from '../../packages/console/src/screens/uploads/upload-queue.ts'

const TARGET = { projectId: 'p1' }

test('GeoTIFF files are taken, whatever the case of their name', () => {
  for (const name of ['a.tif', 'a.TIFF', 'a b.Tif', 'a.zip.tif']) assert.equal(refusalOf({ name, size: 1 }), null, name)
})

test('other files are refused with the remedy', () => {
  assert.match(refusalOf({ name: 'scenes.ZIP', size: 1 })!, /Unpack it and upload the \.tif files/)
  assert.match(refusalOf({ name: 'a.tif.gz', size: 1 })!, /Unpack it/)
  assert.match(refusalOf({ name: 'scene.jp2', size: 1 })!, /gdal_translate -of COG scene\.jp2 out\.tif$/)
  assert.match(refusalOf({ name: 'notes.txt', size: 1 })!, /GeoTIFF or COG/)
  assert.match(refusalOf({ name: 'tif', size: 1 })!, /GeoTIFF or COG/)
  assert.equal(refusalOf({ name: 'a.tif', size: 0 }), 'The file is empty.')
})

test('the command to convert a file names it as one word of a shell', () => {
  assert.match(refusalOf({ name: 'my scene.jp2', size: 1 })!, /COG 'my scene\.jp2' out\.tif$/)
  assert.match(refusalOf({ name: "it's; rm -rf.jp2", size: 1 })!, /COG 'it'\\''s; rm -rf\.jp2' out\.tif$/)
  fc.assert(
    fc.property(fc.string(), (stem) => {
      const word = /-of COG (.*) out\.tif$/s.exec(refusalOf({ name: `${stem}.jp2`, size: 1 })!)![1]!
      const isPlain = /^[\w./-]+$/.test(word)
      assert.equal(isPlain ? word : word.slice(1, -1).replaceAll(String.raw`'\''`, "'"), `${stem}.jp2`)
    }),
  )
})

const upload = (name: string, total_bytes: number) => ({ id: 'u1', project_id: 'p1', files: [{ name }], total_bytes }) as unknown as Upload

test('an unfinished upload goes on with the file of the same name and size', () => {
  assert.equal(mismatchOf({ name: 'a.tif', size: 9 }, upload('a.tif', 9)), null)
  assert.equal(mismatchOf({ name: 'b.tif', size: 9 }, upload('a.tif', 9)), 'Choose “a.tif” to continue this upload.')
  assert.match(mismatchOf({ name: 'a.tif', size: 8 }, upload('a.tif', 9))!, /size differs/)
  assert.equal(mismatchOf({ name: 'a.tif', size: 9 }, { files: [], total_bytes: 9 }), null, 'the session has no name yet')
})

test('refused files are listed with the reason, nothing is uploaded, and they can be removed', () => {
  addFiles([new File(['x'], 'a.zip'), new File([], 'b.tif')], TARGET)
  assert.equal(isUploading(), false)
  assert.deepEqual(
    queue.list().map(({ name, state, uploadId }) => [name, state, uploadId]),
    [
      ['b.tif', 'failed', null],
      ['a.zip', 'failed', null],
    ],
  )
  assert.ok(continueUpload(new File(['x'], 'c.tif'), upload('d.tif', 1)))
  assert.equal(queue.list().length, 2, 'another file is not added')
  for (const { key } of queue.list()) queue.remove(key)
  assert.deepEqual(queue.list(), [])
})

test('files of one scene are one entry, with a name that they share; what is no scene says why', () => {
  assert.equal(sceneName(['T56HLH_B04.tif', 'T56HLH_B08.tif']), 'T56HLH (2 files)')
  assert.equal(sceneName(['LC09_SR_B4.TIF', 'LC09_SR_B5.TIF', 'LC09_ST_B10.TIF']), 'LC09 (3 files)')
  assert.equal(sceneName(['red.tif', 'nir.tif']), 'red.tif (2 files)', 'nothing in common')
  const band = (name: string, size = 1) => ({ name, size })
  assert.equal(sceneRefusalOf([band('red.tif'), band('nir.tif')]), null)
  assert.match(sceneRefusalOf([band('red.tif')])!, /Choose all files of the scene together/)
  assert.match(sceneRefusalOf([band('red.tif'), band('nir.jp2')])!, /^nir\.jp2: Convert it to COG first/)
  assert.match(sceneRefusalOf([band('red.tif'), band('nir.tif', 0)])!, /^nir\.tif: The file is empty/)
  assert.match(sceneRefusalOf(Array.from({ length: 33 }, (_, index) => band(`${index}.tif`)))!, /at most 32 files. 33 were chosen/)
  addScene([new File(['x'], 'a_B04.tif')], TARGET)
  assert.deepEqual(
    queue.list().map(({ name, state, size }) => [name, state, size]),
    [['a_B04.tif (1 file)', 'failed', 1]],
  )
  queue.remove(queue.list()[0]!.key)
})

const queued = (fields: Partial<QueuedFile>): QueuedFile => ({
  key: '1',
  name: 'a.tif',
  size: 2_000_000,
  sentBytes: 0,
  state: 'queued',
  error: null,
  lacksPosition: false,
  isRejected: false,
  uploadId: null,
  session: null,
  ...fields,
})
const converting = (fraction: number | null) => ({ files: [{ state: 'converting', fraction }] }) as unknown as Upload

test('the progress of a file, in words and as a share', () => {
  assert.deepEqual(progressOf(queued({})), { state: 'queued', text: '2 MB', share: 0 })
  assert.deepEqual(progressOf(queued({ state: 'uploading', sentBytes: 500_000 })), {
    state: 'uploading',
    text: '500 kB of 2 MB',
    share: 0.25,
  })
  assert.deepEqual(progressOf(queued({ state: 'finishing', sentBytes: 2_000_000 })), {
    state: 'finishing',
    text: 'Checking the file',
    share: 1,
  })
  assert.deepEqual(progressOf(queued({ state: 'finishing', session: converting(0.5) })), {
    state: 'converting',
    text: 'Converting to COG, 50%',
    share: 0.5,
  })
  assert.equal(progressOf(queued({ state: 'finishing', session: converting(null) })).share, 0)
  assert.deepEqual(progressOf(queued({ state: 'done' })), { state: 'ready', text: '2 MB', share: null })
  assert.equal(progressOf(queued({ state: 'failed', size: 0 })).share, null)
})

test('the share is never beyond the bar', () => {
  const states = fc.constantFrom<QueuedFile['state']>('queued', 'uploading', 'paused', 'finishing', 'done', 'failed')
  fc.assert(
    fc.property(states, fc.nat({ max: 1e9 }), fc.double({ min: 0, max: 1, noNaN: true }), (state, size, part) => {
      const { share } = progressOf(queued({ state, size, sentBytes: Math.floor(size * part) }))
      assert.ok(share === null || (share >= 0 && share <= 1))
    }),
  )
})
