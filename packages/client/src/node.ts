/** What only Node has: files. */
import { openAsBlob } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Download } from './download.ts'
import { MissingFileError } from './problem.ts'
import type { FileToUpload } from './upload.ts'

/** A file of this machine for `upload`, read piece by piece and never held whole. */
export async function openFile(file: string, type = 'image/tiff'): Promise<FileToUpload> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ENOTDIR' ? new MissingFileError(file, error) : error
  })
  if (!found.isFile()) throw new MissingFileError(file)
  return { name: path.basename(file), data: await openAsBlob(file, { type }), type }
}

/** Writes a download to a file, which appears under its name when it is whole. */
export async function saveTo(file: string, download: Download): Promise<void> {
  const part = `${file}.part`
  const handle = await open(part, 'w')
  try {
    for await (const bytes of download) await handle.write(bytes)
    await handle.close()
    await rename(part, file)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}
