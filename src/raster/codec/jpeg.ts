import type { PixelBlock } from '#raster/codec/pixels.ts'
import { sharp } from '#raster/codec/sharp.ts'
import { RasterError } from '#raster/errors.ts'

/**
 * JPEG blocks. TIFF stores the tables separately from the blocks and the colour space in its own tags, so
 * each block is reassembled: its own segments without application data (a stray profile or orientation
 * would change pixels), the shared tables, and an Adobe marker that states the colour transform.
 *
 * `sharp` decodes exactly as GDAL does (same library, accurate DCT).
 */

const MARKER = { soi: 0xd8, eoi: 0xd9, sos: 0xda, app0: 0xe0, app15: 0xef, comment: 0xfe } as const
const START = Uint8Array.of(0xff, MARKER.soi)

interface JpegSegments {
  /** Tables and frame header. */
  readonly head: Uint8Array[]
  /** Everything from the first scan. */
  readonly scans: Uint8Array
  readonly frame: JpegFrame | null
}

interface JpegFrame {
  readonly width: number
  readonly height: number
  readonly components: number
  readonly precision: number
}

interface JpegShape {
  readonly width: number
  readonly rows: number
  readonly components: number
  readonly isYcbcr: boolean
}

export async function decodeJpeg(stored: Uint8Array, tables: Uint8Array | null, shape: JpegShape): Promise<PixelBlock> {
  const block = splitSegments(stored)
  assertFrame(block.frame, shape)
  const shared = tables ? splitSegments(tables).head : []
  const file = Buffer.concat([START, ...adobeMarker(shape), ...shared, ...block.head, block.scans])
  const pixels = await runSharp(file, shape)
  if (shape.components === 4) for (let i = 0; i < pixels.data.length; i++) pixels.data[i] = 255 - (pixels.data[i] ?? 0)
  return pixels
}

function assertFrame(frame: JpegFrame | null, shape: JpegShape): void {
  if (!frame) throw damaged('it has no frame')
  if (frame.precision !== 8) throw new RasterError('unsupported', `JPEG blocks of ${frame.precision} bits are not supported`)
  if (frame.components !== shape.components) throw damaged(`it has ${frame.components} components instead of ${shape.components}`)
  // The last strip can be coded with its own height or with that of the others.
  if (frame.width !== shape.width || frame.height < shape.rows || frame.width * frame.height > maxFramePx(shape)) {
    throw damaged(`its size is ${frame.width}×${frame.height} pixels`)
  }
}

/** A strip's frame can be taller than its rows; a much taller one is an attempt to exhaust memory. */
function maxFramePx({ width, rows }: JpegShape): number {
  return width * (2 * rows + 1024)
}

/** Transform 0: components unchanged; 1: YCbCr to RGB. One or two components have none. */
function adobeMarker(shape: JpegShape): Uint8Array[] {
  if (shape.components < 3) return []
  const transform = shape.components === 3 && shape.isYcbcr ? 1 : 0
  return [Uint8Array.of(0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, transform)]
}

async function runSharp(file: Buffer, shape: JpegShape): Promise<PixelBlock> {
  try {
    let image = sharp(file, { failOn: 'error', autoOrient: false, limitInputPixels: maxFramePx(shape) })
    if (shape.components === 1) image = image.toColourspace('b-w')
    // The library treats four components as inverted CMYK; requesting CMYK output leaves them otherwise unchanged.
    if (shape.components === 4) image = image.pipelineColourspace('cmyk').toColourspace('cmyk')
    const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
    return { data, width: info.width, height: info.height, channels: info.channels }
  } catch (cause) {
    throw damaged(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/** Walks the marker segments up to the first scan. */
function splitSegments(bytes: Uint8Array): JpegSegments {
  if (bytes[0] !== 0xff || bytes[1] !== MARKER.soi) throw damaged('it has no JPEG header')
  const head: Uint8Array[] = []
  let frame: JpegFrame | null = null
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) throw damaged('a marker is missing')
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === MARKER.eoi) break
    if (marker === MARKER.sos) return { head, scans: bytes.subarray(at), frame }
    const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
    const segment = bytes.subarray(at, at + 2 + length)
    if (length < 2 || segment.length !== 2 + length) throw damaged('a segment is truncated')
    const isApplication = (marker >= MARKER.app0 && marker <= MARKER.app15) || marker === MARKER.comment
    if (!isApplication) head.push(segment)
    if (isFrame(marker)) frame = readFrame(segment)
    at += 2 + length
  }
  return { head, scans: new Uint8Array(0), frame }
}

/** SOF0–SOF15 without the three that are tables (DHT, JPG, DAC). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function readFrame(segment: Uint8Array): JpegFrame {
  if (segment.length < 10) throw damaged('its frame is truncated')
  const at = (index: number): number => segment[index] ?? 0
  return { precision: at(4), height: (at(5) << 8) | at(6), width: (at(7) << 8) | at(8), components: at(9) }
}

function damaged(detail: string, cause?: unknown): RasterError {
  return new RasterError('corrupt', `A JPEG block of the raster is damaged: ${detail}`, { cause })
}
