import { destination, type DestinationStream, type Logger } from 'pino'
import type { Config } from '#config.ts'
import { createLog } from '#http/log.ts'
import { terminalLog } from '#http/terminal.ts'

/** Log lines are written in batches, at the latest after this time. */
const FLUSH_MS = 200
const BUFFER_BYTES = 8_192

export function openLog(config: Config, started: AsyncDisposableStack): Logger {
  const log = createLog(config.logLevel, logDestination(config))
  started.defer(() => log.flush())
  return log
}

/** Short lines for people on a terminal; otherwise JSON for tools, in batches. */
function logDestination({ hasColours }: Config): DestinationStream {
  if (process.stderr.isTTY) return terminalLog((text) => process.stderr.write(text), hasColours)
  return destination({ dest: 2, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS })
}
