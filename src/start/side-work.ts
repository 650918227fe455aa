/** What takes seconds after the service is ready, and what nobody waits for: the console's files and the demo's scenes. */
import type { Logger } from 'pino'
import type { Config } from '#config.ts'
import { fillDemo, type DemoClient } from '../../sandbox/demo/demo.ts'
import { demoReporter } from '../../sandbox/demo/progress.ts'
import type { Composed } from './compose.ts'
import type { ConsoleBuild } from './console-build.ts'

interface SideWork {
  composed: Composed
  build: ConsoleBuild
  baseUrl: string
  log: Logger
  demoClient: DemoClient
}

export function startSideWork(
  config: Config,
  { composed, build, baseUrl, log, demoClient }: SideWork,
  started: AsyncDisposableStack,
): void {
  if (config.role === 'worker') return
  started.defer(
    inBackground(
      (signal) => build.run(signal),
      (error) => log.warn({ err: error }, 'the console could not be built; /app/ shows why'),
    ),
  )
  const report = demoReporter({ isTerminal: process.stdout.isTTY, write: (text) => process.stdout.write(text), log })
  if (config.demo ?? config.isLocal)
    started.defer(
      inBackground(
        (signal) => fillDemo(composed.platform, composed.auth, { baseUrl, signal, report, client: demoClient }),
        (error) => log.warn({ err: error }, 'the demo is incomplete; the next start continues it'),
      ),
    )
}

/** Starts work beside the service; the returned function aborts it and waits for its end. */
function inBackground(work: (signal: AbortSignal) => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController()
  const done = work(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) onFailure(error)
  })
  return async () => {
    stopping.abort()
    await done
  }
}
