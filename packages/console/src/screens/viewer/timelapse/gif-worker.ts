/** Encodes a GIF off the main thread: choosing the colours of a frame takes longer than the page may stop. */
import { GifEncoder } from './gif.ts'

export type GifRequest = { width: number; height: number; seconds: number } | { pixels: ArrayBuffer } | 'finish'
export type GifAnswer = 'ready' | { file: Uint8Array<ArrayBuffer> } | { problem: string }

let encoder: GifEncoder | null = null

function answerTo(request: GifRequest): GifAnswer {
  if (request === 'finish') return { file: encoder!.finish() }
  if ('pixels' in request) encoder!.add(new Uint8ClampedArray(request.pixels))
  else encoder = new GifEncoder(request, request.seconds)
  return 'ready'
}

onmessage = ({ data }: MessageEvent<GifRequest>) => {
  try {
    postMessage(answerTo(data) satisfies GifAnswer)
  } catch (error) {
    postMessage({ problem: (error as Error).message } satisfies GifAnswer)
  }
}
