/** Checks the data folder before anything starts, and reports in one line if it cannot be used. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Config } from '#config.ts'
import { ConfigError } from '#core/settings.ts'

/** A new database cluster takes about half of it; the other half is for the first uploads. */
const NEW_CLUSTER_BYTES = 128 * 1024 * 1024
/** About as much as a start writes in addition. */
const PROBE = Buffer.alloc(1024 * 1024)

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission to write there',
  EPERM: 'this user has no permission to write there',
  EROFS: 'it is read-only',
  ENOENT: 'no folder can be created there',
  ENOSPC: 'there is no space left on the disk',
  EDQUOT: "this user's disk quota is exceeded",
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'it is a file, not a folder',
  ENAMETOOLONG: 'its name is too long',
}

export function requireFolder({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const probe = path.join(dataDir, `.probe-${randomUUID()}`)
  try {
    // Root's folder can be traversed, because the database runs as another user; it secures its own files.
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
    throw refusal(dataDir, `a new database needs ${megabytes(NEW_CLUSTER_BYTES)} MB and the disk has ${megabytes(bavail * bsize)} MB left`)
}

/** Creates the folders one by one: if none can be created, as below /proc, Node's own recursion never ends. */
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

/** The error message if a failure is caused by the data folder, including failures of child processes; otherwise null. */
export function folderProblem(error: unknown, dataDir: string): ConfigError | null {
  const { code, message = '', path: where = '' } = error as NodeJS.ErrnoException
  // A failed write has no path; everything that a start writes is in the folder.
  const isInFolder = where === '' || where === dataDir || where.startsWith(dataDir + path.sep) || dataDir.startsWith(where + path.sep)
  if (code && isInFolder && Object.hasOwn(REASONS, code)) return refusal(dataDir, REASONS[code]!)
  if (/No space left on device/.test(message)) return refusal(dataDir, REASONS['ENOSPC']!)
  return null
}

const refusal = (dataDir: string, reason: string): ConfigError =>
  new ConfigError(`DATA_DIR ${dataDir} cannot be used: ${reason}. Set DATA_DIR to another folder, or fix its permissions.`)

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024)

/** Does nothing if the probe could not be created. */
function removeProbe(probe: string): void {
  try {
    fs.rmSync(probe, { force: true })
  } catch {
    // The problem of the folder is reported already.
  }
}
