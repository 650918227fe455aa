/**
 * A separate process for tests that kill it or measure it: `serve <root> <secret>` listens, `write <root> <bucket>` writes one
 * object forever.
 */
import { pino } from 'pino'
import { openFileStore } from '#adapters/storage/files.ts'
import { startStoreListener } from '#adapters/storage/listener.ts'
import { systemClock } from '#core/clock.ts'
import { pattern } from './place.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'

const RSS_SAMPLE_MS = 20
const VERSION_BYTES = 300_000

/** Version `number` of the object that `write` writes: distinct from all others, also in part. */
export function versionBytes(number: number): Buffer {
  const bytes = pattern(VERSION_BYTES, number)
  bytes.writeUInt32BE(number, 0)
  return bytes
}

async function serve(root: string, secret: Buffer): Promise<void> {
  const store = await openFileStore({ root, publicUrl: () => '', secrets: fixedSecret(secret), clock: systemClock })
  const listener = await startStoreListener({
    store,
    host: '127.0.0.1',
    port: 0,
    secrets: fixedSecret(secret),
    clock: systemClock,
    log: pino({ level: 'silent' }),
  })
  let peakRss = 0
  setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss())
  }, RSS_SAMPLE_MS)
  process.on('message', () => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss())
    process.send!({ peakRss })
  })
  process.send!({ port: listener.port })
}

async function write(root: string, bucket: string): Promise<void> {
  const store = await openFileStore({ root, publicUrl: () => '', secrets: fixedSecret(Buffer.alloc(32)), clock: systemClock })
  for (let number = 1; ; number++) {
    await store.put({ bucket, key: 'a/contested' }, versionBytes(number), { contentType: 'image/tiff' })
    process.send!({ number })
  }
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit(1)) // The parent is gone.
  const [command, root, argument] = process.argv.slice(2)
  await (command === 'serve' ? serve(root!, Buffer.from(argument!, 'hex')) : write(root!, argument!))
}
