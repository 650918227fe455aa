/** Circuit breaker: an endpoint that keeps failing is paused, then probed with a few deliveries until one succeeds. */
import { LRUCache } from 'lru-cache'

/** Consecutive failures that open the circuit. */
const FAILURES_TO_OPEN = 10
/** Concurrent deliveries while it is unknown whether the endpoint has recovered. */
const PROBES = 4
/** Circuits kept in memory; beyond this, the ones used least recently are dropped. */
const MAX_CIRCUITS = 10_000

interface Circuit {
  failures: number
  openUntilMs: number
}

export function createCircuits({ pauseMs, perEndpoint }: { pauseMs: number; perEndpoint: number }) {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_CIRCUITS })
  return {
    observe(endpoint: string, succeeded: boolean, nowMs: number): void {
      if (succeeded) return void circuits.delete(endpoint)
      const circuit = circuits.get(endpoint) ?? { failures: 0, openUntilMs: 0 }
      circuit.failures++
      if (circuit.failures >= FAILURES_TO_OPEN) circuit.openUntilMs = nowMs + pauseMs
      circuits.set(endpoint, circuit)
    },
    /** How many more deliveries an endpoint can take; endpoints that are idle and healthy are not listed. */
    free(inFlight: ReadonlyMap<string, number>, nowMs: number): Map<string, number> {
      const free = new Map<string, number>()
      for (const [endpoint, count] of inFlight) free.set(endpoint, Math.max(0, perEndpoint - count))
      for (const [endpoint, { failures, openUntilMs }] of circuits) {
        if (failures < FAILURES_TO_OPEN) continue
        const allowed = nowMs < openUntilMs ? 0 : PROBES
        free.set(endpoint, Math.max(0, allowed - (inFlight.get(endpoint) ?? 0)))
      }
      return free
    },
  }
}
