/**
 * The header of a LERC 2 blob. Esri's decoder allocates whatever the header states, in a WebAssembly
 * memory that never shrinks, so the header is validated first.
 */
interface LercHeader {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly dataType: number
  readonly blobBytes: number
}

const MAGIC = 'Lerc2 '
const VERSION_AT = 6
const OLDEST_VERSION = 2
const NEWEST_VERSION = 6
const CHECKSUM_SINCE = 3
const DEPTH_SINCE = 4
/** The end of the longest header that we read. */
const LEAST_BYTES = 58

/** Null if the bytes are not a blob, are truncated, or do not match their checksum. */
export function readLercHeader(blob: Uint8Array): LercHeader | null {
  if (blob.length < LEAST_BYTES || Buffer.from(blob.subarray(0, VERSION_AT)).toString('latin1') !== MAGIC) return null
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const version = view.getInt32(VERSION_AT, true)
  if (version < OLDEST_VERSION || version > NEWEST_VERSION) return null
  const hasChecksum = version >= CHECKSUM_SINCE
  const start = VERSION_AT + 4 + (hasChecksum ? 4 : 0)
  const field = (index: number): number => view.getInt32(start + index * 4, true)
  const extra = version >= DEPTH_SINCE ? 1 : 0
  const header: LercHeader = {
    height: field(0),
    width: field(1),
    depth: extra === 1 ? field(2) : 1,
    blobBytes: field(4 + extra),
    dataType: field(5 + extra),
  }
  if (header.blobBytes < LEAST_BYTES || header.blobBytes > blob.length) return null
  if (hasChecksum && view.getUint32(VERSION_AT + 4, true) !== fletcher32(blob.subarray(start, header.blobBytes))) return null
  return header
}

/** Sums of 359 words stay below 2^32. */
const WORDS_AT_ONCE = 359

function fletcher32(bytes: Uint8Array): number {
  let sum1 = 0xffff
  let sum2 = 0xffff
  const evenBytes = bytes.length & ~1
  for (let at = 0; at < evenBytes;) {
    const end = Math.min(evenBytes, at + 2 * WORDS_AT_ONCE)
    for (; at < end; at += 2) {
      sum1 += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
      sum2 += sum1
    }
    sum1 = fold(sum1)
    sum2 = fold(sum2)
  }
  if (bytes.length & 1) {
    sum1 += (bytes[evenBytes] ?? 0) << 8
    sum2 += sum1
  }
  sum1 = fold(sum1)
  sum2 = fold(sum2)
  return (((sum2 & 0xffff) << 16) | (sum1 & 0xffff)) >>> 0
}

function fold(sum: number): number {
  return (sum & 0xffff) + (sum >>> 16)
}
