/**
 * Runs and supervises the PostgreSQL that npm installs: no install script, no port, no configuration. It listens on a Unix socket in a
 * folder that only its user can enter, which replaces a password.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  giveTo,
  initialise,
  isAlive,
  isOurFolder,
  locate,
  makeSocketDir,
  placeBinaries,
  socketDirName,
  SUPERUSER,
  type Cluster,
} from './embedded-files.ts'
import { inFolder, openForAppending, readText, writeText } from './no-follow.ts'

export { SUPERUSER }

export interface EmbeddedPostgres {
  /** The cluster's folder: in DATA_DIR, unless its user cannot reach it there. */
  dir: string
  /** Folder of the Unix socket; node-postgres takes it as `host`. */
  socketDir: string
  /** Changes when the server crashed and was restarted. */
  readonly pid: number
  /** True if a server left running by a killed process was found and reused. */
  attached: boolean
  /** Stops the server, unless another process on the same DATA_DIR uses it. */
  leave(): Promise<void>
}

interface EmbeddedOptions {
  /** Server settings, as `name=value`. */
  settings?: readonly string[]
  /** Called when the server crashed and was restarted, or could not be restarted. */
  onRestart?: (error: Error | null) => void
}

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000
const POLL_MS = 10
/** How long to retry a server that exits at once: another process was faster, or a dead server's children are still exiting. */
const RETRY_MS = 10_000
const RETRY_AFTER_MS = 100
const WATCH_MS = 1_000

const SETTINGS = [
  'listen_addresses=',
  'shared_buffers=64MB',
  'jit=off',
  // No helper processes, which a small server does not need.
  'io_method=sync',
  'max_logical_replication_workers=0',
  'log_min_messages=warning',
  'log_statement=none',
  // Values of a failing statement can be secrets: the log contains the statement, never its parameters.
  'log_parameter_max_length_on_error=0',
  'timezone=UTC',
]

/** The properties of a cluster that do not change while it is used. */
interface Place extends Cluster {
  socketDir: string
  /** One file per process that uses the server, named by its PID. */
  usersDir: string
  settings: readonly string[]
}

interface Running {
  pid: number
  attached: boolean
}

export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const cluster = locate(dataDir)
  const place: Place = {
    ...cluster,
    usersDir: `${cluster.clusterDir}.users`,
    socketDir: socketDirOf(cluster),
    settings: [...SETTINGS, ...(options.settings ?? [])],
  }
  enter(place) // Before looking for a server, so that a process about to stop it sees that it is in use.
  try {
    return supervised(place, await attachOrStart(place), options.onRestart ?? (() => {}))
  } catch (error) {
    withdraw(place)
    throw error
  }
}

/** Uses a server that is already running, or starts one. Any number of processes can do this concurrently; one server wins. */
async function attachOrStart(place: Place): Promise<Running> {
  const retryUntil = Date.now() + RETRY_MS
  for (;;) {
    const isRunning = livePid(place) !== null
    const failure = isRunning ? () => (livePid(place) ? null : 'it was stopped meanwhile') : await spawnServer(place)
    const { pid, reason } = await waitUntilReady(place, failure)
    if (pid) return { pid, attached: isRunning }
    if (Date.now() > retryUntil) throw new Error(`PostgreSQL did not start: ${reason}`)
    await sleep(RETRY_AFTER_MS)
  }
}

/** Returns a function that gives the reason once the server has exited. */
async function spawnServer(place: Place): Promise<() => string | null> {
  const { identity, clusterDir, socketDir, settings } = place
  const native = placeBinaries(identity)
  if (!fs.existsSync(path.join(clusterDir, 'PG_VERSION'))) await initialise(native, place)
  const log = openForAppending(path.join(clusterDir, 'server.log'))
  if (identity.uid !== undefined) fs.fchownSync(log, identity.uid, identity.gid!)
  const server = spawn(
    path.join(native, 'bin/postgres'),
    ['-D', clusterDir, '-k', socketDir, ...settings.flatMap((setting) => ['-c', setting])],
    {
      ...identity,
      cwd: clusterDir,
      detached: true, // Ctrl-C in a terminal reaches the whole group; the database must outlive our last transaction.
      stdio: ['ignore', log, log],
    },
  )
  fs.closeSync(log)
  let failure: string | null = null
  server.on('error', (error) => {
    failure = error.message
  })
  server.on('exit', (code, signal) => {
    failure = `exited with ${code ?? signal}; see ${path.join(clusterDir, 'server.log')}`
  })
  server.unref()
  return () => failure
}

