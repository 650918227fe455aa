import { randomBytes, randomFillSync } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const ID_BYTES = 16
/** Random bytes for many IDs at once, because a small request costs as much as a large one. No byte is used twice. */
const randomness = Buffer.alloc(ID_BYTES * 256)
let drawn = randomness.length

/**
 * UUID version 7: it starts with the time, so that new rows go to the end of an index. Created here because `uuidv7()` exists only in
 * PostgreSQL 18, and we support 15 and newer.
 */
export function newId(): string {
  if (drawn === randomness.length) {
    randomFillSync(randomness)
    drawn = 0
  }
  const bytes = randomness.subarray(drawn, (drawn += ID_BYTES))
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Check first: for a string that is not a UUID, PostgreSQL would report a syntax error instead of "not found". */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** `length` characters of log2(62) = 5.95 bits each; bytes above the last multiple of 62 are discarded to avoid bias. */
export function randomBase62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && out.length < length) out += BASE62[byte % 62]
    }
  }
  return out
}

/** Six base62 characters that reveal a mistyped or truncated secret without a database query. */
export function checksumBase62(text: string): string {
  let rest = crc32(text)
  let out = ''
  for (let i = 0; i < 6; i++) {
    out = BASE62[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}
