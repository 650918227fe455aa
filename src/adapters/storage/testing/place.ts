/** Fixtures of these tests: a test clock, a temporary folder, and the embedded store behind its real listener. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { openFileStore } from '#adapters/storage/files.ts'
import { startStoreListener, type StoreListenerOptions } from '#adapters/storage/listener.ts'
import { newId } from '#core/ids.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'

/** Starts at the real time, because an S3 service has no other, and advances only when told to. */
export function testClock() {
  let now = Date.now()
  return {
    now: () => new Date(now),
    shift(seconds: number) {
      now += seconds * 1000
    },
  }
}

export async function tempFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'groundtrack-store-')))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export type Place = Awaited<ReturnType<typeof listeningStore>>

/** The store in `<folder>/objects`, so that a test can add files beside it. */
export async function listeningStore(t: TestContext, options: Partial<StoreListenerOptions> = {}) {
  const folder = await tempFolder(t)
  const root = path.join(folder, 'objects')
  const clock = testClock()
  const secret = randomBytes(32)
  const secrets = fixedSecret(secret)
  const logLines: string[] = []
  let port = 0
  const store = await openFileStore({ root, publicUrl: () => `http://127.0.0.1:${port}`, secrets, clock })
  const log = pino(
    { level: 'debug' },
    {
      write: (line: string) => {
        logLines.push(line)
      },
    },
  )
  const listener = await startStoreListener({ store, host: '127.0.0.1', port: 0, secrets, clock, log, ...options })
  port = listener.port
  t.after(() => listener.close(0))
  const bucket = `test-${newId()}`
  await store.createBucket(bucket)
  return { folder, root, store, clock, secret, secrets, port, bucket, logLines, url: `http://127.0.0.1:${port}` }
}

/** Pseudo-random bytes, the same for the same seed, generated as fast as they can be sent. */
export function pattern(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let state = seed >>> 0 || 1
  for (let at = 0; at < size; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state & 0xff
  }
  return bytes
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const PATIENCE_MS = 600_000

/** Waits for a state that another process or connection causes; fails if it never comes. */
export async function until(state: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS
  while (!(await state())) {
    if (performance.now() > deadlineMs) throw new Error('the expected state was not reached in time')
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
