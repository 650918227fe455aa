/** Waits for an order, a processing job or the conversion of an upload. */
import type { Caller } from './client.ts'
import type { Order, ProcessingJob, Upload } from './generated/types.ts'
import { pause } from './retry.ts'

/** An ID, or a record that an operation returned. */
export type Waitable =
  | { order: string }
  | { job: string }
  | { upload: string }
  | { id: string; orderType: string }
  | { id: string; job_type: string }

/** The record that `waitFor` returns. */
export type WaitedFor<T extends Waitable> = T extends { order: string } | { orderType: string }
  ? Order
  : T extends { upload: string }
    ? Upload
    : ProcessingJob

export interface WaitOptions<R> {
  /** Default one hour. Then the wait ends with a `WaitTimeoutError`; the order or job goes on. */
  timeoutMs?: number | undefined
  onChange?: ((record: R) => void) | undefined
  /** Longest interval between two polls; default 10 seconds. */
  maxPollMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** The wait timed out; the order, job or upload goes on. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
}

const FIRST_POLL_MS = 500
const MAX_POLL_MS = 10_000
const TIMEOUT_MS = 3_600_000

/** How to fetch each kind, and when it has ended. */
const KINDS = {
  order: {
    operation: 'orders.get',
    input: (id: string): object => ({ id }),
    record: (output: Status): Status => output,
    hasEnded: ({ status }: Status) => ['fulfilled', 'failed', 'cancelled'].includes(status),
  },
  job: {
    operation: 'processing.job.get',
    input: (id: string): object => ({ job_id: id }),
    record: (output: Status): Status => output.job ?? output,
    hasEnded: ({ status }: Status) => ['completed', 'failed', 'cancelled'].includes(status),
  },
  upload: {
    operation: 'uploads.progress',
    input: (id: string): object => ({ upload_id: id }),
    record: (output: Status): Status => output,
    hasEnded: ({ status, files }: Status) =>
      status === 'failed' || (status === 'completed' && (files ?? []).every(({ state }) => state !== 'converting')),
  },
} as const

interface Status {
  id: string
  status: string
  job?: Status
  files?: { state: string }[]
}

/** Returns the record when the order, job or upload has succeeded or failed; check its `status`. */
export async function waitFor<T extends Waitable>(
  client: Caller,
  target: T,
  options: WaitOptions<WaitedFor<T>> = {},
): Promise<WaitedFor<T>> {
  const [kind, id] = kindOf(target)
  const { operation, input, record, hasEnded } = KINDS[kind]
  const { signal, onChange, maxPollMs = MAX_POLL_MS } = options
  const deadline = Date.now() + (options.timeoutMs ?? TIMEOUT_MS)
  let seen = ''
  for (let poll = FIRST_POLL_MS; ; poll = Math.min(maxPollMs, poll * 1.5)) {
    const current = record(await client.call<Status>(operation, input(id), signal ? { signal } : {}, 'read'))
    const now = JSON.stringify(current)
    if (now !== seen) onChange?.(current as object as WaitedFor<T>)
    seen = now
    if (hasEnded(current)) return current as object as WaitedFor<T>
    if (Date.now() + poll > deadline) throw new WaitTimeoutError(`Timed out waiting for ${kind} ${id}, which is still ${current.status}`)
    await pause(poll, signal)
  }
}

function kindOf(target: Waitable): [keyof typeof KINDS, string] {
  if ('order' in target) return ['order', target.order]
  if ('job' in target) return ['job', target.job]
  if ('upload' in target) return ['upload', target.upload]
  return 'orderType' in target ? ['order', target.id] : ['job', target.id]
}
