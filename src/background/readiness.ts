/** Whether a process should receive traffic: it probes what every call depends on, and tolerates a single failure. */
import { startLoop } from './loop.ts'

export interface Probe {
  /** Completes “… does not respond”. */
  readonly name: string
  /** In metrics. */
  readonly label: string
  readonly timeoutMs: number
  /** One probe in so many rounds. */
  readonly everyRounds: number
  /** Rejects if it fails; must end when the signal is aborted. */
  run(signal: AbortSignal): Promise<unknown>
}

export interface Readiness {
  /** Why the process is not ready; null if it is. */
  reason(): string | null
  /** What the process depends on, and whether it responds. */
  dependencies(): { readonly name: string; readonly isUp: boolean }[]
  /** Runs the probes that are due. */
  round(): Promise<void>
}

/** As many failures in a row make the process unready, and as many successes ready again: one lost packet must not move all traffic. */
const ROUNDS_IN_A_ROW = 2
const ROUND_MS = 1_000

interface Health {
  isFailing: boolean
  /** Results in a row that contradict `isFailing`. */
  contrary: number
}

export function createReadiness(probes: readonly Probe[], onChange: (line: string) => void): Readiness {
  const states = new Map<Probe, Health>(probes.map((probe) => [probe, { isFailing: false, contrary: 0 }]))
  let rounds = 0
  const note = (probe: Probe, hasFailed: boolean, reason: string): void => {
    const state = states.get(probe)!
    state.contrary = hasFailed === state.isFailing ? 0 : state.contrary + 1
    if (state.contrary < ROUNDS_IN_A_ROW) return
    states.set(probe, { isFailing: hasFailed, contrary: 0 })
    onChange(hasFailed ? `Not ready: ${probe.name} does not respond (${reason})` : `Ready again: ${probe.name} responds`)
  }
  return {
    reason() {
      for (const [{ name }, { isFailing }] of states) if (isFailing) return `${name} does not respond`
      return null
    },
    dependencies: () => [...states].map(([{ label }, { isFailing }]) => ({ name: label, isUp: !isFailing })),
    async round() {
      const due = probes.filter(
        (probe) => rounds % probe.everyRounds === 0 || states.get(probe)!.contrary > 0 || states.get(probe)!.isFailing,
      )
      rounds++
      await Promise.all(
        due.map(async (probe) => {
          const failure = await failureOf(probe)
          note(probe, failure !== null, failure ?? '')
        }),
      )
    },
  }
}

async function failureOf({ run, timeoutMs }: Probe): Promise<string | null> {
  const late = AbortSignal.timeout(timeoutMs)
  const aborted = new Promise<never>((_resolve, reject) => late.addEventListener('abort', () => reject(new Error(`${timeoutMs} ms`))))
  try {
    await Promise.race([run(late), aborted])
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Runs a round every second until the returned function is called. */
export function watchReadiness(readiness: Readiness): () => Promise<void> {
  const loop = startLoop({
    step: async () => {
      await readiness.round()
      return false
    },
    restMs: ROUND_MS,
    gapMs: 0,
    onError: () => {}, // A failed probe is a result, not an error.
  })
  return () => loop.close()
}
