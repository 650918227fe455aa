/** Uploads files: opens a session, sends each file directly to the object store in chunks, and completes the session. */
import type { Caller, CallOptions } from './client.ts'
import { delayMs, pause } from './retry.ts'
import { PARTS_FROM_BYTES, sendParts } from './upload-parts.ts'
import { isExpired, isTransient, put, type Source } from './upload-put.ts'

/** A file of any size whose ranges are read as they are sent; `openFile` of `@groundtrack/client/node` makes one. */
export interface FileRanges {
  readonly size: number
  /** All bytes from one offset to before another. */
  read(from: number, to: number): Promise<Uint8Array>
}

export interface FileToUpload {
  name: string
  /** A stream without `size` is first read into memory. */
  data: Blob | Uint8Array | FileRanges | ReadableStream<Uint8Array>
  size?: number | undefined
  /** Media type; default `image/tiff`. */
  type?: string | undefined
}

export interface UploadProgress {
  readonly file: string
  readonly fileIndex: number
  readonly fileCount: number
  /** Of all files. */
  readonly sentBytes: number
  readonly totalBytes: number
}

/** What is needed to resume later, also in another process: plain JSON. */
export interface UploadState {
  uploadId: string
  /** Names of the uploaded files. */
  done: string[]
}

/** The position of an image that has none: its bounds, or ground control points in pixels and coordinates. */
export interface FilePosition {
  /** Optional if only one file is uploaded. */
  file_name?: string | undefined
  /** An EPSG code, such as `EPSG:32633`. Without bounds and GCPs, the file's own transform is read in this CRS. */
  crs: string
  /** Left, bottom, right, top. */
  bounds?: readonly number[] | undefined
  gcps?: readonly { column: number; row: number; x: number; y: number }[] | undefined
}

/** Where the files go. */
export interface UploadTarget {
  projectId: string
  collectionId?: string | null | undefined
  /** Adds the files to an item as assets instead of creating items. */
  itemId?: string | null | undefined
  assetKey?: string | undefined
  /** Pixel values are class codes: never stretched or interpolated. */
  categorical?: boolean | undefined
}

export interface UploadOptions extends UploadTarget {
  files: readonly (File | FileToUpload)[]
  /** Makes one item of the files, which have one band each; otherwise each file becomes an item. */
  asOneItem?: boolean | undefined
  /** Replace the positions in the files. A file without one fails with `position-required` but is kept: resume with a position. */
  positions?: readonly FilePosition[] | undefined
  /** The state of an interrupted upload of the same files. */
  resume?: UploadState | undefined
  onProgress?: ((progress: UploadProgress) => void) | undefined
  /** Called after each step, so that you can save the state. */
  onState?: ((state: UploadState) => void) | undefined
  /** Size of one request. By default 8 MiB, and files of more than 32 MiB are sent in larger parts, several at a time. */
  chunkBytes?: number | undefined
  signal?: AbortSignal | undefined
}

export interface Uploaded {
  id: string
  item_ids: string[]
}

/** The upload was interrupted; pass `state` to the next attempt as `resume`. */
export class UploadError extends Error {
  override readonly name = 'UploadError'
  readonly state: UploadState

