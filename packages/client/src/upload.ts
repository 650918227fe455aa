/** Files to items: a session, the bytes of each file straight to the store in pieces, and completion. */
import type { CallOptions, Client } from './client.ts'
import { problemOf, ProblemError } from './problem.ts'
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
  /** The address of each file that was begun; good for 15 minutes, after which the file begins anew. */
  urls: Record<string, string>
  done: string[]
}

export interface UploadOptions {
  projectId: string
  files: readonly (File | FileToUpload)[]
  collectionId?: string | undefined
  /** Adds the files to an item as assets instead of making items. */
  itemId?: string | undefined
  assetKey?: string | undefined
  /** Samples are numbers of classes: never stretched or mixed. */
  categorical?: boolean | undefined
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
/** Tries of one piece. */
const MAX_TRIES = 5

interface Source {
  name: string
  size: number
  type: string
  /** Bytes of a range; a stream can only go forward. */
  read(from: number, to: number): Promise<Uint8Array | Blob>
}

export async function upload(client: Client, options: UploadOptions): Promise<Uploaded> {
  const { signal } = options
  const call: CallOptions = signal ? { signal } : {}
  const sources = await Promise.all(options.files.map(sourceOf))
  const totalBytes = sources.reduce((sum, { size }) => sum + size, 0)
  const state = options.resume
    ? structuredClone(options.resume)
    : { uploadId: await open(client, options, sources, call), urls: {}, done: [] }
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
  return await client.call<Uploaded>('uploads.complete', { upload_id: state.uploadId }, call, 'read')
}

async function open(client: Client, options: UploadOptions, sources: readonly Source[], call: CallOptions): Promise<string> {
  const { id } = await client.call<{ id: string }>(
    'uploads.initiate',
    {
      project_id: options.projectId,
      transfer_method: 'signed_url',
      file_count: sources.length,
      total_bytes: sources.reduce((sum, { size }) => sum + size, 0),
      ...(options.collectionId ? { target_collection_id: options.collectionId } : {}),
      ...(options.itemId ? { target_item_id: options.itemId } : {}),
      ...(options.assetKey ? { asset_key: options.assetKey } : {}),
      ...(options.categorical ? { is_categorical: true } : {}),
    },
    call,
  )
  return id
}

interface Work {
  state: UploadState
  options: UploadOptions
  call: CallOptions
  report: (sentBytes: number) => void
}

/** One file. An address that has outlived its time is replaced once, and the file begins anew. */
async function sendFile(client: Client, source: Source, work: Work): Promise<void> {
  const { state, options, call } = work
  for (let renewed = false; ; renewed = true) {
    const known = state.urls[source.name]
    if (!known) work.report(0)
    const url = known ?? (await addressOf(client, state.uploadId, source, call))
    state.urls[source.name] = url
    options.onState?.(state)
    try {
      const from = known ? await reached(url, source, options.signal) : 0
      return await sendPieces(url, source, from, work)
    } catch (error) {
      const isOver = error instanceof ProblemError && error.status === 403 && !renewed
      if (!isOver) throw error
      delete state.urls[source.name]
    }
  }
}

async function addressOf(client: Client, uploadId: string, { name, type }: Source, call: CallOptions): Promise<string> {
  const input = { upload_id: uploadId, file_name: name, content_type: type }
  return (await client.call<{ upload_url: string }>('uploads.signed_url', input, call, 'read')).upload_url
}

/** How far an upload in pieces got. */
async function reached(url: string, source: Source, signal: AbortSignal | undefined): Promise<number> {
  const response = await put(url, source, { 'content-range': `bytes */${source.size}` }, new Uint8Array(0), signal)
  return response.status === 308 ? offsetOf(response, 0) : source.size
}

async function sendPieces(url: string, source: Source, from: number, { options, report }: Work): Promise<void> {
  const pieceBytes = options.pieceBytes ?? PIECE_BYTES
  if (source.size <= pieceBytes && from === 0) return await sendWhole(url, source, { options, report })
  let offset = from
  report(offset)
  while (offset < source.size) {
    const end = Math.min(source.size, offset + pieceBytes)
    const range = { 'content-range': `bytes ${offset}-${end - 1}/${source.size}` }
    const response = await put(url, source, range, await source.read(offset, end), options.signal)
    // A store that knows no pieces takes the first for all there is: it gets the whole file instead.
    if (response.status === 200 && end < source.size) return await sendWhole(url, source, { options, report })
    offset = response.status === 308 ? offsetOf(response, end) : end
    report(offset)
  }
}

async function sendWhole(url: string, source: Source, { options, report }: Pick<Work, 'options' | 'report'>): Promise<void> {
  await put(url, source, {}, await source.read(0, source.size), options.signal)
  report(source.size)
}

const offsetOf = (response: Response, otherwise: number) => Number(response.headers.get('upload-offset') ?? otherwise)

/** Repeats what failed on the way: bytes that have come already may be sent again. */
async function put(
  url: string,
  { name, type }: Source,
  headers: Record<string, string>,
  body: Uint8Array | Blob,
  signal: AbortSignal | undefined,
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    let failure: unknown
    try {
      const response = await globalThis.fetch(url, {
        method: 'PUT',
        headers: { 'content-type': type, ...headers },
        body: body as Uint8Array<ArrayBuffer> | Blob,
        signal: signal ?? null,
      })
      if (response.ok || response.status === 308) return response
      failure = await problemOf(response, `PUT ${name}`, null)
      if (response.status < 500 && response.status !== 408 && response.status !== 429) throw failure
    } catch (error) {
      if (signal?.aborted || error instanceof ProblemError) throw error
      failure = error
    }
    if (attempt >= MAX_TRIES) throw failure
    await pause(delayMs(attempt, null), signal)
  }
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

/** Reads a stream forward; what lies before `from` was sent already and is dropped. */
function streamReader(stream: ReadableStream<Uint8Array>): Source['read'] {
  const reader = stream.getReader()
  let held: Uint8Array = new Uint8Array(0)
  let heldFrom = 0
  return async (from, to) => {
    if (from < heldFrom) throw new Error('A stream cannot be read again: upload a file or a Blob to be able to repeat it')
    const parts: Uint8Array[] = []
    let at = from
    while (at < to) {
      const heldTo = heldFrom + held.length
      if (at < heldTo) {
        const part = held.subarray(at - heldFrom, Math.min(to, heldTo) - heldFrom)
        parts.push(part)
        at += part.length
        continue
      }
      const { value, done } = await reader.read()
      if (done) throw new Error(`The stream ended after ${heldTo} bytes`)
      heldFrom = heldTo
      held = value
    }
    return new Blob(parts as Uint8Array<ArrayBuffer>[])
  }
}
