/** Runs the service as a process: reads the settings, starts, stops on a signal and reports why a start failed. */
import { loadConfig, type Config } from '#config.ts'
import { ConfigError } from '#core/settings.ts'
import { SchemaTooNew } from '#db/migration-runner.ts'
import { RestoreUnfinished } from '#db/restore-mark.ts'
import { DatabaseUnreachable } from '#db/service-database.ts'
import { folderProblem, requireFolder } from './data-folder.ts'
import { startService, type Catalogue, type Service } from './service.ts'

/** After draining. */
const STOP_TIMEOUT_MS = 25_000
/** Under npm, Ctrl-C arrives twice, from the terminal and from npm; a second Ctrl-C by a person comes later than this. */
const SAME_SIGNAL_MS = 1_000

export async function run(catalogue: Catalogue): Promise<void> {
  try {
    let drainMs = 0
    const starting = Promise.resolve().then(() => {
      const config = loadConfig(process.env)
      drainMs = config.drainSeconds * 1_000
      return start(config, catalogue)
    }) // Signals are handled from the first step on.
    stopOnSignal(starting, () => drainMs)
    await starting
  } catch (error) {
    if (
      error instanceof ConfigError ||
      error instanceof DatabaseUnreachable ||
      error instanceof SchemaTooNew ||
      error instanceof RestoreUnfinished
    )
      console.error(error.message)
    else console.error('Groundtrack could not start:', (error as Error).message, '\n', (error as Error).stack)
    process.exit(1)
  }
}

async function start(config: Config, catalogue: Catalogue): Promise<Service> {
  requireFolder(config)
  return await startService(config, catalogue).catch((error: unknown) => {
    throw folderProblem(error, config.dataDir) ?? error
  })
}

/** The first signal stops the service gracefully, also while it starts; a second one, or a stop that hangs, ends the process at once. */
function stopOnSignal(starting: Promise<Service>, drainMs: () => number): void {
  let stoppingSinceMs: number | null = null
  const onSignal = () => {
    if (stoppingSinceMs !== null && performance.now() - stoppingSinceMs < SAME_SIGNAL_MS) return
    if (stoppingSinceMs !== null) process.exit(1)
    stoppingSinceMs = performance.now()
    setTimeout(() => process.exit(1), drainMs() + STOP_TIMEOUT_MS).unref()
    starting
      .then((service) => service.stop())
      .then(
        () => {
          if (process.stderr.isTTY) process.stderr.write('\nGroundtrack has stopped.\n')
          process.exit(0)
        },
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}