  constructor(file: string, state: UploadState, cause: unknown) {
    super(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.state = state
  }
}

const CHUNK_BYTES = 8 * 1024 * 1024
const COMPLETE_TIMEOUT_MS = 120_000
/** Object stores join the parts of a file at least so fast. */
const JOINED_BYTES_PER_MS = 20_000
/** Consecutive failures without progress. With backoff this takes more than a minute. */
const MAX_FAILURES = 8

export async function upload(client: Caller, options: UploadOptions): Promise<Uploaded> {
  const { signal } = options
  const call: CallOptions = signal ? { signal } : {}
  const sources = await Promise.all(options.files.map(sourceOf))
  const totalBytes = sources.reduce((sum, { size }) => sum + size, 0)
  const state = options.resume ? structuredClone(options.resume) : { uploadId: await openUpload(client, options, sources, call), done: [] }
  options.onState?.(state)
  let before = 0
  for (const [fileIndex, source] of sources.entries()) {
    const report = (sent: number) =>
      options.onProgress?.({ file: source.name, fileIndex, fileCount: sources.length, sentBytes: before + sent, totalBytes })
    if (!state.done.includes(source.name)) {
      try {
        await sendFile(client, source, { state, options, call, report })
      } catch (error) {
        if (signal?.aborted) throw error
        throw new UploadError(source.name, state, error)
      }
      state.done.push(source.name)
      options.onState?.(state)
    }
    before += source.size
    report(0)
  }
  const input = {
    upload_id: state.uploadId,
    ...(options.positions?.length ? { positions: options.positions } : {}),
    ...(options.asOneItem ? { as_one_item: true } : {}),
  }
  const timeoutMs = COMPLETE_TIMEOUT_MS + totalBytes / JOINED_BYTES_PER_MS
  return await client.call<Uploaded>('uploads.complete', input, { ...call, timeoutMs }, 'read')
}

/** Opens an upload session and returns its ID. `upload` does this unless it resumes a session. */
export async function openUpload(
  client: Caller,
  target: UploadTarget,
  files: readonly { size: number }[],
  call: CallOptions = {},
): Promise<string> {
  const { id } = await client.call<{ id: string }>(
    'uploads.initiate',
    {
      project_id: target.projectId,
      transfer_method: 'signed_url',
      file_count: files.length,
      total_bytes: files.reduce((sum, { size }) => sum + size, 0),
      ...(target.collectionId ? { target_collection_id: target.collectionId } : {}),
      ...(target.itemId ? { target_item_id: target.itemId } : {}),
      ...(target.assetKey ? { asset_key: target.assetKey } : {}),
      ...(target.categorical ? { is_categorical: true } : {}),
    },
    call,
  )
  return id
}

/** Ends an upload session that will not be completed and releases its storage reservation. */
export async function abandonUpload(client: Caller, uploadId: string): Promise<void> {
  await client.call('uploads.fail', { upload_id: uploadId, error_message: 'Cancelled by the user' })
}

interface Transfer {
  state: UploadState
  options: UploadOptions
  call: CallOptions
  report: (sentBytes: number) => void
}

/** A signed URL that takes the file in chunks, or exactly `part` of it. */
interface UploadUrl {
  upload_url: string
  part?: { offset: number; length: number } | undefined
}

/**
 * Uploads one file, however long it takes. Each attempt requests a new URL, because the last one may have expired, and resumes at
 * the store's offset. Only failures without progress count.
 */
async function sendFile(client: Caller, source: Source, transfer: Transfer): Promise<void> {
  const { options, report } = transfer
  let mayHaveStarted = options.resume !== undefined
  let sent = 0
  let failures = 0
  const isLarge = source.isSeekable && source.size > PARTS_FROM_BYTES && options.chunkBytes === undefined
  const comparison = options.resume ? { done: new Set<number>(), isComplete: false } : null
  const moved = (offset: number) => {
    if (offset > sent) failures = 0
    sent = offset
    report(offset)
  }
  for (;;) {
    try {
      if (isLarge) {
        const { state, call } = transfer
        return await sendParts(client, source, { uploadId: state.uploadId, call, signal: options.signal, moved, comparison })
      }
      const target = await uploadUrl(client, source, transfer)
      const end = target.part ? await sendPart(target.upload_url, target.part, source, options) : null
      if (end !== null) moved(end)
      else await sendChunks(target.upload_url, source, { options, moved, mayHaveStarted })
      if (sent >= source.size) return
    } catch (error) {
      if (options.signal?.aborted || !isTransient(error) || failures >= MAX_FAILURES) throw error
      const wait = isExpired(error) && failures === 0 ? 0 : delayMs(failures, null)
      failures++
      await pause(wait, options.signal)
    }
    mayHaveStarted = true
  }
}

async function uploadUrl(client: Caller, { name, type, size }: Source, { state, call }: Transfer): Promise<UploadUrl> {
  const input = { upload_id: state.uploadId, file_name: name, content_type: type, size_bytes: size }
  return await client.call<UploadUrl>('uploads.signed_url', input, call, 'read')
}

/** Each part has its own URL; the next response gives the next part. */
async function sendPart(url: string, { offset, length }: { offset: number; length: number }, source: Source, options: UploadOptions) {
  if (length > 0 || source.size === 0) await put(url, source, {}, await source.read(offset, offset + length), options.signal)
  return offset + length
}

interface ChunkOptions {
  options: UploadOptions
  moved: (offset: number) => void
  mayHaveStarted: boolean
}

async function sendChunks(url: string, source: Source, { options, moved, mayHaveStarted }: ChunkOptions): Promise<void> {
  const chunkBytes = options.chunkBytes ?? CHUNK_BYTES
  let offset = mayHaveStarted ? await currentOffset(url, source, options.signal) : 0
  moved(offset)
  if (source.size <= chunkBytes && offset === 0) {
    await put(url, source, {}, await source.read(0, source.size), options.signal)
    return moved(source.size)
  }
  while (offset < source.size) {
    const end = Math.min(source.size, offset + chunkBytes)
    const range = { 'content-range': `bytes ${offset}-${end - 1}/${source.size}` }
    const response = await put(url, source, range, await source.read(offset, end), options.signal)
    offset = response.status === 308 ? offsetOf(response, end) : source.size
    moved(offset)
  }
}

/** The offset that a chunked upload has reached. */
async function currentOffset(url: string, source: Source, signal: AbortSignal | undefined): Promise<number> {
  const response = await put(url, source, { 'content-range': `bytes */${source.size}` }, new Uint8Array(0), signal)
  return response.status === 308 ? offsetOf(response, 0) : source.size
}

const offsetOf = (response: Response, fallback: number) => Number(response.headers.get('upload-offset') ?? fallback)

async function sourceOf(file: File | FileToUpload): Promise<Source> {
  const { name } = file
  if (!('data' in file))
    return { name, size: file.size, type: file.type || 'image/tiff', isSeekable: true, read: async (from, to) => file.slice(from, to) }
  const type = file.type ?? 'image/tiff'
  const { data } = file
  if (data instanceof Blob) return { name, size: data.size, type, isSeekable: true, read: async (from, to) => data.slice(from, to) }
  if (data instanceof Uint8Array)
    return { name, size: data.length, type, isSeekable: true, read: async (from, to) => data.subarray(from, to) }
  if ('read' in data) return { name, size: data.size, type, isSeekable: true, read: async (from, to) => await data.read(from, to) }
  if (file.size !== undefined) return { name, size: file.size, type, isSeekable: false, read: streamReader(data) }
  const blob = await new Response(data).blob()
  return { name, size: blob.size, type, isSeekable: true, read: async (from, to) => blob.slice(from, to) }
}

/** Reads a stream forward. The last chunk is kept, because it may have to be sent again. */
function streamReader(stream: ReadableStream<Uint8Array>): Source['read'] {
  const reader = stream.getReader()
  let kept: Uint8Array[] = []
  let keptFrom = 0
  let keptTo = 0
  const dropBefore = (from: number) => {
    while (kept.length > 0 && keptFrom + kept[0]!.length <= from) keptFrom += kept.shift()!.length
  }
  return async (from, to) => {
    if (from < keptFrom) throw new Error('A stream cannot be read twice; pass a file or Blob so that the upload can be retried')
    dropBefore(from)
    while (keptTo < to) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`The stream ended after ${keptTo} bytes`)
      kept.push(value)
      keptTo += value.length
      dropBefore(from)
    }
    return new Blob(kept as Uint8Array<ArrayBuffer>[]).slice(from - keptFrom, to - keptFrom)
  }
}
