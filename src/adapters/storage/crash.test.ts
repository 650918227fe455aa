/** Goal: kill -9 at any moment leaves complete objects or none, every acknowledged write, and leftovers that the sweep removes. */
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { campaign } from '../../../test/support/campaign.ts'
import { openFileStore } from './files.ts'
import { versionBytes } from './testing/child.ts'
import { collect, pattern, tempFolder, testClock, until } from './testing/place.ts'
import { beginUpload } from './testing/raw.ts'
import { fixedSecret } from './signature.ts'

const ROUNDS = campaign({ short: 2, long: 6 })
const DAY_SECONDS = 24 * 3_600

function startChild(t: TestContext, ...args: string[]): ChildProcess {
  const child = fork(path.join(import.meta.dirname, 'testing/child.ts'), args)
  t.after(() => child.kill('SIGKILL'))
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function openIn(t: TestContext) {
  const root = path.join(await tempFolder(t), 'objects')
  const secret = randomBytes(32)
  const clock = testClock()
  const store = await openFileStore({ root, publicUrl: () => '', secrets: fixedSecret(secret), clock })
  await store.createBucket('bucket')
  return { root, secret, clock, store }
}

for (const contentRange of [null, 'bytes 0-999999/2000000']) {
  const body = contentRange ? 'a piece' : 'a whole file'
  test(`killed during a PUT of ${body}: no object, and the sweep removes the rest`, async (t) => {
    const { root, secret, clock, store } = await openIn(t)
    const at = { bucket: 'bucket', key: 'a/b.tif' }
    const child = startChild(t, 'serve', root, secret.toString('hex'))
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    const target = await store.signPut({ ...at, contentType: 'image/tiff', expiresInSeconds: 900 })
    const headers = { 'Content-Type': 'image/tiff', ...(contentRange ? { 'Content-Range': contentRange } : {}) }
    const socket = await beginUpload(port, { target, headers, length: 1_000_000 }, pattern(600_000))
    t.after(() => socket.destroy())
    const staging = path.join(root, '.incoming')
    await until(async () => {
      const [name] = await readdir(staging)
      return name !== undefined && (await stat(path.join(staging, name))).size === 600_000
    })
    await kill(child)
    assert.equal(await store.stat(at), null)
    assert.deepEqual((await store.list('bucket')).objects, [])
    assert.equal(await store.sweep(), 0, 'an immediate sweep keeps what a client can still resume')
    clock.shift(DAY_SECONDS + 60)
    assert.equal(await store.sweep(), 1)
    assert.deepEqual((await readdir(root, { recursive: true })).toSorted(), ['.incoming', 'bucket'])
  })
}

test('a writer killed at a random moment leaves a complete version, no older than the last acknowledged one', async (t) => {
  const seed = Number(process.env['TEST_SEED'] ?? randomBytes(4).readInt32BE())
  t.diagnostic(`seed ${seed} (TEST_SEED repeats it)`)
  for (const [killAfter, delayMs] of fc.sample(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(10)), { seed, numRuns: ROUNDS })) {
    const { root, clock, store } = await openIn(t)
    const child = startChild(t, 'write', root, 'bucket')
    let acknowledged = 0
    const killed = new Promise<void>((resolve) => {
      child.on('message', ({ number }: { number: number }) => {
        acknowledged = number
        if (number === killAfter) setTimeout(() => child.kill('SIGKILL'), delayMs) // During one of the next writes.
      })
      child.on('exit', () => resolve())
    })
    await killed
    const bytes = await collect(await store.read({ bucket: 'bucket', key: 'a/contested' }))
    const number = bytes.readUInt32BE(0)
    assert.ok(number >= acknowledged, `version ${number}, although ${acknowledged} was acknowledged`)
    assert.ok(versionBytes(number).equals(bytes), `version ${number} is whole`)
    clock.shift(DAY_SECONDS + 60)
    await store.sweep()
    assert.deepEqual((await readdir(path.join(root, 'bucket/a'))).length, 2, 'one file of bytes, one pointer')
    assert.deepEqual(await readdir(path.join(root, '.incoming')), [])
  }
})
