import { randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * UUID version 7: it starts with the time, so that new rows go to the end of an index. Created here because `uuidv7()` exists only in
 * PostgreSQL 18, and we support 15 and newer.
 */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // Version 4 only differs in its first half: 48 random bits instead of the time, and the version digit.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
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
