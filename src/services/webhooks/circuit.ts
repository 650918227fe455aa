/** Endpoints that fail and fail are let alone for a while, then tried with little, until one delivery succeeds. */
import { LRUCache } from 'lru-cache'

/** Failures in a row that open the circuit. */
const FAILURES_TO_OPEN = 10
/** At once, while it is not known whether the endpoint is back. */
const PROBES = 4
/** Endpoints that are remembered; of more than that, those that failed last. */
const MAX_REMEMBERED = 10_000

interface Circuit {
  failures: number
  openUntilMs: number
}

export function createCircuits({ pauseMs, perEndpoint }: { pauseMs: number; perEndpoint: number }) {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_REMEMBERED })
  return {
    observe(endpoint: string, succeeded: boolean, nowMs: number): void {
      if (succeeded) return void circuits.delete(endpoint)
      const circuit = circuits.get(endpoint) ?? { failures: 0, openUntilMs: 0 }
      circuit.failures++
      if (circuit.failures >= FAILURES_TO_OPEN) circuit.openUntilMs = nowMs + pauseMs
      circuits.set(endpoint, circuit)
    },
    /** How many more deliveries an endpoint may be given, for each that is not like the others. */
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
