/** Tells before anything is begun, and in one line, that the data folder cannot be used. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { ConfigError, type Config } from '#config.ts'

/** A new cluster takes about half of it; the other half lets the first uploads in. */
const NEW_CLUSTER_BYTES = 128 * 1024 * 1024
/** What a start writes besides. */
const PROBE = Buffer.alloc(1024 * 1024)

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is read-only',
  ENOENT: 'no folder can be created there',
  ENOSPC: 'there is no room left on the disk',
  EDQUOT: "this user's share of the disk is used up",
  ENOTDIR: 'part of it is a file and no folder',
  EEXIST: 'it is a file and no folder',
  ENAMETOOLONG: 'its name is too long',
}

export function requireFolder({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const probe = path.join(dataDir, `.probe-${randomUUID()}`)
  try {
    // Root's is passable: the database runs as another user, and makes sure of the rest itself.
    makeFolder(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700)
    fs.writeFileSync(probe, PROBE, { flush: true, flag: 'wx' })
  } catch (error) {
    throw folderProblem(error, dataDir) ?? error
  } finally {
    removeProbe(probe)
  }
  const isNew = !databaseUrl && !fs.existsSync(path.join(dataDir, 'postgres')) && !fs.existsSync(path.join(dataDir, 'postgres.location'))
  const { bavail, bsize } = fs.statfsSync(dataDir)
  if (isNew && bavail * bsize < NEW_CLUSTER_BYTES)
    throw refusal(dataDir, `a new one needs ${megabytes(NEW_CLUSTER_BYTES)} MB and the disk has ${megabytes(bavail * bsize)} MB left`)
}

/** Step by step: where nothing can be created, as below /proc, Node's own recursion never ends. */
function makeFolder(folder: string, mode: number): void {
  if (fs.existsSync(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeFolder(parent, mode)
  try {
    fs.mkdirSync(folder, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // Another process was faster.
  }
}

/** The line for a failure that comes from the folder, also where a program that we started reports it; else null. */
export function folderProblem(error: unknown, dataDir: string): ConfigError | null {
  const { code, message = '', path: where = '' } = error as NodeJS.ErrnoException
  // A write that fails names no path; what a start writes lies in the folder.
  const isThere = where === '' || where === dataDir || where.startsWith(dataDir + path.sep) || dataDir.startsWith(where + path.sep)
  if (code && isThere && Object.hasOwn(REASONS, code)) return refusal(dataDir, REASONS[code]!)
  if (/No space left on device/.test(message)) return refusal(dataDir, REASONS['ENOSPC']!)
  return null
}

const refusal = (dataDir: string, reason: string): ConfigError =>
  new ConfigError(`DATA_DIR ${dataDir} cannot be used: ${reason}. Set DATA_DIR to another folder, or fix its permissions.`)

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024)

/** Where it could not be made there is nothing to remove. */
function removeProbe(probe: string): void {
  try {
    fs.rmSync(probe, { force: true })
  } catch {
    // The folder's own problem is told already.
  }
}
