/**
 * Files on their way to the store: in pieces that continue after a lost connection, three at a time. It lives outside React, so
 * that leaving the screen stops nothing.
 */
import { useSyncExternalStore } from 'react'
import { call } from '../api/client.ts'
import { queries, touch } from '../api/query.ts'
import type { Upload } from '../api/contract.ts'

export interface Sending {
  readonly key: string
  readonly name: string
  readonly size: number
  readonly sent: number
  readonly state: 'queued' | 'uploading' | 'paused' | 'finishing' | 'done' | 'failed'
  readonly error: string | null
  readonly uploadId: string | null
  /** What the service says of the session once the bytes are there. */
  readonly session: Upload | null
}

interface Target {
  projectId: string
  collectionId: string | null
  itemId: string | null
  isCategorical: boolean
}

const PIECE_BYTES = 8 * 1024 * 1024
const AT_ONCE = 3
const MAX_TRIES = 6
const POLL_MS = 2_000
const MAX_POLLS = 900
const listeners = new Set<() => void>()
const files = new Map<string, { file: File; target: Target; stop: AbortController | null }>()
let list: readonly Sending[] = []
let nextKey = 1

function publish(next: readonly Sending[]): void {
  list = next
  for (const listener of listeners) listener()
}
const change = (key: string, patch: Partial<Sending>) => publish(list.map((one) => (one.key === key ? { ...one, ...patch } : one)))
const get = (key: string) => list.find((one) => one.key === key)

export function useSending(): readonly Sending[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => list,
  )
}

export const isSending = () => list.some(({ state }) => state === 'uploading' || state === 'queued')

/** Refused before a byte moves, with the remedy. */
function refusalOf(file: File): string | null {
  if (/\.(zip|7z|rar|gz)$/i.test(file.name)) return 'It is an archive: unpack it and upload the .tif files in it.'
  if (/\.(jp2|j2k|ecw|img|sid)$/i.test(file.name)) return `Convert it first: gdal_translate -of COG ${file.name} out.tif`
  if (!/\.tiff?$/i.test(file.name)) return 'Only GeoTIFF and COG files (.tif, .tiff) become maps.'
  return file.size === 0 ? 'The file is empty.' : null
}

export function addFiles(added: readonly File[], target: Target): void {
  const next = added.map((file): Sending => {
    const key = String(nextKey++)
    const error = refusalOf(file)
    files.set(key, { file, target, stop: null })
    return { key, name: file.name, size: file.size, sent: 0, state: error ? 'failed' : 'queued', error, uploadId: null, session: null }
  })
  publish([...next, ...list])
  pump()
}

/** Goes on with what another visit began, once the same file is there again; says why it is another one. */
export function continueUpload(file: File, upload: Upload): string | null {
  const [expected] = upload.files
  if (expected && expected.name !== file.name) return `It was '${expected.name}' that was being sent.`
  if (file.size !== upload.total_bytes) return 'It has another size than the file that was being sent.'
  const key = String(nextKey++)
  const target = {
    projectId: upload.project_id,
    collectionId: upload.target_collection_id,
    itemId: upload.target_item_id,
    isCategorical: upload.is_categorical,
  }
  files.set(key, { file, target, stop: null })
  const one: Sending = {
    key,
    name: file.name,
    size: file.size,
    sent: 0,
    state: 'queued',
    error: null,
    uploadId: upload.id,
    session: null,
  }
  publish([one, ...list])
  pump()
  return null
}

export function pause(key: string): void {
  files.get(key)?.stop?.abort()
  change(key, { state: 'paused' })
}

export function resume(key: string): void {
  change(key, { state: 'queued', error: null })
  pump()
}

export function discard(key: string): void {
  const one = get(key)
  files.get(key)?.stop?.abort()
  files.delete(key)
  if (one?.uploadId && one.state !== 'done')
    void call('uploads.fail', { upload_id: one.uploadId, error_message: 'Given up by the person who uploaded' }).catch(() => undefined)
  publish(list.filter((other) => other.key !== key))
}

