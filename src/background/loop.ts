/** Work that goes on by itself: step by step while there is something to do, then at the next ring or after a while. */
export interface Loop {
  /** There may be something to do. */
  wake(): void
  close(): Promise<void>
}

interface LoopOptions {
  /** Does what there is to do; says whether to ask again at once. */
  step: () => Promise<boolean>
  /** How long it rests when nobody rings. */
  restMs: number
  /** However often it rings, steps begin no closer to each other than this. */
  gapMs: number
  onError: (error: unknown) => void
}

export function startLoop({ step, restMs, gapMs, onError }: LoopOptions): Loop {
  let isStopping = false
  let wasRung = false
  let resting: { end: () => void; untilRung: boolean } | null = null
  const rest = async (ms: number, untilRung: boolean): Promise<void> => {
    if (isStopping || (untilRung && wasRung)) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      resting = { end, untilRung }
    })
    resting = null
  }
  const run = async (): Promise<void> => {
    while (!isStopping) {
      wasRung = false
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
      wasRung = true
      if (resting?.untilRung) resting.end()
    },
    async close() {
      isStopping = true
      resting?.end()
      await running
    },
  }
}
