import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { StorageError, type ObjectBody } from '#ports/storage.ts'

const READ_CHUNK_BYTES = 256 * 1024

interface Meter {
  readonly chunks: AsyncIterable<Buffer>
  size: number
  readonly hash: Hash
}

/** Yields a body in chunks, counting and hashing them; the signal ends a source that hangs. */
export function metered(body: ObjectBody, options: { maxBytes?: number | undefined; signal?: AbortSignal | undefined }): Meter {
  const hash = createHash('sha256')
  const meter: Meter = { chunks: run(), size: 0, hash }
  async function* run(): AsyncIterable<Buffer> {
    for await (const chunk of opened(body, options.signal)) {
      meter.size += chunk.length
      if (meter.size > (options.maxBytes ?? Infinity))
        throw new StorageError('too-large', `The object is larger than the maximum of ${options.maxBytes} bytes`)
      hash.update(chunk)
      yield chunk
    }
  }
  return meter
}

async function* opened(body: ObjectBody, signal: AbortSignal | undefined): AsyncIterable<Buffer> {
  signal?.throwIfAborted()
  if (body instanceof Uint8Array) {
    for (let start = 0; start < body.length; start += READ_CHUNK_BYTES) {
      signal?.throwIfAborted()
      yield asBuffer(body.subarray(start, start + READ_CHUNK_BYTES))
    }
    return
  }
  const stream =
    Symbol.asyncIterator in body
      ? Readable.from(body, { objectMode: true, highWaterMark: 1 })
      : createReadStream(body.path, { highWaterMark: READ_CHUNK_BYTES })
  if (signal) addAbortSignal(signal, stream)
  for await (const chunk of stream as AsyncIterable<Uint8Array>) yield asBuffer(chunk)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
