import { RasterError } from '#raster/errors.ts'

/**
 * Old-style JPEG of TIFF 6.0: the tables are anywhere in the file, or in a complete JPEG stream that a tag points to, and the strip
 * only has the scan. Both are joined to one JPEG stream.
 */

const MARKER = { soi: 0xd8, eoi: 0xd9, sos: 0xda, quantizers: 0xdb, codes: 0xc4, frame: 0xc0, restart: 0xdd } as const
const QUANTIZER_BYTES = 64
const CODE_LENGTHS = 16
const PRECISION = 8

/** A stream up to the end of its scan header. */
export function headerOf(stream: Uint8Array): Uint8Array {
  if (stream[0] !== 0xff || stream[1] !== MARKER.soi) throw damaged('its stream has no JPEG header')
  let at = 2
  while (at + 4 <= stream.length && stream[at] === 0xff) {
    const end = at + 2 + ((stream[at + 2]! << 8) | stream[at + 3]!)
    if (end > stream.length) break
    if (stream[at + 1] === MARKER.sos) return stream.subarray(0, end)
    at = end
  }
  throw damaged('its stream has no scan')
}

interface OldTables {
  readonly width: number
  readonly height: number
  /** Horizontal and vertical subsampling of luma. */
  readonly sampling: readonly [number, number]
  /** One per component. */
  readonly quantizers: readonly Uint8Array[]
  readonly dcCodes: readonly Uint8Array[]
  readonly acCodes: readonly Uint8Array[]
  readonly restartInterval: number
}

export function headerFromTables({ width, height, sampling, quantizers, dcCodes, acCodes, restartInterval }: OldTables): Uint8Array {
  const [across, down] = sampling
  const components = quantizers.map((_, index) => [index + 1, index === 0 ? (across << 4) | down : 0x11, index])
  const scanned = components.map(([id = 0], index) => [id, (index << 4) | index])
  return Uint8Array.from([
    0xff,
    MARKER.soi,
    ...quantizers.flatMap((table, index) => segment(MARKER.quantizers, [index, ...requireBytes(table, QUANTIZER_BYTES)])),
    ...segment(MARKER.frame, [PRECISION, height >> 8, height & 0xff, width >> 8, width & 0xff, components.length, ...components.flat()]),
    ...dcCodes.flatMap((codes, index) => segment(MARKER.codes, [index, ...requireCodes(codes)])),
    ...acCodes.flatMap((codes, index) => segment(MARKER.codes, [0x10 | index, ...requireCodes(codes)])),
    ...(restartInterval > 0 ? segment(MARKER.restart, [restartInterval >> 8, restartInterval & 0xff]) : []),
    ...segment(MARKER.sos, [scanned.length, ...scanned.flat(), 0, 63, 0]),
  ])
}

const segment = (marker: number, bytes: readonly number[]): number[] => [
  0xff,
  marker,
  (bytes.length + 2) >> 8,
  (bytes.length + 2) & 0xff,
  ...bytes,
]

function requireBytes(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length < length) throw damaged('a table is truncated')
  return bytes.subarray(0, length)
}

/** The number of codes of each length, then their values. */
function requireCodes(bytes: Uint8Array): Uint8Array {
  const count = requireBytes(bytes, CODE_LENGTHS).reduce((sum, each) => sum + each, 0)
  return requireBytes(bytes, CODE_LENGTHS + count)
}

/** The strip as a complete stream; some writers already store one there. */
export function withHeader(stored: Uint8Array, header: Uint8Array): Uint8Array {
  if (stored[0] === 0xff && stored[1] === MARKER.soi) return stored
  return Buffer.concat([header, stored, Uint8Array.of(0xff, MARKER.eoi)])
}

const damaged = (detail: string): RasterError => new RasterError('corrupt', `The old-style JPEG of the raster is damaged: ${detail}`)
