/**
 * Many uploads in one browser tab or program: three at a time, each a file or the files of one scene in its own upload session,
 * which can be paused, resumed, given a position and removed at any moment. Without a framework: a view subscribes and reads `list()`.
 */
import type { Caller } from './client.ts'
import type { Upload } from './generated/types.ts'
import { isProblem } from './problem.ts'
import { abandonUpload, openUpload, upload, type FilePosition, type UploadTarget } from './upload.ts'
import { waitFor, WaitTimeoutError } from './wait.ts'

export type { FilePosition, UploadTarget } from './upload.ts'

/** Files of one scene, with one band each: one upload, which becomes one item. */
export interface SceneFiles {
  readonly name: string
  /** Of all files. */
  readonly size: number
  readonly files: readonly File[]
}

export interface QueuedFile {
  readonly key: string
  readonly name: string
  readonly size: number
  readonly sentBytes: number
  /** `finishing`: all bytes are uploaded, and the service checks or converts the file. */
  readonly state: 'queued' | 'uploading' | 'paused' | 'finishing' | 'done' | 'failed'
  readonly error: string | null
  /** The file failed only because it has no position; the service keeps its bytes until it gets one. */
  readonly lacksPosition: boolean
  /** The file itself is at fault: only another one helps. */
  readonly isRejected: boolean
  readonly uploadId: string | null
  /** The upload session, once all bytes are uploaded. */
  readonly session: Upload | null
}

type Outcome = Pick<QueuedFile, 'state' | 'error'> & Partial<Pick<QueuedFile, 'isRejected'>>

interface SendOptions {
  readonly signal: AbortSignal
  /** Set only after every byte was uploaded. */
  readonly position: FilePosition | null
  onSent(bytes: number): void
}

/** How the queue uploads a file. `createUploadQueue` uses the API; tests replace it. */
export interface Transfer<F> {
  /** Opens an upload session and returns its ID. */
  open(file: F, target: UploadTarget): Promise<string>
  /** Uploads the bytes that are missing and completes the session. */
  send(uploadId: string, file: F, target: UploadTarget, options: SendOptions): Promise<void>
  /** Whether a position is all that the failed file needs. */
  lacksPosition(error: unknown, file: F): boolean
  /** Whether the service does not accept the file, so that a retry cannot help. */
  isRejected(error: unknown): boolean
  /** Waits until the file is ready or has failed. */
  finish(uploadId: string, onChange: (session: Upload) => void): Promise<Outcome>
  abandon(uploadId: string): void
}

const MAX_CONCURRENT = 3
const MAX_POLL_MS = 2_000
const FINISH_TIMEOUT_MS = 30 * 60_000
const MEDIA_TYPE = 'image/tiff'

/** A queue that uploads with `client`. `onReady` is called after each file that became an item or asset. */
export function createUploadQueue(client: Caller, { onReady }: { onReady?: () => void } = {}): UploadQueue<File | SceneFiles> {
  async function finish(uploadId: string, onChange: (session: Upload) => void): Promise<Outcome> {
    const options = { onChange, maxPollMs: MAX_POLL_MS, timeoutMs: FINISH_TIMEOUT_MS }
    try {
      const outcome = outcomeOf(await waitFor(client, { upload: uploadId }, options))
      if (outcome.state === 'done') onReady?.()
      return outcome
    } catch (error) {
      // A conversion that takes longer goes on without us.
      if (error instanceof WaitTimeoutError) return { state: 'finishing', error: null }
      throw error
    }
  }
  return new UploadQueue<File | SceneFiles>({
    open: (added, target) => openUpload(client, target, filesOf(added)),
    async send(uploadId, added, target, { signal, position, onSent }) {
      const files = filesOf(added)
      await upload(client, {
        ...target,
        files: files.map((file) => ({ name: file.name, data: file, type: MEDIA_TYPE })),
        resume: { uploadId, done: position ? files.map(({ name }) => name) : [] },
        asOneItem: 'files' in added,
        positions: position ? [position] : [],
        onProgress: ({ sentBytes }) => onSent(sentBytes),
        signal,
      })
    },
    // Files of one scene can have different positions, so that none is asked for.
    lacksPosition: (error, added) => isProblem(error, 'position-required') && !('files' in added),
    isRejected: (error) => isProblem(error, 'unreadable-raster') || isProblem(error, 'raster-too-demanding'),
    finish,
    abandon: (uploadId) => void abandonUpload(client, uploadId).catch(() => undefined),
  })
}

const filesOf = (added: File | SceneFiles): readonly File[] => ('files' in added ? added.files : [added])

function outcomeOf({ status, files, error_message }: Upload): Outcome {
  const failed = files.find(({ state }) => state === 'refused' || state === 'failed')
  if (failed) return { state: 'failed', error: failed.error ?? error_message, isRejected: true }
  return status === 'failed' ? { state: 'failed', error: error_message } : { state: 'done', error: null }
}

