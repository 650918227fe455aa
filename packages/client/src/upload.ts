/** Files to items: a session, the bytes of each file straight to the store in pieces, and completion. */
import type { Caller, CallOptions } from './client.ts'
import { timeIsUp } from './deadline.ts'
import { AbortError, ConnectionError, problemOf, ProblemError } from './problem.ts'
import { delayMs, pause } from './retry.ts'

export interface FileToUpload {
  name: string
  /** A stream needs `size`, or it is collected in memory first. */
  data: Blob | Uint8Array | ReadableStream<Uint8Array>
  size?: number | undefined
  /** The media type; `image/tiff` unless told. */
  type?: string | undefined
}

export interface UploadProgress {
  readonly file: string
  readonly fileIndex: number
  readonly fileCount: number
  /** Of all files together. */
  readonly sentBytes: number
  readonly totalBytes: number
}

/** What is needed to go on later, in another process too: plain JSON. */
export interface UploadState {
  uploadId: string
  /** The names of the files that have arrived. */
  done: string[]
}

/** Where an image lies that does not say so itself: the edges of the image, or control points in pixels and coordinates. */
export interface FilePosition {
  /** Can be left out where one file is uploaded. */
  file_name?: string | undefined
  /** An EPSG code, such as `EPSG:32633`. With it alone, the transform of the file is read in that system. */
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
  /** A position replaces what the file says. A file that needs one is refused with `position-required`, and kept: resume with it. */
  positions?: readonly FilePosition[] | undefined
  /** The state of an upload that broke off, with the same files. */
  resume?: UploadState | undefined
  onProgress?: ((progress: UploadProgress) => void) | undefined
  /** Told after each step, to keep it in case this process ends. */
  onState?: ((state: UploadState) => void) | undefined
  /** Bytes of one request; 8 MiB. */
  pieceBytes?: number | undefined
  signal?: AbortSignal | undefined
}

export interface Uploaded {
  id: string
  item_ids: string[]
}

/** Broke off, and can go on: hand `state` to the next try as `resume`. */
export class UploadError extends Error {
  override readonly name = 'UploadError'
  readonly state: UploadState

