import { readWorkers, WorkersError } from '#adapters/workers/registry.ts'
import type { Config } from '#config.ts'
import { ConfigError } from '#core/settings.ts'
import type { Workers } from '#ports/workers.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'

/** The external workers that the file in WORKERS registers. */
export async function readWorkersFile({ workers }: Config): Promise<Workers> {
  const processIds = PROCESSES.map(({ id }) => id)
  return await readWorkers(workers, processIds).catch((error: unknown) => {
    throw error instanceof WorkersError ? new ConfigError(`WORKERS: ${error.message}`) : error
  })
}
