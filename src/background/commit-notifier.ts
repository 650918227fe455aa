/**
 * Tells every process on this database that something was committed, so that streams and workers need not ask all the time.
 * It rings after the commit and not within it, where a notification would make all commits wait in one line; a process that
 * is killed between the two costs its listeners one rest.
 */
import { createFlusher } from '#core/flusher.ts'
import { notify, type Listen } from '#db/notify.ts'
import type { Db } from '#db/tables.ts'

export interface CommitNotifier {
  /** A change was committed here. */
  notify(): void
  /** Until `close`. Everything that has to be told is told after a lost connection came back, too. */
  subscribe(listener: () => void): () => void
  close(): Promise<void>
}

const CHANNEL = 'groundtrack_commit'
/** Commits within this time ring once. */
const GATHER_MS = 10

interface CommitNotifierOptions {
  db: Db
  listen: Listen
  onError: (error: unknown) => void
}

export function createCommitNotifier({ db, listen, onError }: CommitNotifierOptions): CommitNotifier {
  const listeners = new Set<() => void>()
  let waiting = false
  let line: ReturnType<Listen> | null = null
  const flusher = createFlusher({
    async drain() {
      waiting = false
      await notify(db, CHANNEL)
    },
    isEmpty: () => !waiting,
    afterMs: GATHER_MS,
    onError,
  })
  return {
    notify() {
      waiting = true
      flusher.arm()
    },
    subscribe(listener) {
      listeners.add(listener)
      line ??= listen(CHANNEL, () => listeners.forEach((told) => told()))
      return () => listeners.delete(listener)
    },
    async close() {
      await flusher.close().catch(onError)
      await line?.close()
    },
  }
}