function pump(): void {
  const running = list.filter(({ state }) => state === 'uploading').length
  for (const { key } of list
    .filter(({ state }) => state === 'queued')
    .toReversed()
    .slice(0, Math.max(0, AT_ONCE - running))) {
    change(key, { state: 'uploading' })
    void send(key)
  }
}

async function send(key: string): Promise<void> {
  const held = files.get(key)
  if (!held) return
  held.stop = new AbortController()
  try {
    const uploadId = get(key)?.uploadId ?? (await open(key))
    await sendBytes(key, uploadId, held.file, held.stop.signal)
    change(key, { state: 'finishing' })
    await call('uploads.complete', { upload_id: uploadId })
    await follow(key, uploadId)
  } catch (error) {
    if (held.stop.signal.aborted) return
    change(key, { state: 'failed', error: error instanceof Error ? error.message : String(error) })
  } finally {
    pump()
  }
}

async function open(key: string): Promise<string> {
  const { file, target } = files.get(key)!
  const { id } = await call('uploads.initiate', {
    project_id: target.projectId,
    transfer_method: 'signed_url',
    file_count: 1,
    total_bytes: file.size,
    ...(target.itemId ? { target_item_id: target.itemId } : { target_collection_id: target.collectionId }),
    is_categorical: target.isCategorical,
  })
  change(key, { uploadId: id })
  return id
}

/** Asks the store how far it got, and goes on from there; an address that has expired is asked for again. */
async function sendBytes(key: string, uploadId: string, file: File, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { upload_url } = await call('uploads.signed_url', { upload_id: uploadId, file_name: file.name, content_type: 'image/tiff' })
    try {
      await sendPieces(key, upload_url, file, signal)
      return
    } catch (error) {
      signal.throwIfAborted()
      if (attempt >= MAX_TRIES || error instanceof StoreRefusal) throw error
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
    }
  }
}

class StoreRefusal extends Error {}

async function sendPieces(key: string, url: string, file: File, signal: AbortSignal): Promise<void> {
  const isEmbedded = new URL(url).pathname.startsWith('/objects/')
  if (!isEmbedded) {
    const response = await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: file, signal })
    if (!response.ok) throw new StoreRefusal(`The store answered ${response.status}`)
    return change(key, { sent: file.size })
  }
  let offset = await offsetOf(url, file.size, signal)
  while (offset < file.size) {
    const end = Math.min(file.size, offset + PIECE_BYTES)
    const headers = { 'content-type': 'image/tiff', 'content-range': `bytes ${offset}-${end - 1}/${file.size}` }
    const response = await fetch(url, { method: 'PUT', headers, body: file.slice(offset, end), signal })
    if (response.status !== 308 && !response.ok) {
      const problem = (await response.json().catch(() => ({}))) as { detail?: string; code?: string }
      if (response.status >= 500 || problem.code === 'upload-offset' || problem.code === 'expired-signature')
        throw new Error(problem.detail)
      throw new StoreRefusal(problem.detail ?? `The store answered ${response.status}`)
    }
    offset = end
    change(key, { sent: offset })
  }
}

async function offsetOf(url: string, size: number, signal: AbortSignal): Promise<number> {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'image/tiff', 'content-range': `bytes */${size}` },
    signal,
  })
  if (response.ok && response.status !== 308) return size
  const range = response.headers.get('range')?.match(/-(\d+)$/)
  return range ? Number(range[1]) + 1 : 0
}

/** Until each file is ready or refused. */
async function follow(key: string, uploadId: string): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const session = await call('uploads.progress', { upload_id: uploadId })
    change(key, { session })
    const refused = session.files.find(({ state }) => state === 'refused' || state === 'failed')
    if (refused) return change(key, { state: 'failed', error: refused.error ?? session.error_message })
    if (session.status === 'failed') return change(key, { state: 'failed', error: session.error_message })
    if (session.files.every(({ state }) => state === 'ready')) {
      change(key, { state: 'done' })
      return void touch(queries, ['items', 'projects', 'collections', 'usage'])
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