interface Entry<F> {
  readonly file: F
  readonly target: UploadTarget
  position: FilePosition | null
  /** The session of this file, opened once no matter which run needs it first. */
  session: Promise<string> | null
  /** The current run. A paused run may take a while to end; its reports are ignored. */
  run: AbortController | null
}

export class UploadQueue<F extends { name: string; size: number }> {
  readonly #transfer: Transfer<F>
  readonly #listeners = new Set<() => void>()
  readonly #entries = new Map<string, Entry<F>>()
  #list: readonly QueuedFile[] = []
  #nextKey = 1

  constructor(transfer: Transfer<F>) {
    this.#transfer = transfer
  }

  /** Newest first; a new array after each change. */
  readonly list = (): readonly QueuedFile[] => this.#list

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** `error`: the file is listed as failed and not uploaded. `uploadId`: continues that session. */
  add(file: F, target: UploadTarget, { error = null, uploadId = null }: { error?: string | null; uploadId?: string | null } = {}): void {
    const key = String(this.#nextKey++)
    this.#entries.set(key, { file, target, position: null, session: uploadId === null ? null : Promise.resolve(uploadId), run: null })
    const { name, size } = file
    const state = error ? 'failed' : 'queued'
    const added = {
      key,
      name,
      size,
      sentBytes: 0,
      state,
      error,
      lacksPosition: false,
      isRejected: error !== null,
      uploadId,
      session: null,
    } as const
    this.#publish([added, ...this.#list])
    this.#startNext()
  }

  pause(key: string): void {
    // When every byte is uploaded there is nothing left to pause.
    if (this.#get(key)?.state !== 'uploading') return
    this.#stop(key)
    this.#change(key, { state: 'paused' })
    this.#startNext()
  }

  resume(key: string): void {
    this.#change(key, { state: 'queued', error: null, lacksPosition: false, isRejected: false })
    this.#startNext()
  }

  /** Completes a file that lacks a position. */
  setPosition(key: string, position: FilePosition): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    entry.position = position
    this.resume(key)
  }

  /** Uploads another file in place of one that was rejected, to the same target. `error`: as for `add`. */
  replace(key: string, file: F, options: { error?: string | null } = {}): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.remove(key)
    this.add(file, entry.target, options)
  }

  /** Removes a file from the list, and abandons its session unless the file is done. */
  remove(key: string): void {
    const removed = this.#get(key)
    this.#stop(key)
    this.#entries.delete(key)
    this.#publish(this.#list.filter((file) => file.key !== key))
    if (removed?.uploadId && removed.state !== 'done') this.#transfer.abandon(removed.uploadId)
    this.#startNext()
  }

  #get(key: string): QueuedFile | undefined {
    return this.#list.find((file) => file.key === key)
  }

  #publish(next: readonly QueuedFile[]): void {
    this.#list = next
    for (const listener of this.#listeners) listener()
  }

  #change(key: string, patch: Partial<QueuedFile>): void {
    this.#publish(this.#list.map((file) => (file.key === key ? { ...file, ...patch } : file)))
  }

  #startNext(): void {
    const running = this.#list.filter(({ state }) => state === 'uploading').length
    const queued = this.#list.filter(({ state }) => state === 'queued').toReversed()
    for (const { key } of queued.slice(0, Math.max(0, MAX_CONCURRENT - running))) {
      this.#change(key, { state: 'uploading' })
      void this.#run(key, this.#entries.get(key)!)
    }
  }

  #sessionOf(key: string, entry: Entry<F>): Promise<string> {
    entry.session ??= this.#transfer.open(entry.file, entry.target).then(
      (uploadId) => {
        if (this.#entries.get(key) === entry) this.#change(key, { uploadId })
        else this.#transfer.abandon(uploadId)
        return uploadId
      },
      (error: unknown) => {
        entry.session = null
        throw error
      },
    )
    return entry.session
  }

  async #run(key: string, entry: Entry<F>): Promise<void> {
    const run = new AbortController()
    entry.run = run
    const report = (patch: Partial<QueuedFile>) => {
      if (entry.run === run) this.#change(key, patch)
    }
    try {
      const uploadId = await this.#sessionOf(key, entry)
      if (entry.run !== run) return
      await this.#transfer.send(uploadId, entry.file, entry.target, {
        signal: run.signal,
        position: entry.position,
        onSent: (sentBytes) => report({ sentBytes, ...(sentBytes >= entry.file.size ? { state: 'finishing' as const } : {}) }),
      })
      report(await this.#transfer.finish(uploadId, (session) => report({ session })))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // A rejected position can be corrected.
      const lacksPosition = entry.position !== null || this.#transfer.lacksPosition(error, entry.file)
      report({ state: 'failed', error: message, lacksPosition, isRejected: !lacksPosition && this.#transfer.isRejected(error) })
    } finally {
      this.#startNext()
    }
  }

  #stop(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const run = entry.run
    entry.run = null
    run?.abort()
  }
}
