/**
 * Files in folders that another user can write. Root acts on what it has opened and checked, never on a name that may have become a link
 * since: a planted link would lead it to any file on the machine.
 */
import fs from 'node:fs'
import path from 'node:path'

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants
/** Files read this way have a few lines. */
const MAX_READ_BYTES = 64 * 1024

/** Reads a small text file. A link, pipe or device in its place is an error. */
export function readText(file: string): string {
  const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const { size } = requirePlain(descriptor, file)
    if (size > MAX_READ_BYTES) throw new Error(`${file} is unexpectedly large`)
    return fs.readFileSync(descriptor, 'utf8')
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Writes a new file: whatever has its name is removed, not followed. */
export function writeText(file: string, text: string): void {
  fs.rmSync(file, { force: true })
  const descriptor = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    fs.writeFileSync(descriptor, text)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** A descriptor for appending to a file, which must be a regular file with one name. */
export function openForAppending(file: string): number {
  const descriptor = fs.openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    requirePlain(descriptor, file)
    return descriptor
  } catch (error) {
    fs.closeSync(descriptor)
    throw error
  }
}

function requirePlain(descriptor: number, file: string): fs.Stats {
  const stats = fs.fstatSync(descriptor)
  if (!stats.isFile() || stats.nlink !== 1) throw new Error(`${file} is not a regular file; it was replaced`)
  return stats
}

/** Works on a folder through its descriptor, not its name; on Linux, names inside are resolved from there too. */
export function inFolder<T>(folder: string, work: (opened: { descriptor: number; at: (name: string) => string }) => T): T {
  const descriptor = fs.openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    const base = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : folder
    return work({ descriptor, at: (name) => path.join(base, name) })
  } finally {
    fs.closeSync(descriptor)
  }
}
