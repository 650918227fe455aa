/**
 * Signed URLs of the embedded store. The signature covers the exact text of path and query as they are sent. A URL has only
 * one valid spelling: another order, another encoding or one more parameter is another text.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ObjectRef } from '#ports/storage.ts'

export const SECRET_BYTES = 32
export const OBJECTS_PATH = '/objects/'
const DOMAIN = 'groundtrack object store 1\n'
const SIGNED_TEXT = /^(\/objects\/([a-z0-9-]+)\/([A-Za-z0-9._/-]+)\?(method=(?:GET|PUT)[\x21-\x7e]*))&signature=([A-Za-z0-9_-]{43})$/

/** What signs URLs, and what is accepted in addition: a secret that was replaced a short time ago. */
export interface StoreSecrets {
  current(): Buffer
  previous(): Buffer | null
  /** Reads them again, because another process may have replaced them. */
  refresh(): Promise<void>
}

/** One secret that is never replaced. */
export const fixedSecret = (secret: Buffer): StoreSecrets => ({ current: () => secret, previous: () => null, refresh: async () => {} })

export interface SignedRequest extends ObjectRef {
  readonly method: 'GET' | 'PUT'
  /** Seconds since 1970. */
  readonly expires: number
  /** PUT: the media type the upload must declare. GET: that of the download; null for the stored one. */
  readonly contentType: string | null
  readonly maxBytes: number | null
  readonly fileName: string | null
  /** GET: the organization to count the bytes for. */
  readonly countFor: string | null
  /** PUT: the part of an upload in parts that the URL accepts; null for a whole object. */
  readonly part: SignedPart | null
}

export interface SignedPart {
  readonly id: string
  readonly number: number
  readonly offset: number
  readonly length: number
}

export interface VerifiedRequest extends SignedRequest {
  /** Identifies the URL in the store's own files without revealing it. */
  readonly id: string
}

export function signRequest(secret: Buffer, signed: SignedRequest): string {
  const query = [
    `method=${signed.method}`,
    `expires=${signed.expires}`,
    ...(signed.contentType === null ? [] : [`type=${encodeURIComponent(signed.contentType)}`]),
    ...(signed.maxBytes === null ? [] : [`max=${signed.maxBytes}`]),
    ...(signed.fileName === null ? [] : [`name=${encodeURIComponent(signed.fileName)}`]),
    ...(signed.countFor === null ? [] : [`for=${encodeURIComponent(signed.countFor)}`]),
    ...(signed.part === null ? [] : [`part=${signed.part.id}.${signed.part.number}.${signed.part.offset}.${signed.part.length}`]),
  ]
  const text = `${OBJECTS_PATH}${signed.bucket}/${signed.key}?${query.join('&')}`
  return `${text}&signature=${signatureOf(secret, text)}`
}

/** The signed request of a raw request target, or null. The caller checks whether it has expired. */
export function verifyRequest(secret: Buffer, target: string): VerifiedRequest | null {
  const [, text, bucket, key, query, given] = SIGNED_TEXT.exec(target) ?? []
  if (text === undefined || !timingSafeEqual(Buffer.from(given!), Buffer.from(signatureOf(secret, text)))) return null
  const fields = new URLSearchParams(query)
  const max = fields.get('max')
  return {
    bucket: bucket!,
    key: key!,
    method: fields.get('method') as SignedRequest['method'],
    expires: Number(fields.get('expires')),
    contentType: fields.get('type'),
    maxBytes: max === null ? null : Number(max),
    fileName: fields.get('name'),
    countFor: fields.get('for'),
    part: partOf(fields.get('part')),
    id: createHash('sha256').update(given!).digest('hex').slice(0, 32),
  }
}

function partOf(text: string | null): SignedPart | null {
  if (text === null) return null
  const [id, ...numbers] = text.split('.')
  const [number, offset, length] = numbers.map(Number) as [number, number, number]
  return { id: id!, number, offset, length }
}

/** Compared as text: base64url has several spellings of the same bytes, and only one is ours. */
function signatureOf(secret: Buffer, text: string): string {
  return createHmac('sha256', secret).update(DOMAIN).update(text).digest('base64url')
}
