/** Files, for Node only. */
import { open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Download } from './download.ts'
import { MissingFileError } from './problem.ts'
import type { FileToUpload } from './upload.ts'

/** A local file for `upload`, read in chunks and never loaded whole. Not a Blob: Node's have at most 4 GiB, and say nothing of the rest. */
export async function openFile(file: string, type = 'image/tiff'): Promise<FileToUpload> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ENOTDIR' ? new MissingFileError(file, error) : error
  })
  if (!stats.isFile()) throw new MissingFileError(file)
  return { name: path.basename(file), data: { size: stats.size, read: (from, to) => readRange(file, from, to) }, type }
}

async function readRange(file: string, from: number, to: number): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const bytes = new Uint8Array(to - from)
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at)
      if (bytesRead === 0) throw new Error(`The file became shorter while it was being uploaded: it ends after ${from + at} bytes`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}

/** Writes a download to a file, which gets its name only when it is complete. */
export async function saveTo(file: string, download: Download): Promise<void> {
  const temporary = `${file}.part`
  const handle = await open(temporary, 'w')
  try {
    for await (const bytes of download) await handle.write(bytes)
    await handle.close()
    await rename(temporary, file)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}
