/** The object store: files under DATA_DIR or an S3-compatible service. */
import { DAY_MS } from '#core/time.ts'
import type { Readable } from 'node:stream'

/** Bucket and key of an object. The server generates both, by the patterns of `keys.ts`; they never contain names from a request. */
export interface ObjectRef {
  readonly bucket: string
  readonly key: string
}

export interface ObjectInfo {
  readonly size: number
  /** Strong entity tag in double quotes: it changes whenever the bytes do. */
  readonly etag: string
  /** In hexadecimal; null if the store does not know it. */
  readonly sha256: string | null
  readonly contentType: string
  readonly lastModified: Date
}

export interface ListedObject {
  readonly key: string
  readonly size: number
}

/** `next` is the cursor of the following page; null on the last page. */
export interface Page {
  readonly objects: readonly ListedObject[]
  readonly next: string | null
}

/** Bytes in memory, a stream of bytes, or a local file. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array> | { readonly path: string }

export interface PutOptions {
  readonly contentType: string
  /** A larger body is rejected while it is read, and nothing is stored. */
  readonly maxBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called from time to time with the number of bytes written. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

export interface PutResult {
  readonly size: number
  readonly etag: string
  /** SHA-256 of the bytes written, in hexadecimal. */
  readonly sha256: string
}

