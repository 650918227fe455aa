/** A background loop: runs steps while there is work, then waits for a wake-up or a timeout. */
export interface Loop {
  /** There may be work. */
  wake(): void
  close(): Promise<void>
}

interface LoopOptions {
  /** Does the work at hand; returns whether to run again immediately. */
  step: () => Promise<boolean>
  /** How long to wait without a wake-up. */
  restMs: number
  /** Minimum time between steps, however often the loop is woken. */
  gapMs: number
  onError: (error: unknown) => void
}

export function startLoop({ step, restMs, gapMs, onError }: LoopOptions): Loop {
  let isStopping = false
  let wasWoken = false
  let resting: { end: () => void; untilWoken: boolean } | null = null
  const rest = async (ms: number, untilWoken: boolean): Promise<void> => {
    if (isStopping || (untilWoken && wasWoken)) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      resting = { end, untilWoken }
    })
    resting = null
  }
  const run = async (): Promise<void> => {
    while (!isStopping) {
      wasWoken = false
      const isMore = await step().catch((error: unknown) => {
        if (!isStopping) onError(error)
        return false
      })
      if (!isMore) await rest(restMs, true)
      await rest(gapMs, false)
    }
  }
  const running = run()
  return {
    wake() {
      wasWoken = true
      if (resting?.untilWoken) resting.end()
    },
    async close() {
      isStopping = true
      resting?.end()
      await running
    },
  }
}
