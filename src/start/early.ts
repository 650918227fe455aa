/** What can begin before the service has loaded. */
import { loadConfig } from '#config.ts'
import { beginEmbedded } from '#db/embedded-service.ts'
import { requireFolder } from './data-folder.ts'

/** Starts the embedded database. Settings and folders that cannot be used are reported by the start itself, which checks them again. */
export function begin(environment: NodeJS.ProcessEnv): void {
  try {
    const config = loadConfig(environment)
    requireFolder(config)
    if (!config.databaseUrl) beginEmbedded(config)
  } catch {
    // Reported soon.
  }
}
