/**
 * How a host responded to this process lately, so that calls that cannot wait skip a host that does not. The probes of
 * `catalog.probe_sources` find out the same for all processes, but only every few minutes.
 */
export interface Health {
  succeeded(): void
  failed(reason: string): void
  /** The host asked for a pause. */
  limited(pauseMs: number): void
  /** Why calls that cannot wait should skip the host; null if they should not. */
  problem(): string | null
  /** How long the host wants no requests. */
  waitMs(): number
}

/** So many failures without a success in between. */
const MAX_FAILURES = 2
/** After this time, one call tries again. */
const SKIP_MS = 60_000
/** A host that asks for a longer pause is tried again after this time. */
const MAX_PAUSE_MS = 15 * 60_000

export function createHealth(nowMs: () => number = () => performance.now()): Health {
  let failures = 0
  let reason = ''
  let skipUntilMs = 0
  let pauseUntilMs = 0
  return {
    succeeded() {
      failures = 0
      pauseUntilMs = 0
    },
    failed(why) {
      failures++
      reason = why
      skipUntilMs = nowMs() + SKIP_MS
    },
    limited(pauseMs) {
      pauseUntilMs = nowMs() + Math.min(pauseMs, MAX_PAUSE_MS)
    },
    problem() {
      if (failures < MAX_FAILURES || nowMs() >= skipUntilMs) return null
      return `${reason}; it is not asked again for ${Math.ceil((skipUntilMs - nowMs()) / 1000)} s`
    },
    waitMs: () => Math.max(0, pauseUntilMs - nowMs()),
  }
}

/** Simulated hosts fail on purpose, for single requests. */
export const ALWAYS_HEALTHY: Health = { succeeded() {}, failed() {}, limited() {}, problem: () => null, waitMs: () => 0 }
