/** Progress of loading the demo: a readable line on a terminal, a log entry otherwise. */
import type { Logger } from 'pino'

interface DemoStep {
  readonly scene: number
  readonly scenes: number
  readonly name: string
}

/** Sent by the process that loads the demo to the service. */
export type DemoMessage = { step: DemoStep } | { shareToken: string }

interface Outputs {
  readonly isTerminal: boolean
  readonly write: (text: string) => void
  readonly log: Logger
}

export const demoReporter =
  ({ isTerminal, write, log }: Outputs) =>
  (step: DemoStep): void => {
    const text = `demo: scene ${step.scene} of ${step.scenes}, ${step.name}`
    if (isTerminal) write(`${text}\n`)
    else log.info(step, text)
  }
