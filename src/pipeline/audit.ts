import type { Clock } from '#core/clock.ts'
import { createFlusher } from '#core/flusher.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import * as audit from '#model/platform/audit.ts'
import type { AnyOperation } from '#operation.ts'
import { createReadEntries } from './read-entries.ts'
import type { Trace } from './trace.ts'

export interface AuditTrail {
  /** Registers a call. Until the returned function is called, closing the trail waits for its entry, even if the caller has left. */
  begin(): () => void
  /** For a write that succeeded: its entry commits with it. */
  commitWith(tx: Tx, entry: audit.AuditEntry): Promise<void>
  /** For reads and failures: buffered and written in batches soon after. Waits when the database cannot keep up. */
  record(entry: audit.AuditEntry): Promise<void>
  /** For successful reads of images, which share one entry per minute, caller and subject: written when the minute ends. */
  recordRead(entry: audit.AuditEntry): Promise<void>
  /** Counts one use of a key without a write of its own. */
  countUse(keyId: string): void
  flush(): Promise<void>
  close(): Promise<void>
}

const FLUSH_AFTER_MS = 250
/** Beyond this, callers wait for the flush, so that memory stays bounded while the database is unreachable. */
const MAX_BUFFERED = 20_000
const MAX_PER_STATEMENT = 2_000
/** For calls whose callers have left; all others have their response before the trail closes. */
const MAX_CLOSING_MS = 5_000

export function createAuditTrail(db: Db, clock: Clock, onError: (error: unknown) => void): AuditTrail {
  let entries: audit.AuditEntry[] = []
  let uses = new Map<string, apiKeys.KeyUse>()

  const add = ({ keyId, requests, lastUsedAt }: apiKeys.KeyUse): void => {
    const known = uses.get(keyId)
    const latest = known && known.lastUsedAt > lastUsedAt ? known.lastUsedAt : lastUsedAt
    uses.set(keyId, { keyId, requests: (known?.requests ?? 0) + requests, lastUsedAt: latest })
  }

  const drain = async (): Promise<void> => {
    while (entries.length > 0) {
      const batch = entries.slice(0, MAX_PER_STATEMENT)
      await audit.write(db, batch)
      entries = entries.slice(batch.length) // Only now: a failed batch is written by the next flush.
    }
    if (uses.size > 0) {
      const counted = [...uses.values()].toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
      uses = new Map()
      await apiKeys.recordUse(db, counted).catch((error: unknown) => {
        counted.forEach(add)
        throw error
      }) // Counted by the next flush.
    }
  }
  const flusher = createFlusher({ drain, isEmpty: () => entries.length === 0 && uses.size === 0, afterMs: FLUSH_AFTER_MS, onError })

  const reads = createReadEntries(clock, (batch) => writeAll(db, batch), onError)

  const inProgress = new Set<symbol>()
  let allEnded: (() => void) | null = null
  const begin = (): (() => void) => {
    const call = Symbol()
    inProgress.add(call)
    return () => {
      inProgress.delete(call)
      if (inProgress.size === 0) allEnded?.()
    }
  }
  const untilEnded = async (): Promise<void> => {
    if (inProgress.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    allEnded = resolve
    const timer = setTimeout(resolve, MAX_CLOSING_MS)
    await promise
    clearTimeout(timer)
  }

  return {
    begin,
    commitWith: (tx, entry) => audit.write(tx, [entry]),
    async record(entry) {
      if (entries.length >= MAX_BUFFERED) await flusher.flush()
      entries.push(entry)
      flusher.arm()
    },
    countUse(keyId) {
      add({ keyId, requests: 1, lastUsedAt: clock.now() })
      flusher.arm()
    },
    recordRead: reads.add,
    async flush() {
      await reads.flush()
      await flusher.flushAll()
    },
    async close() {
      await untilEnded()
      const closed = await Promise.allSettled([reads.close(), flusher.close()])
      for (const each of closed) if (each.status === 'rejected') throw each.reason
    },
  }
}

async function writeAll(db: Db, entries: readonly audit.AuditEntry[]): Promise<void> {
  for (let start = 0; start < entries.length; start += MAX_PER_STATEMENT)
    await audit.write(db, entries.slice(start, start + MAX_PER_STATEMENT))
}

export function auditEntry(
  clock: Clock,
  op: AnyOperation,
  trace: Trace,
  status: number,
  artifacts: readonly string[] = [],
): audit.AuditEntry {
  const { principal, invocationId, organizationId, inputHash } = trace
  const at = (trace.auditedAt ??= clock.now())
  return {
    invocationId,
    organizationId,
    inputHash,
    status,
    artifacts,
    operation: op.id,
    principalKind: principal?.kind ?? 'none',
    principalId: principal?.id ?? 'none',
    userId: principal?.userId ?? null,
    apiKeyId: principal?.apiKeyId ?? null,
    durationMs: Math.round(performance.now() - trace.startedAtMs),
    at,
    calls: 1,
    subject: status < 400 ? trace.subject : null,
  }
}
