/** Video by the browser's own encoders (WebCodecs). */
import type { VideoTrack } from './video-track.ts'

export type VideoFormat = 'MP4' | 'WebM'

interface VideoSize {
  width: number
  height: number
}

/** Tried in this order. Level 4.0 allows two million pixels, which is more than an export has. */
const CODECS: Readonly<Record<VideoFormat, readonly string[]>> = {
  MP4: ['avc1.640028', 'avc1.4d0028', 'avc1.42e028'],
  WebM: ['vp09.00.40.08', 'vp8'],
}

/** What the encoder is told. Rates as low as one frame a second confuse some; the file states the real one. */
const NOMINAL_RATE = 10
const MAX_BITRATE = 20_000_000
const BITS_PER_PIXEL = 3
const MICROSECONDS = 1_000_000

/** The first configuration that this browser can encode; null if there is none. Sizes have to be even. */
export async function findVideoConfig(format: VideoFormat, { width, height }: VideoSize): Promise<VideoEncoderConfig | null> {
  if (typeof VideoEncoder === 'undefined') return null
  for (const codec of CODECS[format]) {
    const config: VideoEncoderConfig = {
      codec,
      width,
      height,
      framerate: NOMINAL_RATE,
      bitrate: Math.min(MAX_BITRATE, width * height * NOMINAL_RATE * BITS_PER_PIXEL),
      latencyMode: 'quality', // Others may drop frames.
      ...(format === 'MP4' ? { avc: { format: 'avc' } } : {}),
    }
    const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }))
    if (supported) return config
  }
  return null
}

const bytesOf = (source: AllowSharedBufferSource): Uint8Array =>
  ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice() : new Uint8Array(source).slice()

interface VideoRecorder {
  add(picture: HTMLCanvasElement): Promise<void>
  finish(): Promise<VideoTrack>
  close(): void
}

export async function recordVideo(format: VideoFormat, size: VideoSize, frameMs: number): Promise<VideoRecorder> {
  const config = await findVideoConfig(format, size)
  if (!config) throw new Error(`This browser cannot encode ${format}.`)
  const frames: Uint8Array[] = []
  let description: Uint8Array | null = null
  let failure: Error | null = null
  let added = 0
  const encoder = new VideoEncoder({
    output(chunk, metadata) {
      const bytes = new Uint8Array(chunk.byteLength)
      chunk.copyTo(bytes)
      frames.push(bytes)
      const described = metadata?.decoderConfig?.description
      if (described) description = bytesOf(described)
    },
    error: (error) => (failure = error),
  })
  encoder.configure(config)
  /** Each picture is encoded before the next one is drawn, so that only one is in memory. */
  const flush = async () => {
    await encoder.flush().catch((error: unknown) => (failure ??= error as Error))
    if (failure) throw failure
  }
  return {
    async add(picture) {
      const frame = new VideoFrame(picture, { timestamp: (added++ * MICROSECONDS) / NOMINAL_RATE, duration: MICROSECONDS / NOMINAL_RATE })
      encoder.encode(frame, { keyFrame: true })
      frame.close()
      await flush()
    },
    async finish() {
      await flush()
      if (frames.length !== added) throw new Error('The browser did not encode every frame.')
      return { codec: config.codec, ...size, frameMs, frames, description }
    },
    close() {
      if (encoder.state !== 'closed') encoder.close()
    },
  }
}
