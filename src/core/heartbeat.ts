/** Reports at intervals that a run is alive, with its progress; a run that another one has replaced is aborted. */
const EVERY_MS = 2_000

interface HeartbeatOptions {
  readonly signal: AbortSignal
  readonly firstStep: string
  /** The run is aborted if no report arrives for this long, before others consider it dead; never, by default. */
  readonly aloneAfterMs?: number
  /** Returns false if the work no longer belongs to this run: it was cancelled, or another run has taken over. */
  beat(progress: Progress): Promise<boolean>
}

interface Progress {
  readonly step: string
  /** From 0 to 1. */
  readonly fraction: number
}

export interface Heartbeat {
  /** Aborted with the caller's signal, or when the run was replaced or could be. */
  readonly signal: AbortSignal
  at(step: string, fraction: number): void
  step(): string
  isReplaced(): boolean
  /** Ends once the last report has arrived: a later one would claim work again that the run has released. */
  stop(): Promise<void>
}

export function startHeartbeat({ signal, firstStep, beat, aloneAfterMs = Infinity }: HeartbeatOptions): Heartbeat {
  const replaced = new AbortController()
  const alone = new AbortController()
  let heardMs = performance.now()
  let progress: Progress = { step: firstStep, fraction: 0 }
  const sending = new Set<Promise<void>>()
  const send = (): void => {
    const sentMs = performance.now()
    if (sentMs - heardMs > aloneAfterMs) alone.abort(new Error('the database has not heard of this run for too long'))
    const sent = beat(progress)
      .then(
        (isOurs) => {
          if (isOurs) heardMs = Math.max(heardMs, sentMs)
          else replaced.abort(new Error('another run has taken over'))
        },
        () => {}, // The run's next query reports a database that is away.
      )
      .finally(() => sending.delete(sent))
    sending.add(sent)
  }
  const timer = setInterval(send, EVERY_MS)
  return {
    signal: AbortSignal.any([signal, replaced.signal, alone.signal]),
    at(step, fraction) {
      const isNewStep = step !== progress.step
      progress = { step, fraction }
      if (isNewStep) send()
    },
    step: () => progress.step,
    isReplaced: () => replaced.signal.aborted,
    async stop() {
      clearInterval(timer)
      await Promise.all(sending)
    },
  }
}
