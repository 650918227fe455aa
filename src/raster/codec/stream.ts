import zlib from 'node:zlib'
import { takeBytes } from '#raster/buffers.ts'
import { RasterError } from '#raster/errors.ts'
import { syncHandleOf } from './sync-handle.ts'

/**
 * Decompresses Deflate and Zstandard into a buffer of known size, and never beyond it.
 *
 * Node's streams have a synchronous handle that fills a buffer and stops: a decompression bomb then
 * costs nothing, and the first rows of a block cost only their share. The handle is not public, so if
 * it has an unexpected shape, the public functions are used with a limit on their output.
 */

type Method = 'deflate' | 'zstd'

/**
 * Fills `out` with as many decompressed bytes as there are and returns their number.
 * A damaged stream is an error.
 */
interface Decompressor {
  run(input: Uint8Array, out: Uint8Array): number
  close(): void
}

/** One per method and process: calls are synchronous, so they never overlap. */
const decompressors = new Map<Method, Decompressor>()

/** Exactly `outputBytes`, from `takeBytes`: a shorter stream is an error, a longer one is truncated. */
export function decompress(method: Method, input: Uint8Array, outputBytes: number): Uint8Array {
  const out = takeBytes(outputBytes)
  if (run(method, input, out) < outputBytes) throw damaged(method, 'it is truncated')
  return out
}

/** The whole of a stream of unknown size, such as a LERC blob in Deflate; more than `maxBytes` is an error. */
export function decompressUpTo(method: Method, input: Uint8Array, maxBytes: number): Uint8Array {
  const out = new Uint8Array(maxBytes + 1)
  const length = run(method, input, out)
  if (length > maxBytes) throw damaged(method, 'it is too long')
  return out.subarray(0, length)
}

function run(method: Method, input: Uint8Array, out: Uint8Array): number {
  let decompressor = decompressors.get(method)
  if (!decompressor) {
    decompressor = handleDecompressor(method) ?? boundedDecompressor(method)
    decompressors.set(method, decompressor)
  }
  try {
    return decompressor.run(input, out)
  } catch (error) {
    // After a damaged stream, a handle can keep its error through a reset (zstd does), so it is not reused.
    decompressors.delete(method)
    decompressor.close()
    throw error
  }
}

function handleDecompressor(method: Method): Decompressor | null {
  const stream = method === 'deflate' ? zlib.createInflate() : zlib.createZstdDecompress()
  const opened = syncHandleOf(stream)
  if (!opened) return null
  const { handle, left } = opened
  const flush = method === 'deflate' ? zlib.constants.Z_SYNC_FLUSH : zlib.constants.ZSTD_e_continue
  let problem: string | null = null
  handle.onerror = (message) => {
    problem = message
  }
  return {
    run(input, out) {
      problem = null
      handle.reset()
      handle.writeSync(flush, input, 0, input.byteLength, out, 0, out.byteLength)
      if (problem !== null) throw damaged(method, problem)
      return out.byteLength - (left[0] ?? 0)
    },
    close: () => void stream.destroy(),
  }
}

/** With the public functions: the whole stream is decoded, and more output than expected is an error. */
export function boundedDecompressor(method: Method): Decompressor {
  return {
    run(input, out) {
      const options = { maxOutputLength: Math.max(out.byteLength, 1), chunkSize: Math.max(out.byteLength, 64) }
      try {
        const bytes = method === 'deflate' ? zlib.inflateSync(input, options) : zlib.zstdDecompressSync(input, options)
        out.set(bytes)
        return bytes.byteLength
      } catch (cause) {
        throw damaged(method, cause instanceof Error ? cause.message : String(cause))
      }
    },
    close: () => undefined,
  }
}

function damaged(method: Method, detail: string): RasterError {
  return new RasterError('corrupt', `A ${method} block of the raster is damaged: ${detail}`)
}
