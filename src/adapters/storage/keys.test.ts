/**
 * Goal: whatever a file was called, the name that we derive is safe in a path and in a header, and still readable for
 * people.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { displayName, keySegment } from '#core/file-names.ts'
import { contentDisposition, isKey } from './keys.ts'

const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: fc.constantFrom(...'./\\%"\';\r\n\0 aZ é😀\u202e'), maxLength: 60 }),
)

test("a user's file name becomes one segment of a key", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const segment = keySegment(name)
      assert.ok(isKey(segment) && !segment.includes('/'), segment)
      assert.equal(keySegment(segment), segment)
    }),
    { numRuns: 2_000 },
  )
  assert.deepEqual(
    ['scene 1.tif', '../../etc/passwd', 'C:\\images\\Überblick.TIF', '...', '.hidden', `${'x'.repeat(300)}.tif`].map(keySegment),
    ['scene_1.tif', 'passwd', 'Uberblick.TIF', 'file', 'hidden', `${'x'.repeat(96)}.tif`],
  )
})

test("a user's file name becomes a header that a browser decodes", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const header = contentDisposition(name)
      assert.match(header, /^attachment; filename="[\x20\x21\x23-\x7e]+"(?:; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+)?$/)
      const encoded = /filename\*=UTF-8''(.*)$/.exec(header)?.[1]
      const plain = /filename="([^"]*)"/.exec(header)![1]!
      assert.equal(encoded === undefined ? plain : decodeURIComponent(encoded), displayName(name))
    }),
    { numRuns: 2_000 },
  )
  assert.equal(contentDisposition('scene.tif'), 'attachment; filename="scene.tif"')
  assert.equal(
    contentDisposition("O'Brien (é).tif"),
    "attachment; filename=\"O'Brien (_).tif\"; filename*=UTF-8''O%27Brien%20%28%C3%A9%29.tif",
  )
  assert.equal(displayName('../a/b\u202egpj.exe'), 'bgpj.exe')
  assert.equal(contentDisposition(null), 'attachment')
})
