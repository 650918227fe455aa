/** The headers for parts of an object: Range and If-Range of a download, Content-Range of a resumable upload. */

interface ByteRange {
  readonly first: number
  /** Inclusive, as in the headers. */
  readonly last: number
}

const MAX_RANGE_HEADER_LENGTH = 200

/**
 * RFC 9110, section 14: anything but a single byte range is ignored and the whole object is sent, also for several ranges
 * (multipart responses cost more than they give, and a request for a thousand overlapping ranges is an attack).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = header && header.length <= MAX_RANGE_HEADER_LENGTH ? (/^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? []) : []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return 'whole'
  if (Number(first) >= size) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/** A part is sent only to a client with other parts of the same version: a strong tag, or the same date. */
export function isSameVersion(ifRange: string | undefined, etag: string, lastModified: Date): boolean {
  if (ifRange === undefined) return true
  return ifRange.startsWith('"') ? ifRange === etag : ifRange === lastModified.toUTCString()
}

/** `If-None-Match` and `If-Match`: `*`, or a list of tags. Weak tags match only in the first. */
export function namesTag(header: string, etag: string): boolean {
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

export type ContentRange =
  | { readonly kind: 'question'; readonly total: number }
  | ({ readonly kind: 'piece'; readonly total: number } & ByteRange)

// A chunk, `bytes a-b/total`, or a status query, `bytes */total`. Null: neither.
export function parseContentRange(header: string): ContentRange | null {
  const [, first, last, totalText] = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/.exec(header) ?? []
  if (totalText === undefined) return null
  const total = Number(totalText)
  if (first === undefined || last === undefined) return { kind: 'question', total }
  const isInside = Number(first) <= Number(last) && Number(last) < total
  return isInside ? { kind: 'piece', first: Number(first), last: Number(last), total } : null
}
