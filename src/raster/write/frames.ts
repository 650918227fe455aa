import zlib from 'node:zlib'

/** Node's default number of threads. */
const MAX_STREAMS = 4
/** A frame of incompressible data can be slightly longer than the data. */
const SLACK_BYTES = 4096

/** How a tile is compressed. `runs` is Deflate that only searches for runs of one byte. */
interface FrameCoding {
  readonly method: 'zstd' | 'deflate' | 'runs'
  readonly level: number
}

/**
 * Zstandard frames or zlib streams, several at a time in other threads. Each writes one after another: creating one per tile
 * would allocate its tables every time, which costs more than compressing a tile with Zstandard.
 */
export class Frames {
  readonly #coding: FrameCoding
  readonly #mostBytes: number
  readonly #idle: FrameStream[] = []
  readonly #waiting: ((stream: FrameStream) => void)[] = []
  #count = 0
  #isClosed = false

  /** `mostBytes` is the size of the largest tile. */
  constructor(coding: FrameCoding, mostBytes: number) {
    this.#coding = coding
    this.#mostBytes = mostBytes
  }

  /** Compresses, and passes the result, which is valid until `take` returns. */
  async compress<T>(bytes: Uint8Array, take: (frame: readonly Uint8Array[]) => T): Promise<T> {
    const stream = await this.#stream()
    try {
      const frame = await stream.write(bytes)
      return take(frame)
    } finally {
      stream.rewind()
      const next = this.#waiting.shift()
      if (next) next(stream)
      else if (this.#isClosed) stream.close()
      else this.#idle.push(stream)
    }
  }

  /** Running streams end afterwards. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#idle.splice(0)) stream.close()
  }

  #stream(): FrameStream | Promise<FrameStream> {
    const idle = this.#idle.pop()
    if (idle) return idle
    if (this.#count >= MAX_STREAMS) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#count += 1
    return new FrameStream(this.#coding, this.#mostBytes)
  }
}

/** The largest tables that zlib has: a little more memory for a little more speed. */
const MEMORY_LEVEL = 9

/** Each write is a separate frame. */
function streamOf({ method, level }: FrameCoding, chunkSize: number): zlib.ZstdCompress | zlib.Deflate {
  const { ZSTD_e_end, ZSTD_c_compressionLevel, Z_FINISH, Z_RLE, Z_DEFAULT_STRATEGY } = zlib.constants
  if (method === 'zstd') return zlib.createZstdCompress({ flush: ZSTD_e_end, chunkSize, params: { [ZSTD_c_compressionLevel]: level } })
  const strategy = method === 'runs' ? Z_RLE : Z_DEFAULT_STRATEGY
  return zlib.createDeflate({ flush: Z_FINISH, chunkSize, level, strategy, memLevel: MEMORY_LEVEL })
}

class FrameStream {
  readonly #stream: zlib.ZstdCompress | zlib.Deflate
  readonly #pieces: Uint8Array[] = []
  readonly #mustReset: boolean

  constructor(coding: FrameCoding, mostBytes: number) {
    this.#mustReset = coding.method !== 'zstd'
    this.#stream = streamOf(coding, mostBytes + SLACK_BYTES)
    this.#stream.on('data', (piece: Uint8Array) => this.#pieces.push(piece))
    // The writer that waits gets the error.
    this.#stream.on('error', () => undefined)
  }

  write(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        if (error) reject(error)
        else resolve(this.#pieces)
      })
    })
  }

  /**
   * The next frame overwrites the last one, which is no longer used. Node keeps the position in a private field; a Node
   * without it allocates new memory instead.
   */
  rewind(): void {
    this.#pieces.length = 0
    // A zlib stream has ended. A Zstandard stream continues, and a reset would lose its level.
    if (this.#mustReset && 'reset' in this.#stream) this.#stream.reset()
    if (typeof Reflect.get(this.#stream, '_outOffset') === 'number') Reflect.set(this.#stream, '_outOffset', 0)
  }

  close(): void {
    this.#stream.destroy()
  }
}
