import zlib from 'node:zlib';
import { RasterError } from '#raster/errors.ts';

/**
 * Deflate and Zstandard into a buffer of known size, never a byte further.
 *
 * Node's streams have a synchronous handle that fills a buffer and stops: a decompression bomb then
 * costs nothing, and the first rows of a block cost only their part. The handle is not public, so
 * where its shape is not the expected one we use the public functions with a bound on their output.
 */

type Method = 'deflate' | 'zstd';

interface SyncHandle {
  reset(): void;
  writeSync(flush: number, input: Uint8Array, inputAt: number, inputLength: number, output: Uint8Array, outputAt: number, outputLength: number): void;
  onerror: (message: string, errno: number, code: string) => void;
}

/** Fills `out` from the compressed bytes; a stream that ends earlier or is damaged is an error. */
type Decompressor = (input: Uint8Array, out: Uint8Array) => void;

const decompressors = new Map<Method, Decompressor>();

export function decompress(method: Method, input: Uint8Array, outputBytes: number): Uint8Array {
  const out = new Uint8Array(outputBytes);
  let run = decompressors.get(method);
  if (!run) {
    run = handleDecompressor(method) ?? boundedDecompressor(method);
    decompressors.set(method, run);
  }
  run(input, out);
  return out;
}

function handleDecompressor(method: Method): Decompressor | null {
  const stream: unknown = method === 'deflate' ? zlib.createInflate() : zlib.createZstdDecompress();
  const handle = Reflect.get(Object(stream), '_handle') as Partial<SyncHandle> | undefined;
  // Node writes here how much of the output and of the input was left: [availableOut, availableIn].
  const state = Reflect.get(Object(stream), '_writeState') as unknown;
  if (typeof handle?.reset !== 'function' || typeof handle.writeSync !== 'function') return null;
  if (!(state instanceof Uint32Array) || state.length < 2) return null;
  const flush = method === 'deflate' ? zlib.constants.Z_SYNC_FLUSH : zlib.constants.ZSTD_e_continue;
  const sync = handle as SyncHandle;
  let problem: string | null = null;
  sync.onerror = (message) => {
    problem = message;
  };
  return (input, out) => {
    problem = null;
    sync.reset();
    sync.writeSync(flush, input, 0, input.byteLength, out, 0, out.byteLength);
    if (problem !== null) throw damaged(method, problem);
    if (state[0] !== 0) throw damaged(method, 'it ends too early');
  };
}

/** The public way: the whole stream is decoded, and more than expected is an error. */
export function boundedDecompressor(method: Method): Decompressor {
  return (input, out) => {
    const options = { maxOutputLength: Math.max(out.byteLength, 1), chunkSize: Math.max(out.byteLength, 64) };
    try {
      const bytes = method === 'deflate' ? zlib.inflateSync(input, options) : zlib.zstdDecompressSync(input, options);
      if (bytes.byteLength < out.byteLength) throw damaged(method, 'it ends too early');
      out.set(bytes);
    } catch (cause) {
      if (cause instanceof RasterError) throw cause;
      throw damaged(method, cause instanceof Error ? cause.message : String(cause));
    }
  };
}

/**
 * Decompresses a stream whose size is known only roughly, such as a LERC blob inside deflate.
 * The result is at most `maxBytes` long.
 */
export function decompressUpTo(method: Method, input: Uint8Array, maxBytes: number): Uint8Array {
  try {
    const options = { maxOutputLength: maxBytes };
    return method === 'deflate' ? zlib.inflateSync(input, options) : zlib.zstdDecompressSync(input, options);
  } catch (cause) {
    throw damaged(method, cause instanceof Error ? cause.message : String(cause));
  }
}

function damaged(method: Method, detail: string): RasterError {
  return new RasterError('corrupt', `A ${method} block of the raster is damaged: ${detail}`);
}
