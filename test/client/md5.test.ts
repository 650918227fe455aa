/** Goal: the client's own MD5, for browsers, is that of every other implementation, for any bytes in any pieces. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Md5, md5Of } from '../../packages/client/src/md5.ts'

const expected = (bytes: Uint8Array) => createHash('md5').update(bytes).digest()

test('any bytes, in any pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (pieces) => {
      const hash = new Md5()
      for (const piece of pieces) hash.update(piece)
      assert.deepEqual(Buffer.from(hash.digest()), expected(Buffer.concat(pieces)))
    }),
  )
})

test('every length around a block, and many megabytes', () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Buffer.alloc(length, length)
    const hash = new Md5()
    hash.update(bytes)
    assert.deepEqual(Buffer.from(hash.digest()), expected(bytes), String(length))
  }
  const large = Buffer.alloc(5 * 2 ** 20 + 3, 'groundtrack')
  const hash = new Md5()
  hash.update(large)
  assert.deepEqual(Buffer.from(hash.digest()), expected(large))
})

test('with and without the hash of Node, bytes and files have both forms', async (t) => {
  const bytes = Buffer.alloc(9 * 2 ** 20, 'groundtrack')
  const wanted = { hex: expected(bytes).toString('hex'), base64: expected(bytes).toString('base64') }
  assert.deepEqual([await md5Of(bytes), await md5Of(new Blob([bytes]))], [wanted, wanted])
  t.mock.method(process, 'getBuiltinModule', () => undefined)
  assert.deepEqual(await md5Of(new Blob([bytes])), wanted)
})
