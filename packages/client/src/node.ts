/** Files, for Node only. */
import { openAsBlob } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Download } from './download.ts'
import { MissingFileError } from './problem.ts'
import type { FileToUpload } from './upload.ts'

/** A local file for `upload`, read in chunks and never loaded whole. */
export async function openFile(file: string, type = 'image/tiff'): Promise<FileToUpload> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ENOTDIR' ? new MissingFileError(file, error) : error
  })
  if (!stats.isFile()) throw new MissingFileError(file)
  return { name: path.basename(file), data: await openAsBlob(file, { type }), type }
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
