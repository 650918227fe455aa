import { randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * UUID version 7: the time leads, so that new rows land at the end of an index. Made here and not in SQL because
 * `uuidv7()` exists in PostgreSQL 18 only, and we run on 15 and newer.
 */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // Version 4 differs in its first half alone: 48 random bits where the time goes, and the digit of the version.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A string that is no UUID names nothing: asking PostgreSQL would be a syntax error instead of "not found". */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** `length` characters, each of log2(62) = 5.95 bits; bytes above the last whole multiple of 62 are drawn again. */
export function randomBase62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && out.length < length) out += BASE62[byte % 62]
    }
  }
  return out
}

/** Six base62 characters that betray a mistyped or truncated secret before the database is asked. */
export function checksumBase62(text: string): string {
  let rest = crc32(text)
  let out = ''
  for (let i = 0; i < 6; i++) {
    out = BASE62[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}