  constructor(file: string, state: UploadState, cause: unknown) {
    super(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.state = state
  }
}

const PIECE_BYTES = 8 * 1024 * 1024
/** Failures in a row, none of which moved the file on. With their pauses that is more than a minute. */
const MAX_FAILURES = 8
/** A connection that hangs ends by itself only after many minutes. */
const PIECE_TIMEOUT_MS = 300_000

interface Source {
  name: string
  size: number
  type: string
  /** Bytes of a range; a stream can only go forward. */
  read(from: number, to: number): Promise<Uint8Array | Blob>
}

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
  const input = { upload_id: state.uploadId, ...(options.positions?.length ? { positions: options.positions } : {}) }
  return await client.call<Uploaded>('uploads.complete', input, call, 'read')
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

interface Work {
  state: UploadState
  options: UploadOptions
  call: CallOptions
  report: (sentBytes: number) => void
}

/** Where bytes go: to an address that takes the file in pieces, or to one that takes exactly `part`. */
interface Address {
  upload_url: string
  part?: { offset: number; length: number } | undefined
}

/**
 * One file, however long it takes. Each attempt asks for a new address, because the last may have expired or lead to a network
 * that is gone, and goes on from the byte that the store has reached. Only failures without progress count.
 */
async function sendFile(client: Caller, source: Source, work: Work): Promise<void> {
  const { options, report } = work
  let mayHaveBegun = options.resume !== undefined
  let sent = 0
  let failures = 0
  const moved = (offset: number) => {
    if (offset > sent) failures = 0
    sent = offset
    report(offset)
  }
  for (;;) {
    try {
      const address = await addressOf(client, source, work)
      const end = address.part ? await sendPart(address.upload_url, address.part, source, options) : null
      if (end !== null) moved(end)
      else await sendPieces(address.upload_url, source, { options, moved, mayHaveBegun })
      if (sent >= source.size) return
    } catch (error) {
      if (options.signal?.aborted || !isPassing(error) || failures >= MAX_FAILURES) throw error
      const wait = isExpired(error) && failures === 0 ? 0 : delayMs(failures, null)
      failures++
      await pause(wait, options.signal)
    }
    mayHaveBegun = true
  }
}

async function addressOf(client: Caller, { name, type, size }: Source, { state, call }: Work): Promise<Address> {
  const input = { upload_id: state.uploadId, file_name: name, content_type: type, size_bytes: size }
  return await client.call<Address>('uploads.signed_url', input, call, 'read')
}

/** Each part has an address of its own, and the next answer says where to go on. */
async function sendPart(url: string, { offset, length }: { offset: number; length: number }, source: Source, options: UploadOptions) {
  if (length > 0 || source.size === 0) await put(url, source, {}, await source.read(offset, offset + length), options.signal)
  return offset + length
}

interface Pieces {
  options: UploadOptions
  moved: (offset: number) => void
  mayHaveBegun: boolean
}

async function sendPieces(url: string, source: Source, { options, moved, mayHaveBegun }: Pieces): Promise<void> {
  const pieceBytes = options.pieceBytes ?? PIECE_BYTES
  let offset = mayHaveBegun ? await reached(url, source, options.signal) : 0
  moved(offset)
  if (source.size <= pieceBytes && offset === 0) {
    await put(url, source, {}, await source.read(0, source.size), options.signal)
    return moved(source.size)
  }
  while (offset < source.size) {
    const end = Math.min(source.size, offset + pieceBytes)
    const range = { 'content-range': `bytes ${offset}-${end - 1}/${source.size}` }
    const response = await put(url, source, range, await source.read(offset, end), options.signal)
    offset = response.status === 308 ? offsetOf(response, end) : source.size
    moved(offset)
  }
}

/** How far an upload in pieces got. */
async function reached(url: string, source: Source, signal: AbortSignal | undefined): Promise<number> {
  const response = await put(url, source, { 'content-range': `bytes */${source.size}` }, new Uint8Array(0), signal)
  return response.status === 308 ? offsetOf(response, 0) : source.size
}

const offsetOf = (response: Response, otherwise: number) => Number(response.headers.get('upload-offset') ?? otherwise)

async function put(
  url: string,
  { name, type }: Source,
  headers: Record<string, string>,
  body: Uint8Array | Blob,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const operation = `PUT ${name}`
  const clock = new AbortController()
  const timer = setTimeout(() => clock.abort(timeIsUp()), PIECE_TIMEOUT_MS)
  try {
    const response = await globalThis.fetch(url, {
      method: 'PUT',
      headers: { 'content-type': type, ...headers },
      body: body as Uint8Array<ArrayBuffer> | Blob,
      signal: signal ? AbortSignal.any([signal, clock.signal]) : clock.signal,
    })
    if (response.ok || response.status === 308) return response
    throw await problemOf(response, operation, null)
  } catch (error) {
    if (signal?.aborted) throw new AbortError(operation, signal.reason)
    if (error instanceof ProblemError) throw error
    throw new ConnectionError(operation, null, error)
  } finally {
    clearTimeout(timer)
  }
}

/** An address that is over: ours says so as a problem, S3 answers 403 in XML. */
const isExpired = (error: unknown) =>
  error instanceof ProblemError && error.status === 403 && (error.slug === 'expired-signature' || error.slug === 'unknown')

/** What another attempt may get past. `upload-offset`: somebody else wrote, or our place is not the store's. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || isExpired(error)) return true
  return error instanceof ProblemError && (error.status >= 500 || [408, 429].includes(error.status) || error.slug === 'upload-offset')
}

async function sourceOf(file: File | FileToUpload): Promise<Source> {
  const { name } = file
  if (!('data' in file)) return { name, size: file.size, type: file.type || 'image/tiff', read: async (from, to) => file.slice(from, to) }
  const type = file.type ?? 'image/tiff'
  const { data } = file
  if (data instanceof Blob) return { name, size: data.size, type, read: async (from, to) => data.slice(from, to) }
  if (data instanceof Uint8Array) return { name, size: data.length, type, read: async (from, to) => data.subarray(from, to) }
  if (file.size !== undefined) return { name, size: file.size, type, read: streamReader(data) }
  const blob = await new Response(data).blob()
  return { name, size: blob.size, type, read: async (from, to) => blob.slice(from, to) }
}

/** Reads a stream forward. What was read last is held, because it may have to be sent again. */
function streamReader(stream: ReadableStream<Uint8Array>): Source['read'] {
  const reader = stream.getReader()
  let held: Uint8Array[] = []
  let heldFrom = 0
  let heldTo = 0
  const dropBefore = (from: number) => {
    while (held.length > 0 && heldFrom + held[0]!.length <= from) heldFrom += held.shift()!.length
  }
  return async (from, to) => {
    if (from < heldFrom) throw new Error('A stream cannot be read again: upload a file or a Blob to be able to repeat it')
    dropBefore(from)
    while (heldTo < to) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`The stream ended after ${heldTo} bytes`)
      held.push(value)
      heldTo += value.length
      dropBefore(from)
    }
    return new Blob(held as Uint8Array<ArrayBuffer>[]).slice(from - heldFrom, to - heldFrom)
  }
}
