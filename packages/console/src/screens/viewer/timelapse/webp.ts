/** Animated WebP from still ones: the browser encodes each frame, and this puts them in one file. */
import { ByteWriter } from './byte-writer.ts'

interface WebpSize {
  width: number
  height: number
}

const ANIMATED = 0x02
const OPAQUE_BLACK = 0xff000000
const REPLACES = 0x02

/** The file has what a browser puts around it, such as a colour profile; only the image itself is kept. */
function imageChunks(file: Uint8Array): Uint8Array[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const name = (at: number) => String.fromCharCode(...file.subarray(at, at + 4))
  if (file.length < 12 || name(0) !== 'RIFF' || name(8) !== 'WEBP') throw new Error('This browser cannot encode WebP.')
  const chunks: Uint8Array[] = []
  for (let at = 12; at + 8 <= file.length;) {
    const size = view.getUint32(at + 4, true)
    const next = at + 8 + size + (size % 2)
    if (['ALPH', 'VP8 ', 'VP8L'].includes(name(at))) chunks.push(file.subarray(at, next))
    at = next
  }
  return chunks
}

function writeHeader(file: ByteWriter, name: string, size: number): void {
  file.text(name)
  file.number(size, 4)
}

/** Each still is a WebP file of the given size, and is shown for `seconds`. */
export function encodeAnimatedWebp(stills: readonly Uint8Array[], { width, height }: WebpSize, seconds: number): Uint8Array<ArrayBuffer> {
  const body = new ByteWriter()
  body.text('WEBP')
  writeHeader(body, 'VP8X', 10)
  body.number(ANIMATED, 4)
  body.number(width - 1, 3)
  body.number(height - 1, 3)
  writeHeader(body, 'ANIM', 6)
  body.number(OPAQUE_BLACK, 4)
  body.number(0, 2) // Again and again.
  for (const still of stills) {
    const chunks = imageChunks(still)
    writeHeader(body, 'ANMF', 16 + chunks.reduce((sum, { length }) => sum + length, 0))
    body.number(0, 3)
    body.number(0, 3)
    body.number(width - 1, 3)
    body.number(height - 1, 3)
    body.number(Math.ceil(Number((seconds * 1000).toFixed(3))), 3)
    body.byte(REPLACES)
    for (const chunk of chunks) body.bytes(chunk)
  }
  const file = new ByteWriter()
  writeHeader(file, 'RIFF', body.length)
  file.bytes(body.take())
  return file.take()
}
