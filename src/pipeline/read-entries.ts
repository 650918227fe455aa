import type { Clock } from '#core/clock.ts'
import { createFlusher } from '#core/flusher.ts'
import { MINUTE_MS } from '#core/time.ts'
import type { AuditEntry } from '#model/platform/audit.ts'

/** Audit entries of images that maps read by the hundred: one per minute, caller, operation and subject, with a count. */
interface ReadEntries {
  /** Waits if the database cannot keep up. */
  add(entry: AuditEntry): Promise<void>
  /** Writes all of them, also those of the current minute. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Beyond this, callers wait for a flush, so that memory stays bounded. */
const MAX_ENTRIES = 20_000

/** The last read of the minute stands for all: its invocation ID, time, input and duration. Processes do not know of each other's. */
export function createReadEntries(
  clock: Clock,
  write: (entries: readonly AuditEntry[]) => Promise<void>,
  onError: (error: unknown) => void,
): ReadEntries {
  const entries = new Map<string, AuditEntry>()
  let takesAll = false

  const add = (entry: AuditEntry): void => {
    const key = keyOf(entry)
    const calls = (entries.get(key)?.calls ?? 0) + entry.calls
    entries.delete(key) // The oldest minutes stay in front.
    entries.set(key, { ...entry, calls })
  }
  /** What could not be written is counted again, before what was added meanwhile. */
  const restore = (taken: readonly AuditEntry[]): void => {
    for (const entry of taken) {
      const later = entries.get(keyOf(entry))
      if (later) later.calls += entry.calls
      else entries.set(keyOf(entry), entry)
    }
  }
  const drain = async (): Promise<void> => {
    const minute = minuteOf(clock.now())
    const due = [...entries].filter(([, { at }]) => takesAll || minuteOf(at) < minute)
    for (const [key] of due) entries.delete(key)
    const taken = due.map(([, entry]) => entry)
    try {
      if (taken.length > 0) await write(taken)
    } catch (error) {
      restore(taken)
      throw error
    }
    if (entries.size > 0) flusher.arm()
  }
  const afterMs = () => MINUTE_MS - (clock.now().getTime() % MINUTE_MS)
  const flusher = createFlusher({ drain, isEmpty: () => entries.size === 0, afterMs, onError })
  const completely = async (work: () => Promise<void>): Promise<void> => {
    takesAll = true
    try {
      await work()
    } finally {
      takesAll = false
    }
  }
  return {
    async add(entry) {
      if (entries.size >= MAX_ENTRIES && !entries.has(keyOf(entry))) await completely(flusher.flush)
      add(entry)
      flusher.arm()
    },
    flush: () => completely(flusher.flushAll),
    close: () => completely(flusher.close),
  }
}

const minuteOf = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS)

const keyOf = ({ at, organizationId, principalKind, principalId, apiKeyId, operation, status, subject }: AuditEntry): string =>
  JSON.stringify([minuteOf(at), organizationId, principalKind, principalId, apiKeyId, operation, status, subject])
