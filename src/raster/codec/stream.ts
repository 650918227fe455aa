import zlib from 'node:zlib'
import { takeBytes } from '#raster/buffers.ts'
import { RasterError } from '#raster/errors.ts'
import { syncHandleOf } from './sync-handle.ts'

/**
 * Deflate and Zstandard into a buffer of known size, never a byte further.
 *
 * Node's streams have a synchronous handle that fills a buffer and stops: a decompression bomb then
 * costs nothing, and the first rows of a block cost only their part. The handle is not public, so
 * where its shape is not the expected one we use the public functions with a bound on their output.
 */

type Method = 'deflate' | 'zstd'

/**
 * Fills `out` from the compressed bytes as far as they go and returns how many bytes that was.
 * A damaged stream is an error.
 */
interface Decompressor {
  run(input: Uint8Array, out: Uint8Array): number
  close(): void
}

/** One for each method in the process: calls are synchronous, so that no two ever meet inside one. */
const decompressors = new Map<Method, Decompressor>()

/** Exactly `outputBytes`, from `takeBytes`: a stream that ends earlier is an error, one that goes on is cut there. */
export function decompress(method: Method, input: Uint8Array, outputBytes: number): Uint8Array {
  const out = takeBytes(outputBytes)
  if (run(method, input, out) < outputBytes) throw damaged(method, 'it is truncated')
  return out
}

/** All of a stream whose size is known only roughly, such as a LERC blob inside deflate; more than `maxBytes` is an error. */
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
    // A handle that met a damaged stream keeps its error through a reset (zstd does), so it is not used again.
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

/** The public way: the whole stream is decoded, and more than expected is an error. */
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
