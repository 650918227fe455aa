import { displayName, isMediaType } from '#core/file-names.ts'
import { StorageError, type ObjectRef } from '#ports/storage.ts'

const MAX_KEY_LENGTH = 900
const MAX_SEGMENT_LENGTH = 200
const MAX_SEGMENTS = 16

const BUCKET = /^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/
const SEGMENT = /^[A-Za-z0-9._-]+$/

function isBucket(bucket: string): boolean {
  return BUCKET.test(bucket)
}

/** Segments of letters, digits, '.', '_' and '-': valid on every file system, in URLs and in S3 without encoding. */
export function isKey(key: string): boolean {
  if (key.length > MAX_KEY_LENGTH) return false
  const segments = key.split('/')
  return (
    segments.length <= MAX_SEGMENTS &&
    segments.every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..' && segment.length <= MAX_SEGMENT_LENGTH)
  )
}

export function checkBucket(bucket: string): void {
  if (!isBucket(bucket)) throw new StorageError('invalid-name', 'A bucket name must have 3 to 63 lower-case letters, digits and hyphens')
}

export function checkRef({ bucket, key }: ObjectRef): void {
  checkBucket(bucket)
  if (!isKey(key)) throw new StorageError('invalid-name', "An object key must consist of segments of letters, digits, '.', '_' and '-'")
}

/** A prefix is the beginning of a key; it can end within a segment or with a slash. */
export function checkPrefix(prefix: string): void {
  if (prefix !== '' && !isKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix))
    throw new StorageError('invalid-name', 'Invalid key prefix')
}

export function checkContentType(contentType: string): void {
  if (!isMediaType(contentType)) throw new StorageError('invalid-name', 'Invalid media type')
}

/**
 * RFC 6266: an ASCII name for old clients, and the original one in the encoding of RFC 5987. Always an attachment, so that no
 * user file runs as a page.
 */
export function contentDisposition(fileName: string | null): string {
  if (fileName === null) return 'attachment'
  const name = displayName(fileName)
  const ascii = name.replaceAll(/[^\x20-\x7e]|[\\%]/gu, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return ascii === name ? `attachment; filename="${ascii}"` : `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
