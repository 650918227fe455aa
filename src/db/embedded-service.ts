/**
 * The embedded PostgreSQL of the service. It can be started before the service has loaded: a new cluster takes about as long as loading,
 * and on another core.
 */
import { connectionsOf } from '#core/database-pool.ts'
import { startEmbedded, type EmbeddedPostgres } from './embedded.ts'

interface EmbeddedSettings {
  dataDir: string
  databasePool: number
  databaseSearchPool: number
}

type OnRestart = (error: Error | null) => void

/** Processes that can share the embedded server, with all their connections in use. */
const PROCESSES_OF_EMBEDDED = 2
/** For the server's superusers and for an operator's own tools. */
const RESERVED_CONNECTIONS = 8

interface Begun {
  dataDir: string
  starting: Promise<EmbeddedPostgres>
  onRestart: OnRestart
  /** It no longer stops by itself on a signal. */
  handOver(): void
}

let begun: Begun | null = null

function start(settings: EmbeddedSettings, onRestart: OnRestart): Promise<EmbeddedPostgres> {
  const maxConnections = PROCESSES_OF_EMBEDDED * connectionsOf(settings, false) + RESERVED_CONNECTIONS
  return startEmbedded(settings.dataDir, { settings: [`max_connections=${maxConnections}`], onRestart })
}

/** Starts the server; whoever takes it learns whether that failed. Until then, a signal stops it and ends the process. */
export function beginEmbedded(settings: EmbeddedSettings): void {
  const starting = start(settings, (error) => begun?.onRestart(error))
  const stop = () => {
    void starting
      .then((embedded) => embedded.leave())
      .catch(() => {})
      .finally(() => process.exit(0))
  }
  starting.catch(() => {}) // Reported where it is taken.
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const handOver = () => void process.off('SIGINT', stop).off('SIGTERM', stop)
  begun = { dataDir: settings.dataDir, starting, onRestart: () => {}, handOver }
}

/** The server that was begun for this folder, or a new one. */
export async function takeEmbedded(settings: EmbeddedSettings, onRestart: OnRestart): Promise<EmbeddedPostgres> {
  if (begun?.dataDir !== settings.dataDir) return await start(settings, onRestart)
  const { starting, handOver } = begun
  begun.onRestart = onRestart
  handOver()
  begun.dataDir = '' // Once.
  return await starting
}