export interface ReadOptions {
  readonly offset?: number
  /** Defaults to the rest of the object. */
  readonly length?: number
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions {
  readonly prefix?: string
  readonly cursor?: string | null
  /** Maximum and default: 1,000. */
  readonly limit?: number
  readonly signal?: AbortSignal | undefined
}

export interface SignPut extends ObjectRef {
  /** The upload must have exactly this Content-Type. */
  readonly contentType: string
  /** Enforced by the embedded store. A presigned S3 PUT has no size limit, so always measure the object afterwards. */
  readonly maxBytes?: number
  /** Upload file ID whose session has reserved the storage, for stores that check the quota themselves. */
  readonly countFor?: string
  readonly expiresInSeconds: number
}

export interface SignGet extends ObjectRef {
  /** File name for browsers that download it. */
  readonly fileName?: string
  /** Replaces the stored content type. */
  readonly contentType?: string
  /** Organization ID that the bytes count for, for stores that count egress themselves. */
  readonly countFor?: string
  /** For a process of the platform, which reaches the store at the address that the platform uses itself. */
  readonly isInternal?: boolean
  readonly expiresInSeconds: number
}

/** Random access to one version of an object. Matches the raster library's `Source`, plus the path of the local file, if any. */
export interface ObjectSource {
  /** Cache key that identifies the content. */
  readonly key: string
  readonly size: number
  readonly etag: string
  /** A file that a child process can open. It never changes: a replaced object gets a new file. */
  readonly path: string | null
  /** Returns exactly `length` bytes or throws a StorageError: never a short read, never bytes of a later version. */
  fetch(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  close(): Promise<void>
}

/** Counts downloaded bytes for the organization whose URL was used. */
export interface EgressMeter {
  /** Throws 429 while the organization's download quota is used up. */
  admit(organizationId: string): Promise<void>
  count(organizationId: string, bytes: number): void
}

/** Called before a body is read: 402 if it does not fit the storage quota. */
export interface UploadQuota {
  reserve(uploadFileId: string, bytes: number): Promise<void>
}

/** An upload in parts. All parts have `partBytes`, except the last. */
export interface MultipartUpload extends ObjectRef {
  readonly id: string
  readonly partBytes: number
  readonly totalBytes: number
  /** Whether the store knows the MD5 of each part. */
  readonly hasMd5: boolean
  readonly contentType: string
}

/** A part that has arrived completely. */
export interface ReceivedPart {
  /** From 1. */
  readonly number: number
  /** In hexadecimal; null if the store does not know it. */
  readonly md5: string | null
}

interface SignPart extends ObjectRef {
  readonly id: string
  /** From 1. */
  readonly number: number
  readonly partBytes: number
  readonly totalBytes: number
  readonly expiresInSeconds: number
}

/** As in S3. */
export const MAX_PARTS = 10_000
export const MAX_OBJECT_BYTES = 5 * 2 ** 40
const MIB = 2 ** 20
const MIN_PART_BYTES = 16 * MIB

/** Part size for a file of this size: whole MiB, so that even the largest has at most `MAX_PARTS`. */
export const partBytesFor = (totalBytes: number): number => Math.max(MIN_PART_BYTES, Math.ceil(totalBytes / MAX_PARTS / MIB) * MIB)

/** The bytes of one part. */
export function partRange({ number, partBytes, totalBytes }: Pick<SignPart, 'number' | 'partBytes' | 'totalBytes'>): {
  offset: number
  length: number
} {
  const offset = (number - 1) * partBytes
  return { offset, length: Math.min(partBytes, totalBytes - offset) }
}

/** Uploads of large files in parts, each with its own signed URL, in any order. A part that is sent again replaces the former. */
export interface MultipartUploads {
  /** Returns the ID of the new upload, and whether `parts` will know the MD5 of what arrives. */
  create(at: ObjectRef, contentType: string): Promise<{ id: string; hasMd5: boolean }>
  /** Parts that have arrived with the right length, by number; null if the upload has ended. */
  parts(upload: MultipartUpload, signal?: AbortSignal): Promise<ReceivedPart[] | null>
  /** Signs the URL of one part. The store compares the body with `Content-MD5`, if that is sent. */
  signPart(part: SignPart): Promise<string>
  /** Creates the object from its parts; `not-found` while bytes are missing. Does nothing if the upload has ended. */
  complete(upload: MultipartUpload, signal?: AbortSignal): Promise<void>
  /** Discards the received parts. Does nothing if the upload has ended. */
  abort(upload: ObjectRef & { readonly id: string }): Promise<void>
}

/** A download that was answered, as the store has logged it. */
export interface LoggedDownload {
  /** As signed: `countFor` of the URL. */
  readonly organizationId: string
  readonly at: Date
  readonly bytes: number
}

/** Logs of the store's requests. Their names begin with `prefix` and sort by the time of delivery. */
export interface AccessLogs {
  readonly prefix: string
  /** What the name of a log that is delivered now begins with. */
  nameAt(time: Date): string
  /** When a log was delivered; null if this is not the name of one. */
  timeOf(name: string): Date | null
  list(after: string, limit: number, signal: AbortSignal): Promise<string[]>
  /** Downloads by URLs that were signed with `countFor`. */
  downloads(name: string, signal: AbortSignal): AsyncIterable<LoggedDownload>
}

export interface Storage {
  readonly kind: 'files' | 's3'
  /** Whether the bytes of each signed download are counted later; otherwise the object's size is counted when its URL is signed. */
  readonly countsEgress: boolean
  /** Logs from which downloads are counted, for stores that count none themselves; null if there are none. */
  readonly accessLogs: AccessLogs | null
  /** Whether a URL belongs to this store, where only signed URLs give access. */
  owns(url: URL): boolean
  /** Does nothing if the bucket exists. */
  createBucket(bucket: string): Promise<void>
  /** Deletes a bucket with all its objects. Does nothing if it does not exist. */
  deleteBucket(bucket: string, signal?: AbortSignal): Promise<void>
  /** Atomic: readers see the previous object until the new one is complete and on disk. */
  put(at: ObjectRef, body: ObjectBody, options: PutOptions): Promise<PutResult>
  /** The caller must read the stream to its end or destroy it. */
  read(at: ObjectRef, options?: ReadOptions): Promise<Readable>
  stat(at: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo | null>
  /** In byte order of the keys. */
  list(bucket: string, options?: ListOptions): Promise<Page>
  /** Does nothing if the object does not exist. */
  remove(at: ObjectRef): Promise<void>
  copy(from: ObjectRef, to: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo>
  signPut(request: SignPut): Promise<string>
  readonly multipart: MultipartUploads
  signGet(request: SignGet): Promise<string>
  source(at: ObjectRef, signal?: AbortSignal): Promise<ObjectSource>
  /** Removes files of writes that were interrupted a day ago or earlier; returns how many. */
  sweep(signal?: AbortSignal): Promise<number>
  /** The object's URI in the store (`s3://…`, `store://…`), for display. It reveals no local path and gives no access. */
  uriOf(at: ObjectRef): string
  /** Rejects if the store does not respond. */
  probe(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

type StorageErrorCode = 'not-found' | 'invalid-name' | 'invalid-range' | 'too-large' | 'changed' | 'damaged' | 'full' | 'unavailable'

/** An expected failure of any store. Any other error is a bug. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export const LIST_PAGE_SIZE = 1_000
/** The maximum idle time of an upload session. */
export const STALE_AFTER_MS = DAY_MS
/** The longest that S3 allows; most signed URLs are valid for minutes. */
export const MAX_SIGNED_SECONDS = 7 * 24 * 3_600

export const objectMissing = (options?: ErrorOptions): StorageError => new StorageError('not-found', 'The object does not exist', options)

/** Validates a byte range against the object's size, for every reader of both stores. */
export function checkedRange(size: number, options: ReadOptions = {}): { offset: number; length: number } {
  const offset = options.offset ?? 0
  const length = options.length ?? size - offset
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0 || offset + length > size) {
    throw new StorageError('invalid-range', `Bytes ${offset} to ${offset + length} are outside the object, which has ${size} bytes`)
  }
  return { offset, length }
}

export function checkedSeconds(seconds: number): number {
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_SIGNED_SECONDS)
    throw new RangeError(`A signed URL is valid for 1 to ${MAX_SIGNED_SECONDS} seconds, not ${seconds}`)
  return seconds
}
