/** Files on their way, three at a time: who goes next, who is paused, and what each has reached. */
import type { Upload } from '../../api/contract.ts'
import { createStore } from '../../store.ts'

export interface Sending {
  readonly key: string
  readonly name: string
  readonly size: number
  readonly sent: number
  readonly state: 'queued' | 'uploading' | 'paused' | 'finishing' | 'done' | 'failed'
  readonly error: string | null
  /** All that it lacks is a position: the service keeps it until it has one. */
  readonly lacksPosition: boolean
  readonly uploadId: string | null
  /** What the service says of the session once the bytes are there. */
  readonly session: Upload | null
}

export interface Target {
  projectId: string
  collectionId: string | null
  itemId: string | null
  isCategorical: boolean
}

/** Where an image lies that does not say so itself. */
export interface Position {
  readonly crs: string
  /** Left, bottom, right, top. */
  readonly bounds: readonly number[]
}

interface SendOptions {
  readonly signal: AbortSignal
  /** Given after every byte has arrived. */
  readonly position: Position | null
  onSent(bytes: number): void
}

interface LineServices<F> {
  /** Opens a session and gives its id. */
  open(file: F, target: Target): Promise<string>
  /** Sends what has not arrived yet and completes the session. */
  send(uploadId: string, file: F, target: Target, options: SendOptions): Promise<void>
  /** Whether what failed needs a position and nothing else. */
  lacksPosition(error: unknown): boolean
  /** Until each file is ready or refused. */
  follow(uploadId: string, onChange: (session: Upload) => void): Promise<Pick<Sending, 'state' | 'error'>>
  giveUp(uploadId: string): void
}

interface UploadLine<F> {
  list(): readonly Sending[]
  /** The same, in a component. */
  useList(): readonly Sending[]
  add(file: F, target: Target, known: { error?: string | null; uploadId?: string | null }): void
  pause(key: string): void
  resume(key: string): void
  /** Completes a file that lacks a position. */
  place(key: string, position: Position): void
  discard(key: string): void
}

interface Held<F> {
  readonly file: F
  readonly target: Target
  position: Position | null
  /** The session of this file, opened once whichever run asks first. */
  session: Promise<string> | null
  /** The run that is heard; one that was paused may take a while to end and says nothing more. */
  run: AbortController | null
}

const AT_ONCE = 3

export function createUploadLine<F extends { name: string; size: number }>(services: LineServices<F>): UploadLine<F> {
  const sendings = createStore<readonly Sending[]>([])
  const held = new Map<string, Held<F>>()
  let nextKey = 1
  const change = (key: string, patch: Partial<Sending>) =>
    sendings.set(sendings.get().map((one) => (one.key === key ? { ...one, ...patch } : one)))
  const get = (key: string) => sendings.get().find((one) => one.key === key)

  function pump(): void {
    const list = sendings.get()
    const running = list.filter(({ state }) => state === 'uploading').length
    const next = list.filter(({ state }) => state === 'queued').toReversed()
    for (const { key } of next.slice(0, Math.max(0, AT_ONCE - running))) {
      change(key, { state: 'uploading' })
      void run(key, held.get(key)!)
    }
  }

  function sessionOf(key: string, own: Held<F>): Promise<string> {
    own.session ??= services.open(own.file, own.target).then(
      (uploadId) => {
        if (held.get(key) === own) change(key, { uploadId })
        else services.giveUp(uploadId)
        return uploadId
      },
      (error: unknown) => {
        own.session = null
        throw error
      },
    )
    return own.session
  }

  async function run(key: string, own: Held<F>): Promise<void> {
    const current = new AbortController()
    own.run = current
    const tell = (patch: Partial<Sending>) => {
      if (own.run === current) change(key, patch)
    }
    try {
      const uploadId = await sessionOf(key, own)
      if (own.run !== current) return
      await services.send(uploadId, own.file, own.target, {
        signal: current.signal,
        position: own.position,
        onSent: (sent) => tell({ sent, ...(sent >= own.file.size ? { state: 'finishing' as const } : {}) }),
      })
      tell(await services.follow(uploadId, (session) => tell({ session })))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // A position that was not taken can be given again.
      tell({ state: 'failed', error: message, lacksPosition: own.position !== null || services.lacksPosition(error) })
    } finally {
      pump()
    }
  }

  function stop(key: string): void {
    const own = held.get(key)
    if (!own) return
    const former = own.run
    own.run = null
    former?.abort()
  }

  function resume(key: string): void {
    change(key, { state: 'queued', error: null, lacksPosition: false })
    pump()
  }

  return {
    list: sendings.get,
    useList: sendings.use,
    add(file, target, { error = null, uploadId = null }) {
      const key = String(nextKey++)
      held.set(key, { file, target, position: null, session: uploadId === null ? null : Promise.resolve(uploadId), run: null })
      const one = { key, name: file.name, size: file.size, sent: 0, error, lacksPosition: false, uploadId, session: null }
      sendings.set([{ ...one, state: error ? 'failed' : 'queued' }, ...sendings.get()])
      pump()
    },
    pause(key) {
      // When every byte has arrived there is nothing left to pause.
      if (get(key)?.state !== 'uploading') return
      stop(key)
      change(key, { state: 'paused' })
      pump()
    },
    resume,
    place(key, position) {
      const own = held.get(key)
      if (!own) return
      own.position = position
      resume(key)
    },
    discard(key) {
      const one = get(key)
      stop(key)
      held.delete(key)
      sendings.set(sendings.get().filter((other) => other.key !== key))
      if (one?.uploadId && one.state !== 'done') services.giveUp(one.uploadId)
      pump()
    },
  }
}
