/** The object store as the platform sees it: one small interface, kept by files under DATA_DIR or by an S3-compatible service. */
import { DAY_MS } from '#core/time.ts'
import type { Readable } from 'node:stream'

/** Where an object lives. Both parts are made by the server and follow the patterns of `keys.ts`; a name from outside never becomes one. */
export interface ObjectRef {
  readonly bucket: string
  readonly key: string
}

export interface ObjectInfo {
  readonly size: number
  /** Strong validator in double quotes: other bytes, other tag. */
  readonly etag: string
  /** In hexadecimal, where the store knows it. */
  readonly sha256: string | null
  readonly contentType: string
  readonly lastModified: Date
}

export interface ListedObject {
  readonly key: string
  readonly size: number
}

/** `next` is given back as the cursor of the following page; null after the last one. */
export interface Page {
  readonly objects: readonly ListedObject[]
  readonly next: string | null
}

/** Bytes in memory, bytes as they come, or a file that is already on this machine. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array> | { readonly path: string }

export interface PutOptions {
  readonly contentType: string
  /** More than this is refused while it is read, and nothing is kept. */
  readonly maxBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Told now and then how many bytes the store has taken. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

export interface PutResult {
  readonly size: number
  readonly etag: string
  /** Of the bytes that were written, in hexadecimal. */
  readonly sha256: string
}

export interface ReadOptions {
  readonly offset?: number
  /** To the end by default. */
  readonly length?: number
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions {
  readonly prefix?: string
  readonly cursor?: string | null
  /** At most 1,000, which is also the default. */
  readonly limit?: number
  readonly signal?: AbortSignal | undefined
}

export interface SignPut extends ObjectRef {
  /** The upload must carry exactly this Content-Type. */
  readonly contentType: string
  /** The embedded store refuses more. A presigned S3 PUT cannot bound its length: measure the object afterwards in any case. */
  readonly maxBytes?: number
  /** The file of an upload session that holds room for what is sent, where the store asks for it. */
  readonly countFor?: string
  readonly expiresInSeconds: number
}

export interface SignGet extends ObjectRef {
  /** What a browser calls the downloaded file. */
  readonly fileName?: string
  /** Instead of the stored type. */
  readonly contentType?: string
  /** The organization that the bytes count for, where the store counts them itself. */
  readonly countFor?: string
  readonly expiresInSeconds: number
}

/** Random access to one version of an object: the shape of the raster library's `Source`, and the local file behind it, if any. */
export interface ObjectSource {
  /** Identity of the content for caches. */
  readonly key: string
  readonly size: number
  readonly etag: string
  /** A file that a child process may open. It never changes: a replaced object gets another file. */
  readonly path: string | null
  /** Exactly `length` bytes, or a StorageError: never a short read, never bytes of a later version. */
  fetch(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  close(): Promise<void>
}

/** Counts what leaves, for whom it was signed. */
export interface EgressMeter {
  /** Throws 429 while the organization may take nothing out. */
  admit(organizationId: string): Promise<void>
  count(organizationId: string, bytes: number): void
}

/** Asked before a body is taken in: 402 where there is no room for it. */
export interface UploadQuota {
  reserve(uploadFileId: string, bytes: number): Promise<void>
}

/** A large file on its way: the upload that its parts belong to, the length of each part but the last, and that of the file. */
export interface PartUpload extends ObjectRef {
  readonly id: string
  readonly partBytes: number
  readonly totalBytes: number
}

/** Files that come in parts, each to an address of its own, and become an object together. */
export interface PartUploads {
  /** How long the parts of a file are, but the last. */
  partBytes(totalBytes: number): number
  /** The id of a new upload. */
  begin(at: ObjectRef, contentType: string): Promise<string>
  /** Bytes that have arrived from the first on without a gap; null: the upload has ended. */
  arrived(upload: PartUpload, signal?: AbortSignal): Promise<number | null>
  /** An address for one part; parts are counted from 1. */
  sign(wanted: ObjectRef & { readonly id: string; readonly number: number; readonly expiresInSeconds: number }): Promise<string>
  /** Makes the object; `not-found` while bytes are missing. An upload that has ended is left as it is. */
  finish(upload: PartUpload, signal?: AbortSignal): Promise<void>
  /** Drops what has arrived. An upload that has ended is no error. */
  abandon(upload: ObjectRef & { readonly id: string }): Promise<void>
}

export interface Storage {
  readonly kind: 'files' | 's3'
  /** Whether the bytes of each response of a signed download are counted by the store; if not, the declared size is when it is signed. */
  readonly countsEgress: boolean
  /** Whether an address is at this store: only what it has signed opens anything there. */
  owns(address: URL): boolean
  /** Making a bucket that exists is no error. */
  createBucket(bucket: string): Promise<void>
  /** With everything in it; a bucket that is gone is no error. */
  deleteBucket(bucket: string, signal?: AbortSignal): Promise<void>
  /** Whole or not at all: readers see the former object until the new one is complete and on disk. */
  put(at: ObjectRef, body: ObjectBody, options: PutOptions): Promise<PutResult>
  /** The stream must be read to its end or destroyed. */
  read(at: ObjectRef, options?: ReadOptions): Promise<Readable>
  stat(at: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo | null>
  /** In the order of the keys' bytes. */
  list(bucket: string, options?: ListOptions): Promise<Page>
  /** Removing what is gone is no error. */
  remove(at: ObjectRef): Promise<void>
  copy(from: ObjectRef, to: ObjectRef, signal?: AbortSignal): Promise<ObjectInfo>
  signPut(wanted: SignPut): Promise<string>
  /** Null where one address takes a file in pieces. */
  readonly parts: PartUploads | null
  signGet(wanted: SignGet): Promise<string>
  source(at: ObjectRef, signal?: AbortSignal): Promise<ObjectSource>
  /** Removes what writers that broke off left behind a day ago or earlier, and says how many pieces it was. */
  sweep(signal?: AbortSignal): Promise<number>
  /** The object's path in the configured store, for people (`s3://…`, `store://…`). It tells nothing of this machine and opens nothing. */
  address(at: ObjectRef): string
  close(): Promise<void>
}

type StorageErrorCode = 'not-found' | 'invalid-name' | 'invalid-range' | 'too-large' | 'changed' | 'damaged' | 'full' | 'unavailable'

/** What can go wrong in a store, whichever it is. Anything else that is thrown is a fault. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export const LIST_PAGE_SIZE = 1_000
/** As long as an upload session may sleep. */
export const STALE_AFTER_MS = DAY_MS
/** Signed addresses live minutes; a week is what S3 allows at most. */
const MAX_SIGNED_SECONDS = 7 * 24 * 3_600

export const objectMissing = (options?: ErrorOptions): StorageError => new StorageError('not-found', 'There is no such object', options)

/** The bytes asked for, checked against the object: the same rule for every reader of both stores. */
export function checkedRange(size: number, options: ReadOptions = {}): { offset: number; length: number } {
  const offset = options.offset ?? 0
  const length = options.length ?? size - offset
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0 || offset + length > size) {
    throw new StorageError('invalid-range', `Bytes ${offset} to ${offset + length} leave the object of ${size} bytes`)
  }
  return { offset, length }
}

export function checkedSeconds(seconds: number): number {
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_SIGNED_SECONDS)
    throw new RangeError(`A signed address lives 1 to ${MAX_SIGNED_SECONDS} seconds, not ${seconds}`)
  return seconds
}