/** Restarts the server if it crashes; the connection pool finds it at the same socket. */
function supervised(place: Place, first: Running, onRestart: (error: Error | null) => void): EmbeddedPostgres {
  let { pid } = first
  let restarting: Promise<void> | null = null
  const restart = async (): Promise<void> => {
    try {
      pid = (await attachOrStart(place)).pid
      onRestart(null)
    } catch (error) {
      onRestart(error as Error)
    } finally {
      restarting = null
    }
  }
  const watch = setInterval(() => {
    if (!restarting && livePid(place) !== pid) restarting = restart()
  }, WATCH_MS)
  watch.unref()
  return {
    dir: place.clusterDir,
    get pid() {
      return pid
    },
    attached: first.attached,
    socketDir: place.socketDir,
    async leave() {
      clearInterval(watch)
      await restarting
      withdraw(place)
      if (!isInUse(place)) await stopServer(place)
    },
  }
}

async function stopServer(place: Place): Promise<void> {
  const pid = livePid(place)
  if (!pid) return
  process.kill(pid, 'SIGINT') // Fast shutdown: clients are disconnected, a checkpoint is written.
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (livePid(place) === pid) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} s`)
    await sleep(POLL_MS)
  }
  if (!isInUse(place)) removeEmpty(place.socketDir)
}

/** The server has removed its socket. Other files stay: root must not delete by a name that another user chose. */
function removeEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch {
    // Not empty, or gone.
  }
}

function enter({ usersDir, identity }: Place): void {
  if (!fs.existsSync(usersDir)) fs.mkdirSync(usersDir, { recursive: true })
  giveTo(identity, usersDir) // Root may be running it temporarily; the owner must still have access.
  inFolder(usersDir, ({ at }) => writeText(at(String(process.pid)), birthOf(process.pid)))
}

function withdraw({ usersDir }: Place): void {
  inFolder(usersDir, ({ at }) => fs.rmSync(at(String(process.pid)), { force: true }))
}

/** Of several processes that leave at once, the last finds nobody; killed processes do not count. */
function isInUse({ usersDir }: Place): boolean {
  return inFolder(usersDir, ({ at }) =>
    fs.readdirSync(at('.')).some((name) => {
      try {
        return isAlive(Number(name)) && readText(at(name)) === birthOf(Number(name))
      } catch {
        return false // It has just exited.
      }
    }),
  )
}

/** The start time of a process, if available: distinguishes it from a later one with the same PID. */
function birthOf(pid: number): string {
  if (!fs.existsSync('/proc/self/stat')) return ''
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/**
 * The server of this cluster, if it is running. After a crash, the PID in the file can belong to another process, and its user can write
 * any number there: we only signal a process of that user that serves this cluster.
 */
function livePid({ clusterDir, identity }: Cluster): number | null {
  try {
    const pid = Number(readText(path.join(clusterDir, 'postmaster.pid')).split('\n')[0])
    if (!Number.isInteger(pid) || pid < 2 || !isAlive(pid)) return null
    if (!fs.existsSync('/proc/self')) return pid
    const isTheirs = fs.statSync(`/proc/${pid}`).uid === (identity.uid ?? process.getuid!())
    return isTheirs && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${clusterDir}\0`) ? pid : null
  } catch {
    return null
  }
}

async function waitUntilReady(place: Place, failure: () => string | null): Promise<{ pid: number | null; reason: string }> {
  const pidFile = path.join(place.clusterDir, 'postmaster.pid')
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const lines = fs.existsSync(pidFile) ? readText(pidFile).split('\n') : []
    if (lines[7]?.startsWith('ready') && livePid(place)) return { pid: Number(lines[0]), reason: '' }
    const reason = failure()
    if (reason) return { pid: null, reason }
    if (Date.now() > deadline) throw new Error(`PostgreSQL was not ready within ${START_TIMEOUT_MS / 1000} s`)
    await sleep(POLL_MS)
  }
}

/**
 * A running server states its own socket folder, so a different TMPDIR does not matter. It is trusted only if we would have created it: by
 * its name, as a real folder, owned by the database's user.
 */
function socketDirOf(cluster: Cluster): string {
  const stated = livePid(cluster) ? readText(path.join(cluster.clusterDir, 'postmaster.pid')).split('\n')[4] : undefined
  const isOurs = stated && path.basename(stated) === socketDirName(cluster.clusterDir) && isOurFolder(stated, cluster.identity)
  return isOurs ? stated : makeSocketDir(cluster)
}
