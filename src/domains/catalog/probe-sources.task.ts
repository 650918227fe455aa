import { createLimiter, queueFull } from '#core/limiter.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import { probeSourcesTask } from '#model/vendors/tasks.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Source } from '#ports/vendors/source.ts'
import { task, type TaskContext } from '#task.ts'

const PROBE_DEADLINE_MS = 5_000
const MAX_RUNNING = 8
const MAX_SOURCES = 500
/** Longer than a probe takes; a process that is killed blocks a host for this long. */
const CLAIM_MS = 60_000
/** A host that responds is probed every 4 to 6 minutes, one that does not every 1 to 2: installations must not probe in step. */
const REACHABLE_MS = [240_000, 360_000] as const
const UNREACHABLE_MS = [60_000, 120_000] as const
/** A start does not repeat a probe of the last minute. */
const RECENT_MS = 60_000
const MAX_ERROR = 300

/** Probes the hosts that are due, and logs those whose state has changed. Searches skip hosts that do not respond. */
export default task({ ...probeSourcesTask, schedule: '* * * * *', retryLimit: 0 }).handle(async (context, { at_start }) => {
  const limit = createLimiter({ maxRunning: MAX_RUNNING, maxWaiting: MAX_SOURCES, full: queueFull('probes of sources') })
  const real = context.vendors.sources.filter(({ simulated, hasInstallationAccount }) => !simulated && hasInstallationAccount)
  const changes = await Promise.all(real.map((source) => limit(() => probe(context, source, at_start === true))))
  const lost = changes.flatMap((change) => change?.error ?? [])
  const found = changes.flatMap((change) => (change && change.error === null ? [change.hostName] : []))
  if (lost.length > 0) context.operatorLog.warn(`Searches skip sources that do not respond: ${lost.join('; ')}. OFFLINE=1 disables them.`)
  if (found.length > 0) context.operatorLog.info(`Sources that respond again: ${found.join(', ')}`)
})

interface StateChange {
  readonly hostName: string
  /** Null: it responds again. */
  readonly error: string | null
}

/** The change of state; null if there is none, or the host is not due. */
async function probe({ db, clock, vendors, signal }: TaskContext, { hostName }: Source, isStart: boolean): Promise<StateChange | null> {
  const now = clock.now()
  const after = (ms: number) => new Date(now.getTime() + ms)
  const before = await hostStates.claim(db, hostName, {
    now,
    until: after(CLAIM_MS),
    ...(isStart ? { unlessSince: after(-RECENT_MS) } : {}),
  })
  if (!before) return null
  const startedMs = performance.now()
  const error = await vendors
    .catalog(hostName)
    .probe({ signal, deadlineMs: PROBE_DEADLINE_MS })
    .then(() => null, failureOf)
  const responseMs = performance.now() - startedMs
  const [least, most] = error === null ? REACHABLE_MS : UNREACHABLE_MS
  await hostStates.record(db, { hostName, error, responseMs, now, nextProbeAt: after(least + Math.random() * (most - least)) })
  const isChange = error === null ? before.status === 'unreachable' : before.status !== 'unreachable'
  return isChange ? { hostName, error } : null
}

function failureOf(error: unknown): string {
  if (!(error instanceof VendorError)) throw error
  return error.message.slice(0, MAX_ERROR)
}
