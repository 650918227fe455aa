/** Takes pictures one after the other and makes one file of them. */
import type { GifAnswer, GifRequest } from './gif-worker.ts'
import { encodeMp4 } from './mp4.ts'
import { findVideoConfig, recordVideo, type VideoFormat } from './record-video.ts'
import { encodeWebm } from './webm.ts'
import { encodeAnimatedWebp } from './webp.ts'

export const FORMATS = ['GIF', 'WebP', 'MP4', 'WebM'] as const
export type AnimationFormat = (typeof FORMATS)[number]

interface PictureSize {
  width: number
  height: number
}

interface Recorder {
  /** Resolves when the next picture can be added. */
  add(picture: HTMLCanvasElement): Promise<void>
  finish(): Promise<Blob>
  /** Gives up what was recorded, or frees what recording needed. */
  close(): void
}

const WEBP_QUALITY = 0.85

const isVideo = (format: AnimationFormat): format is VideoFormat => format === 'MP4' || format === 'WebM'

/** Whether this browser can encode the format at this size. */
export async function canRecord(format: AnimationFormat, size: PictureSize): Promise<boolean> {
  if (format === 'GIF') return true
  if (isVideo(format)) return (await findVideoConfig(format, size)) !== null
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  return (await stillOf(canvas)) !== null
}

/** Each picture is shown for `frameMs`. */
export async function createRecorder(format: AnimationFormat, size: PictureSize, frameMs: number): Promise<Recorder> {
  if (format === 'GIF') return await recordGif(size, frameMs / 1000)
  if (format === 'WebP') return recordWebp(size, frameMs / 1000)
  const { add, finish, close } = await recordVideo(format, size, frameMs)
  const encode = format === 'MP4' ? encodeMp4 : encodeWebm
  return { add, close, finish: async () => new Blob([encode(await finish())], { type: format === 'MP4' ? 'video/mp4' : 'video/webm' }) }
}

async function recordGif(size: PictureSize, seconds: number): Promise<Recorder> {
  const worker = new Worker(new URL('./gif-worker.ts', import.meta.url), { type: 'module' })
  const ask = (request: GifRequest, transfer: Transferable[] = []): Promise<GifAnswer> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<GifAnswer>) =>
        typeof data === 'object' && 'problem' in data ? reject(new Error(data.problem)) : resolve(data)
      worker.onerror = () => reject(new Error('The GIF could not be encoded.'))
      worker.postMessage(request, transfer)
    })
  await ask({ ...size, seconds })
  return {
    async add(picture) {
      const { data } = picture.getContext('2d')!.getImageData(0, 0, size.width, size.height)
      await ask({ pixels: data.buffer }, [data.buffer])
    },
    async finish() {
      const answer = await ask('finish')
      return new Blob(typeof answer === 'object' && 'file' in answer ? [answer.file] : [], { type: 'image/gif' })
    },
    close: () => worker.terminate(),
  }
}

/** Null where the browser encodes no WebP: it would return a PNG. */
const stillOf = (canvas: HTMLCanvasElement): Promise<Blob | null> =>
  new Promise((resolve) => {
    canvas.toBlob((blob) => resolve(blob?.type === 'image/webp' ? blob : null), 'image/webp', WEBP_QUALITY)
  })

function recordWebp(size: PictureSize, seconds: number): Recorder {
  const stills: Uint8Array[] = []
  return {
    async add(picture) {
      const still = await stillOf(picture)
      if (!still) throw new Error('This browser cannot encode WebP.')
      stills.push(new Uint8Array(await still.arrayBuffer()))
    },
    finish: () => Promise.resolve(new Blob([encodeAnimatedWebp(stills, size, seconds)], { type: 'image/webp' })),
    close: () => undefined,
  }
}
