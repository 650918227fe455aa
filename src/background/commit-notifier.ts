/**
 * Notifies every process on this database after a commit, so that event streams and workers need not poll. It notifies after the
 * commit and not within it, where PostgreSQL would serialize all commits; if a process is killed between the two, its listeners
 * notice the change at their next poll.
 */
import { createFlusher } from '#core/flusher.ts'
import { notify, type Listen } from '#db/notify.ts'
import type { Db } from '#db/tables.ts'

export interface CommitNotifier {
  /** A change was committed here. */
  notify(): void
  /** Until the returned function is called. Listeners are also called after a lost connection was restored. */
  subscribe(listener: () => void): () => void
  /** Whether notifications of other processes arrive; null if nobody here needs them. */
  isReceiving(): boolean | null
  close(): Promise<void>
}

const CHANNEL = 'groundtrack_commit'
/** Commits within this time are notified together. */
const GATHER_MS = 10

interface CommitNotifierOptions {
  db: Db
  listen: Listen
  onError: (error: unknown) => void
}

export function createCommitNotifier({ db, listen, onError }: CommitNotifierOptions): CommitNotifier {
  const listeners = new Set<() => void>()
  let isPending = false
  let subscription: ReturnType<Listen> | null = null
  const flusher = createFlusher({
    async drain() {
      isPending = false
      await notify(db, CHANNEL)
    },
    isEmpty: () => !isPending,
    afterMs: GATHER_MS,
    onError,
  })
  return {
    notify() {
      isPending = true
      flusher.arm()
    },
    subscribe(listener) {
      listeners.add(listener)
      subscription ??= listen(CHANNEL, () => listeners.forEach((each) => each()))
      return () => listeners.delete(listener)
    },
    isReceiving: () => subscription?.isReceiving() ?? null,
    async close() {
      await flusher.close().catch(onError)
      await subscription?.close()
    },
  }
}
